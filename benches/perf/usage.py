"""The runs of usage.sh: skilldb and the floor in turn, as whole processes."""
import argparse, collections, json, os, random, shutil, sqlite3, statistics, subprocess, sys, time

Run = collections.namedtuple("Run", "cpu wall peak code out")
HERE = os.path.dirname(os.path.abspath(__file__))
LATER = 1000
COLUMNS = "{:<7} {:<29} {:<7} {:>5}  {:>9} {:>9} {:>6}  {:>9} {:>9} {:>6}  {:>6} {:>6}  {:>6} {:>6}"


class Bench:
    def __init__(self, options):
        self.pairs, self.work, self.homes = options.pairs, options.work, options.homes
        self.spawn = options.spawn if os.path.exists(options.spawn) else None
        self.scratch = os.path.join(self.work, "usage")
        os.makedirs(self.scratch, exist_ok=True)
        self.skilldb_bin = os.path.join(self.work, "bin", "skilldb")
        self.floor_bin = os.path.join(self.work, "bin", "skilldb-floor")
        self.out = os.path.join(self.scratch, "stdout")
        self.rows = open(os.path.join(self.work, "usage.jsonl"), "w")
        self.wrong = False

    def start(self, command, home, stdin=os.devnull):
        """Runs a command and reads what it used up. The harness's starter keeps this interpreter's
        memory out of the peak: a process begins with that of whoever started it."""
        env = dict(os.environ, HOME=home, SKILLDB_HOME=home, NO_COLOR="1")
        writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        actions = [(os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
                   (os.POSIX_SPAWN_OPEN, 1, self.out, writing, 0o600),
                   (os.POSIX_SPAWN_OPEN, 2, self.out + ".err", writing, 0o600)]
        if self.spawn:
            reading, told = os.pipe()
            actions.append((os.POSIX_SPAWN_DUP2, told, 3))
            command = [self.spawn] + command
        start = time.perf_counter()
        pid = os.posix_spawn(command[0], command, env, file_actions=actions)
        _, status, used = os.wait4(pid, 0)
        wall = (time.perf_counter() - start) * 1e3
        cpu, peak = (used.ru_utime + used.ru_stime) * 1e3, used.ru_maxrss
        if self.spawn:
            os.close(told)
            with os.fdopen(reading) as f:
                wall, cpu, peak = map(float, f.read().split()[:3])
        with open(self.out, errors="replace") as f:
            return Run(cpu, wall, peak / 1024, os.waitstatus_to_exitcode(status), f.read())

    def skilldb(self, home, *words, stdin=os.devnull):
        return self.start([self.skilldb_bin, "--home", home, *words], home, stdin)

    def floor(self, *words):
        return self.start([self.floor_bin, *words], self.scratch)

    def events(self, home):
        return json.loads(self.floor("count", database(home)).out)["events"]

    def has(self, subcommand):
        if self.skilldb(self.scratch, subcommand, "--help").code == 0:
            return True
        print("left out: this skilldb has no `%s`" % subcommand)
        return False

    def expect(self, what, is_right):
        if not is_right:
            self.wrong = True
            print("WRONG: " + what)

    def compare(self, what, at, runs, pairs, size=None):
        """Runs skilldb and its limits in turn, `runs` being names and functions with skilldb first;
        prints a row for each limit."""
        taken = {name: [] for name in runs}
        for turn in range(pairs + 1):
            for name, run in runs.items():
                result = run()
                if result.code != 0:
                    with open(self.out + ".err", errors="replace") as f:
                        self.expect("%s, %s: %s ended with %d: %s" % (what, at, name, result.code, f.read()[-300:]), False)
                    return False
                # The first one warms up.
                if turn > 0:
                    taken[name].append(result)
        first, *limits = runs
        for limit in limits or [None]:
            self.row(what, at, taken[first], limit, taken.get(limit), size)
        return True

    def row(self, what, at, ours, limit, theirs, size):
        def middle(runs, field):
            return statistics.median(getattr(run, field) for run in runs)

        facts = dict(what=what, at=at, limit=limit, pairs=len(ours))
        cells = [what, at, limit or "-", len(ours)]
        for field in ("cpu", "wall"):
            mine = middle(ours, field)
            facts[field + "_ms"] = round(mine, 3)
            cells.append("%.2f" % mine)
            if theirs:
                its = middle(theirs, field)
                ratio = statistics.median(getattr(a, field) / max(getattr(b, field), 1e-3) for a, b in zip(ours, theirs))
                facts[field + "_ms_limit"], facts[field + "_ratio"] = round(its, 3), round(ratio, 3)
                cells += ["%.2f" % its, "%.2f" % ratio]
            else:
                cells += ["-", "-"]
        for name, runs in (("mb_s", ours), ("mb_s_limit", theirs)):
            if size and runs:
                facts[name] = round(size / 1e3 / middle(runs, "wall"), 1)
            cells.append("%.0f" % facts[name] if name in facts else "-")
        for name, runs in (("peak_mb", ours), ("peak_mb_limit", theirs)):
            if runs:
                facts[name] = round(max(run.peak for run in runs), 1)
            cells.append("%.1f" % facts[name] if name in facts else "-")
        print(COLUMNS.format(*cells), flush=True)
        json.dump(facts, self.rows)
        self.rows.write("\n")
        self.rows.flush()


def database(home):
    return os.path.join(home, "skilldb.db")


def schema(home):
    connection = sqlite3.connect(database(home))
    rows = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").fetchall()
    connection.close()
    return [row[0] for row in rows]


def fold_log(home):
    """Copies the log into the database: every contestant starts with an empty one."""
    connection = sqlite3.connect(database(home))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


class Library:
    """A library that skilldb made, and copies of it to measure on."""

    def __init__(self, bench, skills, events=0):
        self.bench, self.skills, self.count = bench, skills, events
        self.label = "%s skills, %s events" % (format(skills, ","), format(events, ",") if events else "no")
        self.folder = os.path.join(bench.scratch, "n%d-%d" % (skills, events))
        self.clean = os.path.join(self.folder, "clean")
        tree = os.path.join(bench.homes, "n%d" % skills)
        with open(os.path.join(tree, "corpus.json")) as f:
            self.name = json.load(f)["last"]
        if events:
            self.fill(Library(bench, skills))
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.clean)
        made = bench.skilldb(self.clean, "sync", os.path.join(tree, "skills"))
        # 1: there are problems in the skills, which is so on purpose.
        if made.code not in (0, 1):
            sys.exit("skilldb sync of %s ended with %d" % (tree, made.code))
        fold_log(self.clean)

    def fill(self, empty):
        if os.path.exists(database(self.clean)) and schema(self.clean) == schema(empty.clean):
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(empty.clean, self.clean)
        start = time.perf_counter()
        connection = sqlite3.connect(database(self.clean), isolation_level=None)
        connection.execute("PRAGMA cache_size = -200000")
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            "INSERT INTO usage_event (event_id, skill_id, called_name, kind, \"trigger\", actor, client, session_id, project, at, ok, tokens_in, tokens_out) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", made_up(connection, self.count))
        connection.execute("COMMIT")
        connection.close()
        fold_log(self.clean)
        print("made %s in %.0f s, %.0f MB" % (self.label, time.perf_counter() - start, os.path.getsize(database(self.clean)) / 1e6))

    def copy(self, who):
        home = os.path.join(self.folder, who)
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(self.clean, home)
        return home


