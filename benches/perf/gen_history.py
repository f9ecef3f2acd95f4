#!/usr/bin/env python3
"""Makes up a history of Claude Code for the import bench.

    gen_history.py OUT_DIR MEGABYTES [--seed N] [--names FILE]

OUT_DIR gets  projects/-srv-app-N/<session>.jsonl  and, for some sessions,
<session>/subagents/agent-<id>.jsonl  with its .meta.json.  The same arguments
give the same bytes.  One line in about 60 calls a skill: skill-0000 to
skill-0099, or the skills of FILE (a name and its folder a line, with a tab
between), and now and then one that does not exist.  All text is put together
from the word lists below.

Prints what is in it as JSON: `uses` is what an import has to find, `failed`
how many of these failed; lines that a resumed session copied count once.
"""
import argparse, json, os, random, sys, time

WORDS = """account adapter alert archive batch branch buffer build cache call change channel check client column commit
config copy cursor default delta device draft edge entry error event export field file filter flag folder frame group
handler header index input item job key label layer limit line link list loader lock loop map mark match member merge
message mode module name node note number offset option order owner page parser part patch path pattern place plan
point pool port process prompt query queue range reader record region report request result retry return root route
row rule sample scan schema scope section segment server session set shape shift signal size slot source span stack
stage state step store stream string switch table tag target task test text thread time token total trace tree trigger
type unit update user value version view walk weight window word worker writer zone""".split()
VERBS = """add bind build check clear close collect compare copy count drop fetch fill find fold get join keep load mark
merge move open parse pick push read route save scan send set sort split store sync take trim update use walk
write""".split()
TOOLS = ["Read"] * 8 + ["Bash"] * 8 + ["Edit"] * 4 + ["Grep"] * 4 + ["TodoWrite"]
PLUGINS = ["pack:lint-all", "pack:release", "desk:minutes"]
START = 1_767_225_600
HEX = "%08x-%04x-4%03x-9%03x-%012x"