def made_up(connection, count):
    """Two years of use by four clients: few skills make up most of it, 3 in 100 are not installed."""
    rng = random.Random(5)
    skills = connection.execute("SELECT id, name FROM v_skill ORDER BY id").fetchall()
    rng.shuffle(skills)
    clients = [("claude-code", "model", "agent"), ("claude-code", "slash", "user"), ("codex", "model", "agent"),
               ("hermes", "automation", "background_review"), ("opencode", "model", "agent")]
    kinds = ["use"] * 7 + ["view"] * 2 + ["file"]
    start, step = 1_704_067_200, 63_072_000 / count
    for n in range(count):
        skill, name = skills[int(len(skills) * rng.random() ** 2)]
        if rng.random() < .03:
            skill, name = None, "no-such-skill-%02d" % rng.randrange(40)
        client, trigger, actor = clients[int(5 * rng.random() ** 2)]
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(start + n * step))
        chance = rng.random()
        ok = None if chance < .3 else int(chance < .95)
        tokens = (rng.randrange(9000), rng.randrange(900)) if chance < .2 else (None, None)
        yield ("toolu_%024x" % (n * 0x9e3779b97f4a7c15 & 2**96 - 1), skill, name, rng.choice(kinds), trigger, actor, client,
               "session-%06d" % (n // 40), "/srv/app-%d" % (n // 40 % 8), at, ok, *tokens)


def hook_input(bench, name, number):
    path = os.path.join(bench.scratch, "hook.json")
    with open(path, "w") as f:
        json.dump({"session_id": "5f0c0000-0000-4000-8000-000000000001", "transcript_path": "/srv/none.jsonl", "cwd": "/srv/app-1",
                   "permission_mode": "default", "hook_event_name": "PostToolUse", "tool_name": "Skill",
                   "tool_input": {"skill": name}, "tool_use_id": "toolu_bench_%d" % number,
                   "tool_response": {"success": True, "commandName": name}}, f)
    return path


def recording(bench, what, library):
    """One use, by `record` or through the hook, beside the floor of both."""
    ours, theirs = library.copy("skilldb"), library.copy("floor")
    os.sync()
    before = bench.events(ours), bench.events(theirs)
    number = 0

    def mine():
        nonlocal number
        number += 1
        if what == "record":
            return bench.skilldb(ours, "record", "use", library.name)
        return bench.skilldb(ours, "hook", "claude-code", stdin=hook_input(bench, library.name, number))

    runs = {"skilldb": mine, "record": lambda: bench.floor("record", database(theirs), library.name)}

    def check():
        now = bench.events(ours) - before[0], bench.events(theirs) - before[1]
        bench.expect("%s, %s: %d uses came to %d and %d events" % (what, library.label, number, *now), now == (number, number))

    if not bench.compare(what, library.label, runs, bench.pairs):
        return
    check()
    if library.skills == 100 and not library.count:
        for _ in range(LATER):
            for run in runs.values():
                run()
        bench.compare(what, "{:,} skills, {:,} uses later".format(library.skills, LATER), runs, bench.pairs)
        check()


def importing(bench, library, megabytes, pairs):
    folder = os.path.join(bench.scratch, "history-%d" % megabytes)
    facts = os.path.join(folder, "facts.json")
    if not os.path.exists(facts):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        names = os.path.join(folder, "names")
        connection = sqlite3.connect(database(library.clean))
        with open(names, "w") as f:
            f.writelines("%s\t%s\n" % row for row in connection.execute("SELECT name, path FROM v_skill ORDER BY path"))
        connection.close()
        made = subprocess.run([sys.executable, os.path.join(HERE, "gen_history.py"), folder, str(megabytes), "--names", names], check=True, stdout=subprocess.PIPE)
        with open(facts, "wb") as f:
            f.write(made.stdout)
    with open(facts) as f:
        facts = json.load(f)
    projects = os.path.join(folder, "projects")
    files = sorted(os.path.join(place, name) for place, _, names in os.walk(projects) for name in names if name.endswith(".jsonl"))
    home = None

    def mine():
        nonlocal home
        home = library.copy("import")
        return bench.skilldb(home, "import", "claude-code", projects)

    limits = {limit: lambda limit=limit: bench.floor(limit, *files) for limit in ("parse", "ignore", "lines")}
    at = "%d MB, %d files" % (facts["bytes"] / 1e6, facts["files"])
    if not bench.has("import"):
        for limit, run in limits.items():
            bench.compare(limit, at, {limit: run}, pairs, facts["bytes"])
        return
    if not bench.compare("import", at, {"skilldb": mine, **limits}, pairs, facts["bytes"]):
        return
    found = bench.events(home)
    bench.expect("import, %s: %d events instead of %d" % (at, found, facts["uses"]), found == facts["uses"])
    again = {"skilldb": lambda: bench.skilldb(home, "import", "claude-code", projects)}
    if bench.compare("import", "%d MB, nothing new" % (facts["bytes"] / 1e6), again, max(pairs, 5)):
        bench.expect("import, %s: a second one added events" % at, bench.events(home) == found)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("pairs", type=int)
    for option in ("--work", "--homes", "--spawn"):
        ap.add_argument(option, required=True)
    bench = Bench(ap.parse_args())
    wanted = os.environ.get("BENCH_OPS") or "record,hook,import,stats"
    wanted = wanted.split(",")
    events = int(os.environ.get("USAGE_EVENTS") or 1_000_000)
    small = Library(bench, 100)
    full = Library(bench, 100, events) if {"record", "hook", "stats"} & set(wanted) else None
    if not bench.spawn:
        print("no starter in the harness: peak memory is that of Python or more")
    print(COLUMNS.format("what", "at", "limit", "pairs", "CPU ms", "limit", "ratio", "wall ms", "limit", "ratio", "MB/s", "limit", "MB", "limit"))
    for what in ("record", "hook"):
        if what in wanted and bench.has(what):
            for library in (small, Library(bench, 10_000), full):
                recording(bench, what, library)
    if "import" in wanted:
        sizes = [int(os.environ.get("USAGE_MB") or 200)] + ([1000] if os.environ.get("USAGE_BIG") == "1" else [])
        for megabytes in sizes:
            importing(bench, small, megabytes, min(bench.pairs, 5 if megabytes <= 200 else 3))
    if "stats" in wanted and bench.has("stats"):
        home = full.copy("stats")
        runs = {"skilldb": lambda: bench.skilldb(home, "stats"), "count": lambda: bench.floor("count", database(home))}
        bench.compare("stats", full.label, runs, min(bench.pairs, 10))
    return int(bench.wrong)


if __name__ == "__main__":
    sys.exit(main())