def quoted(text):
    """The inside of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


class Text:
    """Pieces of text, escaped for JSON once; what is written is joined from them."""

    def __init__(self, rng):
        self.rng = rng
        self.prose = [quoted(self.paragraph()) for _ in range(1500)]
        self.code = [quoted(self.listing()) for _ in range(1500)]
        self.output = [quoted(self.log()) for _ in range(1000)]
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        self.signatures = ["".join(rng.choices(alphabet, k=rng.randint(200, 900))) for _ in range(200)]

    def words(self, low, high):
        return " ".join(self.rng.choices(WORDS, k=self.rng.randint(low, high)))

    def paragraph(self):
        r, out = self.rng, []
        for _ in range(r.randint(2, 6)):
            s = "%s the %s" % (r.choice(VERBS).capitalize(), self.words(6, 18))
            kind = r.random()
            if kind < .2:
                s += ": `%s_%s(\"%s\")`" % (r.choice(VERBS), r.choice(WORDS), r.choice(WORDS))
            elif kind < .25:
                s += " – ✅ %s → “%s”" % (r.choice(WORDS), r.choice(WORDS))
            out.append(s + ".")
        return (" " if r.random() < .5 else "\n- ").join(out) + "\n\n"

    def listing(self):
        r, out = self.rng, []
        for n in range(r.randint(8, 30)):
            indent = "    " * r.randint(0, 4)
            a, b, c = r.choices(WORDS, k=3)
            out.append("%6d\t%s%s\n" % (r.randint(1, 2000), indent, r.choice([
                "let %s = self.%s.%s(&%s)?;" % (a, b, r.choice(VERBS), c),
                "if %s[\"%s\"] != '%s' {" % (a, b, c),
                "// %s" % self.words(4, 12),
                "return {\"%s\": %s.%s, \"n\": %d}" % (a, b, c, n),
                "}", ""])))
        return "".join(out)

    def log(self):
        r, out = self.rng, []
        for _ in range(r.randint(5, 20)):
            out.append("%s/%s_%s.rs:%d:%d: %s\n" % (*r.choices(WORDS, k=3), r.randint(1, 900), r.randint(1, 90), self.words(3, 14)))
        return "".join(out)

    def take(self, pieces, size):
        """About `size` characters of joined pieces."""
        mean = 600 if pieces is self.prose else 700
        return "".join(self.rng.choices(pieces, k=max(1, round(size / mean))))


class Session:
    """The lines of one file."""

    def __init__(self, world, number, agent=None, parent=None):
        self.world, self.rng, self.text = world, world.rng, world.text
        self.folder = "/srv/app-%d" % number
        self.id = parent.id if parent else world.uuid()
        self.at = parent.at if parent else START + self.rng.randrange(20_000_000) + self.rng.random()
        self.side = '"isSidechain":true,"agentId":"%s"' % agent if agent else '"isSidechain":false'
        self.common = '"userType":"external","cwd":"%s","sessionId":"%s","version":"2.1.150","gitBranch":"main"' % (self.folder, self.id)
        self.is_agent, self.last, self.credit = bool(agent), "null", ""
        self.lines, self.size, self.turns, self.agents = [], 0, [], []

    def put(self, line):
        self.lines.append(line)
        self.size += len(line)

    def line(self, kind, rest):
        self.at += self.rng.random() * 8
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(self.at))
        uuid = self.world.uuid()
        self.put('{"parentUuid":%s,%s,%s,%s,"type":"%s","uuid":"%s","timestamp":"%s.%03dZ"}\n'
                 % (self.last, self.side, self.common, rest, kind, uuid, when, self.at % 1 * 1000))
        self.last = '"%s"' % uuid

    def user(self, content, more=""):
        self.line("user", '"message":{"role":"user","content":%s}%s' % (content, more))

    def result(self, call, text, more="", outcome=None):
        """The line that answers a tool call. Subagents often leave out `toolUseResult`."""
        if outcome and not (self.is_agent and self.rng.random() < .4):
            outcome = ',"toolUseResult":' + outcome
        else:
            outcome = ""
        self.user('[{"tool_use_id":"%s","type":"tool_result","content":"%s"%s}]' % (call, text, more), outcome)

    def message(self, blocks, stop):
        """One answer of the model, a line for each block, all with the same id and usage."""
        r = self.rng
        head = '"message":{"model":"some-model-1","id":"msg_%s","type":"message","role":"assistant","content":[' % self.world.id()
        tail = ('],"stop_reason":"%s","stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,'
                '"cache_read_input_tokens":%d,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},'
                '"output_tokens":%d,"service_tier":"standard"}},"requestId":"req_%s"%s'
                % (stop, r.randint(3, 900), r.randint(0, 9000), r.randint(9000, 150000), r.randint(20, 2500), self.world.id(), self.credit))
        for block in blocks:
            self.line("assistant", head + block + tail)

    def prose(self, low, high):
        return '{"type":"text","text":"%s"}' % self.text.take(self.text.prose, self.rng.uniform(low, high))

    def round(self, skill_rate):
        """The model thinks or talks, calls a tool, and gets its answer."""
        r = self.rng
        blocks = []
        if r.random() < .25:
            blocks.append('{"type":"thinking","thinking":"%s","signature":"%s"}'
                          % (self.text.take(self.text.prose, r.uniform(500, 3000)), r.choice(self.text.signatures)))
        if r.random() < .55:
            blocks.append(self.prose(200, 2500))
        call = "toolu_" + self.world.id()
        if r.random() < skill_rate:
            return self.skill(blocks, call)
        tool = r.choice(TOOLS)
        file = "%s/src/%s_%s.rs" % (self.folder, r.choice(WORDS), r.choice(WORDS))
        size = min(40_000, max(2_000, r.lognormvariate(8.6, .8)))
        if tool == "Read":
            given, text = '{"file_path":"%s"}' % file, self.text.take(self.text.code, size)
            outcome = '{"type":"text","file":{"filePath":"%s","content":"%s","numLines":%d,"startLine":1,"totalLines":%d}}' % (file, text, size // 40, size // 40)
        elif tool == "Bash":
            given = '{"command":"cargo test %s 2>&1 | tail -%d","description":"Run the tests of %s"}' % (r.choice(WORDS), size // 80, r.choice(WORDS))
            text = self.text.take(self.text.output, size)
            outcome = '{"stdout":"%s","stderr":"","interrupted":false,"isImage":false}' % text
        elif tool == "Edit":
            old, new = self.text.take(self.text.code, 500), self.text.take(self.text.code, 700)
            given = '{"file_path":"%s","old_string":"%s","new_string":"%s"}' % (file, old, new)
            text = "The file %s has been updated." % file
            outcome = '{"filePath":"%s","oldString":"%s","newString":"%s","userModified":false,"replaceAll":false}' % (file, old, new)
        elif tool == "Grep":
            given = '{"pattern":"%s","path":"%s"}' % (r.choice(WORDS), self.folder)
            text = self.text.take(self.text.output, r.uniform(200, 4000))
            outcome = '{"mode":"content","numFiles":0,"filenames":[],"content":"%s","numLines":%d}' % (text, r.randint(1, 90))
        else:
            given = '{"todos":[{"content":"%s","status":"pending","activeForm":"%s"}]}' % (self.text.words(4, 9), self.text.words(4, 9))
            text, outcome = "Todos have been modified.", '{"oldTodos":[],"newTodos":[]}'
        blocks.append('{"type":"tool_use","id":"%s","name":"%s","input":%s}' % (call, tool, given))
        self.message(blocks, "tool_use")
        if r.random() < .03:
            self.result(call, "<tool_use_error>String to replace not found.</tool_use_error>", ',"is_error":true', '"Error: String to replace not found."')
        else:
            self.result(call, text, outcome=outcome)

    def skill(self, blocks, call):
        r, world = self.rng, self.world
        world.uses += 1
        name, folder = world.name()
        words = ',"args":"%s"' % self.text.words(1, 5) if r.random() < .3 else ""
        blocks.append('{"type":"tool_use","id":"%s","name":"Skill","input":{"skill":"%s"%s}}' % (call, name, words))
        self.message(blocks, "tool_use")
        if folder is None:
            world.failed += 1
            self.result(call, "<tool_use_error>Unknown skill: %s</tool_use_error>" % name, ',"is_error":true', '"Error: Unknown skill: %s"' % name)
            return
        self.result(call, "Launching skill: " + name, outcome='{"success":true,"commandName":"%s"}' % name)
        self.body(name, folder, ',"sourceToolUseID":"%s"' % call)

    def body(self, name, folder, more=""):
        """The text of a skill as the client put it into the conversation."""
        text = "Base directory for this skill: %s\\n\\n# %s\\n\\n%s" % (folder, name, self.text.take(self.text.prose, self.rng.uniform(1500, 12000)))
        self.user('[{"type":"text","text":"%s"}]' % text, ',"isMeta":true' + more)
        plugin, _, short = name.rpartition(":")
        self.credit = ',"attributionSkill":"%s"' % short + (',"attributionPlugin":"%s"' % plugin if plugin else "")

    def turn(self):
        """Somebody types something, and the model works on it."""
        r, world = self.rng, self.world
        self.credit = ""
        self.put('{"type":"file-history-snapshot","messageId":"%s","snapshot":{"messageId":"%s","trackedFileBackups":{},"timestamp":"2026-01-01T00:00:00.000Z"},"isSnapshotUpdate":false}\n' % (world.uuid(), world.uuid()))
        kind = r.random()
        if kind < .05 and not self.is_agent:
            name, folder = r.choice(world.skills)
            world.uses += 1
            self.user('"<command-message>%s</command-message>\\n<command-name>/%s</command-name>\\n<command-args>%s</command-args>"' % (name, name, self.text.words(1, 6)))
            self.body(name, folder)
        elif kind < .08 and not self.is_agent:
            self.user('"<local-command-caveat>The messages below come from local commands.</local-command-caveat>"', ',"isMeta":true')
            self.user('"<command-name>/clear</command-name>\\n<command-message>clear</command-message>\\n<command-args></command-args>"')
            self.user('"<local-command-stdout></local-command-stdout>"')
        elif kind < .10:
            self.user('"why does my log say <command-name>/%s</command-name> and \\"name\\":\\"Skill\\" twice?"' % r.choice(world.skills)[0])
        else:
            self.user('"%s"' % self.text.take(self.text.prose, r.choice([100, 600, 3000])))
        for _ in range(r.randint(1, 14)):
            self.round(world.skill_rate)
            if self.credit and r.random() < .3:
                self.credit = ""
        if not self.is_agent and r.random() < .04:
            self.delegate()
        self.message([self.prose(800, 6000)], "end_turn")
        if r.random() < .3:
            self.line("system", '"subtype":"turn_duration","durationMs":%d,"isMeta":false' % r.randint(900, 400_000))
        self.turns.append(len(self.lines))

    def delegate(self):
        """A subagent works in a file of its own."""
        call, agent = "toolu_" + self.world.id(), "a%07x" % self.rng.getrandbits(28)
        number = int(self.folder.rsplit("-", 1)[1])
        task = self.text.take(self.text.prose, 1200)
        self.message(['{"type":"tool_use","id":"%s","name":"Task","input":{"description":"%s","prompt":"%s","subagent_type":"reviewer"}}' % (call, self.text.words(3, 5), task)], "tool_use")
        child = Session(self.world, number, agent, self)
        child.user('"%s"' % task)
        for _ in range(self.rng.randint(1, 4)):
            child.turn()
        self.agents.append((agent, child))
        self.at = child.at
        self.result(call, self.text.take(self.text.prose, 2500), outcome='{"status":"completed","agentId":"%s","totalDurationMs":%d}' % (agent, self.rng.randint(2000, 90000)))

    def fill(self, size, older):
        if older:
            for line in older.lines[:older.turns[0]]:
                self.put(line.replace(older.id, self.id))
        listed = "".join("- %s: %s\\n" % (name, self.text.words(8, 20)) for name, _ in self.world.skills[:100])
        names = ",".join('"%s"' % name for name, _ in self.world.skills[:100])
        self.line("attachment", '"attachment":{"type":"skill_listing","names":[%s],"skillCount":%d,"isInitial":true,"content":"%s"}' % (names, len(self.world.skills), listed))
        while self.size < size:
            self.turn()


class World:
    """What all sessions share."""

    def __init__(self, seed, skills):
        self.rng = random.Random(seed)
        self.text = Text(self.rng)
        self.skills = skills
        self.skill_rate = .055
        self.uses = self.failed = 0

    def uuid(self):
        b = self.rng.getrandbits(120)
        return HEX % (b >> 88, b >> 72 & 0xffff, b >> 60 & 0xfff, b >> 48 & 0xfff, b & 0xffffffffffff)

    def id(self):
        return "01%022x" % self.rng.getrandbits(88)

    def name(self):
        """A name that is called and the folder it lies in; none where it is unknown."""
        kind = self.rng.random()
        if kind < .05:
            return "no-such-skill-%02d" % self.rng.randrange(30), None
        if kind < .12:
            name = self.rng.choice(PLUGINS)
            return name, "/srv/plugins/" + name.replace(":", "/")
        # Few skills make up most of the calls.
        return self.skills[int(len(self.skills) * self.rng.random() ** 3)]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out")
    ap.add_argument("megabytes", type=float)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--names")
    a = ap.parse_args()
    if os.path.exists(os.path.join(a.out, "projects")):
        sys.exit("%s holds a history already" % a.out)
    skills = [("skill-%04d" % n, "/srv/skills/skill-%04d" % n) for n in range(100)]
    if a.names:
        with open(a.names, encoding="utf-8") as f:
            skills = [tuple(quoted(part) for part in line.rstrip("\n").split("\t")) for line in f]
    world = World(a.seed, skills)
    facts = dict(files=0, bytes=0, lines=0)
    want = int(a.megabytes * 1e6)
    older = {}

    def write(path, session):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = "".join(session.lines).encode()
        with open(path, "wb") as f:
            f.write(data)
        os.utime(path, (session.at, session.at))
        for key, value in zip(("files", "bytes", "lines"), (1, len(data), len(session.lines))):
            facts[key] += value

    while facts["bytes"] < want:
        number = world.rng.randrange(8)
        session = Session(world, number)
        size = min(world.rng.lognormvariate(14, .9), 12e6, want / 8)
        session.fill(size, older.get(number) if world.rng.random() < .05 else None)
        base = os.path.join(a.out, "projects", "-srv-app-%d" % number, session.id)
        write(base + ".jsonl", session)
        for agent, child in session.agents:
            path = os.path.join(base, "subagents", "agent-" + agent)
            write(path + ".jsonl", child)
            with open(path + ".meta.json", "w") as f:
                f.write('{"agentType":"reviewer"}\n')
        older[number] = session
    json.dump(dict(facts, uses=world.uses, failed=world.failed), sys.stdout)
    print()


if __name__ == "__main__":
    main()
