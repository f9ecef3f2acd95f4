//! Owns the rule that tells which skill, if any, a shell command of Codex uses.
//!
//! The rule looks at the first command of a script only. Leading `cd DIR &&` (or `;`, or a line of
//! its own) are not commands in this sense: they change the folder the rest is resolved against.
//! Codex itself takes the words of the whole script as one command; cutting at the first operator
//! keeps a later command's words from being taken for arguments of the first.

use serde_json::Value;

const SHELL_TOOLS: [&str; 6] = [
    "shell",
    "shell_command",
    "exec_command",
    "local_shell",
    "container.exec",
    "unified_exec",
];
const RUNNERS: [&str; 10] = [
    "python", "python3", "bash", "zsh", "sh", "node", "deno", "ruby", "perl", "pwsh",
];
const READERS: [&str; 8] = ["cat", "sed", "head", "tail", "less", "more", "bat", "awk"];
const EXTENSIONS: [&str; 7] = [".py", ".sh", ".js", ".ts", ".rb", ".pl", ".ps1"];

/// What a path is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::share) enum Kind {
    /// Is this file the `SKILL.md` of a skill?
    SkillFile,
    /// Does this file lie under the `scripts/` folder of a skill?
    Script,
}

/// Says of a file whether it belongs to a skill, and returns the skill's folder if so.
/// The path is absolute and lexically normalised, or begins with `~/`.
pub(in crate::share) type SkillOf<'a> = dyn Fn(&str, Kind) -> Option<String> + 'a;

/// A command as a tool call carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::share) enum Command {
    /// Words that no shell interprets.
    Words(Vec<String>),
    /// Text that a shell interprets.
    Script(String),
}

/// A call of one of Codex's shell tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellCall {
    /// The id that the outcome of the call will carry.
    pub call_id: Option<String>,
    /// The command.
    pub command: Command,
    /// The folder asked for, as it stands in the call.
    pub workdir: Option<String>,
}

impl ShellCall {
    /// Reads a `response_item` payload; `None` when it is no call of a shell tool.
    #[must_use]
    pub(super) fn from_payload(payload: &Value) -> Option<Self> {
        let is_shell = || text(payload, "name").is_some_and(|name| SHELL_TOOLS.contains(&name));
        let arguments = match text(payload, "type")? {
            "local_shell_call" => payload.get("action")?.clone(),
            "function_call" if is_shell() => unpacked(payload.get("arguments")?)?,
            // A free-form tool may get the script itself in place of JSON.
            "custom_tool_call" if is_shell() => {
                let input = payload.get("input")?;
                unpacked(input).unwrap_or_else(|| serde_json::json!({ "cmd": input }))
            }
            _ => return None,
        };
        let command = arguments.get("command").or_else(|| arguments.get("cmd"))?;
        let workdir = text(&arguments, "workdir").or_else(|| text(&arguments, "working_directory"));
        Some(Self {
            call_id: text(payload, "call_id")
                .or_else(|| text(payload, "id"))
                .map(str::to_owned),
            command: Command::from_value(command)?,
            workdir: workdir.map(str::to_owned),
        })
    }
}

impl Command {
    /// Reads a command given as text or as a list of words; `["bash", "-lc", script]` and its like
    /// are unwrapped to the script.
    #[must_use]
    pub(in crate::share) fn from_value(value: &Value) -> Option<Self> {
        if let Some(script) = value.as_str() {
            return Some(Self::Script(script.to_owned()));
        }
        let words: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
        let words = words?;
        if let [shell, flag, script, ..] = words.as_slice()
            && matches!(program_name(shell).as_str(), "bash" | "sh" | "zsh")
            && matches!(*flag, "-c" | "-lc" | "-ic")
        {
            return Some(Self::Script((*script).to_owned()));
        }
        Some(Self::Words(words.into_iter().map(str::to_owned).collect()))
    }

    /// The command as one line of text, to be shown.
    #[must_use]
    pub(in crate::share) fn text(&self) -> String {
        match self {
            Self::Script(script) => script.clone(),
            Self::Words(words) => shlex::try_join(words.iter().map(String::as_str))
                .unwrap_or_else(|_| words.join(" ")),
        }
    }

    /// The folder of the skill that the command uses when it runs in `folder`.
    #[must_use]
    pub(in crate::share) fn skill(
        &self,
        folder: Option<&str>,
        skill_of: &SkillOf<'_>,
    ) -> Option<String> {
        match self {
            Self::Words(words) => skill_of_words(words, folder, skill_of),
            Self::Script(script) => skill_of_script(script, folder, skill_of),
        }
    }
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// Arguments are JSON as text, but a reader should not fail when they come unpacked.
fn unpacked(arguments: &Value) -> Option<Value> {
    let value = match arguments {
        Value::String(json) => serde_json::from_str(json).ok()?,
        other => other.clone(),
    };
    value.is_object().then_some(value)
}

fn skill_of_script(script: &str, folder: Option<&str>, skill_of: &SkillOf<'_>) -> Option<String> {
    // Where the whole cannot be split, the cut below cannot be trusted either.
    shlex::split(script)?;
    let mut folder = folder.map(str::to_owned);
    let mut rest = script;
    while !rest.is_empty() {
        let cut = first_command(rest);
        rest = cut.rest;
        let words = shlex::split(cut.command)?;
        match words.split_first() {
            None => {}
            Some((first, arguments)) if first == "cd" && cut.goes_on => {
                folder = Some(folder_after_cd(folder.as_deref(), arguments)?);
            }
            Some(_) => return skill_of_words(&words, folder.as_deref(), skill_of),
        }
    }
    None
}

/// `None` when the new folder cannot be known, as with `cd -`.
fn folder_after_cd(folder: Option<&str>, arguments: &[String]) -> Option<String> {
    if arguments.iter().any(|word| word == "-") {
        return None;
    }
    let target = arguments.iter().find(|word| !word.starts_with('-'));
    resolve(folder, target.map_or("~", String::as_str))
}

struct Cut<'a> {
    command: &'a str,
    /// Whether what follows runs after the command, in the same shell.
    goes_on: bool,
    rest: &'a str,
}

/// Cuts a script at the first operator that stands outside quotes and comments.
fn first_command(script: &str) -> Cut<'_> {
    let (mut closing, mut escaped, mut before) = (None, false, ' ');
    for (at, c) in script.char_indices() {
        let after = script.get(at + c.len_utf8()..).unwrap_or_default();
        if escaped {
            escaped = false;
        } else if c == '\\' && !matches!(closing, Some('\'' | '\n')) {
            escaped = true;
        } else if closing == Some(c) && c != '\n' {
            closing = None;
        } else if closing.is_none() && matches!(c, '\'' | '"') {
            closing = Some(c);
        } else if closing.is_none() && c == '#' && before.is_whitespace() {
            closing = Some('\n');
        } else if closing == Some(c) || (closing.is_none() && is_operator(before, c, after)) {
            let doubled = after.strip_prefix(c).filter(|_| matches!(c, '&' | '|'));
            return Cut {
                command: script.get(..at).unwrap_or_default(),
                goes_on: matches!(c, ';' | '\n') || (c == '&' && doubled.is_some()),
                rest: doubled.unwrap_or(after),
            };
        }
        before = c;
    }
    Cut {
        command: script,
        goes_on: false,
        rest: "",
    }
}

/// `2>&1`, `&>file` and `>|file` are redirections: they end no command.
fn is_operator(before: char, c: char, after: &str) -> bool {
    match c {
        ';' | '\n' => true,
        '|' => before != '>',
        '&' => !matches!(before, '<' | '>') && !after.starts_with('>'),
        _ => false,
    }
}

fn skill_of_words(
    words: &[String],
    folder: Option<&str>,
    skill_of: &SkillOf<'_>,
) -> Option<String> {
    let (first, arguments) = words.split_first()?;
    let program = program_name(first);
    if RUNNERS.contains(&program.as_str()) {
        let script = script_word(&program, arguments)?;
        return skill_of(&resolve(folder, script)?, Kind::Script);
    }
    if !READERS.contains(&program.as_str()) {
        return None;
    }
    let mut is_target = false;
    arguments.iter().find_map(|word| {
        // `cat > x/SKILL.md` writes a skill, which is no use of it.
        let is_written = std::mem::replace(&mut is_target, is_output_redirection(word));
        if is_written || word.starts_with('-') || !is_skill_file(word) {
            return None;
        }
        skill_of(&resolve(folder, word)?, Kind::SkillFile)
    })
}

fn script_word<'a>(program: &str, arguments: &'a [String]) -> Option<&'a str> {
    let mut plain = arguments.iter().filter(|word| !word.starts_with('-'));
    let mut script = plain.next()?;
    if program == "deno" && script == "run" {
        script = plain.next()?;
    }
    let lower = script.to_ascii_lowercase();
    let is_script = EXTENSIONS.iter().any(|end| lower.ends_with(end));
    is_script.then_some(script.as_str())
}

fn is_output_redirection(word: &str) -> bool {
    let operator = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
    matches!(operator, ">" | ">>" | ">|")
}

/// Spares the caller a look at every word of, say, an awk program.
fn is_skill_file(word: &str) -> bool {
    file_name(word).eq_ignore_ascii_case("SKILL.md")
}

fn program_name(word: &str) -> String {
    let name = file_name(word).to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

/// The last part of a path, with either kind of separator.
#[must_use]
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Makes a path absolute and folds `.` and `..`, without looking at the file system.
///
/// A word that begins with `~/` is returned as it is; paths with a drive letter come out with `/`
/// throughout. `None` when the word is relative and no absolute folder is known.
#[must_use]
pub(super) fn resolve(folder: Option<&str>, word: &str) -> Option<String> {
    if word == "~" || word.starts_with("~/") {
        return Some(word.to_owned());
    }
    if word.starts_with('/') || has_drive(word) {
        return Some(folded(word));
    }
    let folder = folder.filter(|_| !word.is_empty())?;
    let is_rooted =
        folder.starts_with('/') || folder == "~" || folder.starts_with("~/") || has_drive(folder);
    is_rooted.then(|| folded(&format!("{folder}/{word}")))
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

fn folded(path: &str) -> String {
    let is_drive = has_drive(path);
    let is_home = path.starts_with("~/");
    let root_length = if is_drive { 2 } else { usize::from(is_home) };
    let (root, rest) = path.split_at_checked(root_length).unwrap_or(("", path));
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split(|c| c == '/' || (is_drive && c == '\\')) {
        match part {
            "" | "." => {}
            // What lies above the home folder is not known here.
            ".." if is_home && parts.last().is_none_or(|last| *last == "..") => parts.push(part),
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    format!("{root}/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Every folder below a `skills` folder is a skill here.
    fn known(path: &str, kind: Kind) -> Option<String> {
        let (head, tail) = path.split_once("/skills/")?;
        let (name, inner) = tail.split_once('/')?;
        let is_hit = match kind {
            Kind::SkillFile => inner == "SKILL.md",
            Kind::Script => inner.starts_with("scripts/"),
        };
        is_hit.then(|| format!("{head}/skills/{name}"))
    }

    fn found(script: &str) -> Option<String> {
        Command::Script(script.to_owned()).skill(Some("/w"), &known)
    }

    #[track_caller]
    fn is_use(script: &str, folder: &str) {
        assert_eq!(found(script).as_deref(), Some(folder), "{script}");
    }

    #[track_caller]
    fn is_no_use(script: &str) {
        assert_eq!(found(script), None, "{script}");
    }

    #[test]
    fn runners() {
        is_use("python3 -u skills/a/scripts/x.py --n 1", "/w/skills/a");
        is_use("/usr/bin/Python.EXE skills/a/scripts/X.PY", "/w/skills/a");
        is_use("deno run -A skills/a/scripts/x.ts", "/w/skills/a");
        is_use("pwsh -File skills/a/scripts/x.ps1", "/w/skills/a");
        is_use("bash ./b/../skills/./a/scripts/x.sh 2>&1", "/w/skills/a");
        is_use("bash ~/skills/a/scripts/x.sh", "~/skills/a");
        is_no_use("node run skills/a/scripts/x.js");
        is_no_use("python skills/a/scripts/x.txt");
        is_no_use("python skills/a/x.py");
        is_no_use("python -m http.server");
        is_no_use("skills/a/scripts/x.py");
        is_no_use("python");
        is_no_use("");
    }

    #[test]
    fn readers() {
        is_use(
            "sed -n '1,200p' '/my repo/skills/a/SKILL.md'",
            "/my repo/skills/a",
        );
        is_use("cat README.md skills/a/SKILL.md | head", "/w/skills/a");
        is_use("cat skills/a/SKILL.md;ls", "/w/skills/a");
        is_use(
            "# look first; don't rush\n\ncat skills/a/SKILL.md",
            "/w/skills/a",
        );
        is_use("awk '{a=1; print}' \\\n skills/a/SKILL.md", "/w/skills/a");
        is_no_use("cat skills/a/notes.md");
        is_no_use("grep x skills/a/SKILL.md");
        is_no_use("cat > skills/a/SKILL.md <<'EOF'\nhello\nEOF");
        is_no_use("cat x 2>> skills/a/SKILL.md");
        is_no_use("cat skills/a/SKILL.md 'open");
    }

    #[test]
    fn only_the_first_command_after_cd() {
        is_no_use("ls && cat skills/a/SKILL.md");
        is_no_use("cat x | cat skills/a/SKILL.md");
        is_no_use("cat x && cat skills/a/SKILL.md");
        is_use("cd skills/a && cat SKILL.md", "/w/skills/a");
        is_use("cd /v; cd skills\ncat a/SKILL.md", "/v/skills/a");
        is_use("cd ~/p/.. && cat skills/a/SKILL.md", "~/skills/a");
        is_use("cd && cd .. && cat skills/a/SKILL.md", "~/../skills/a");
        is_use("cd -- /v && cat skills/a/SKILL.md", "/v/skills/a");
        is_no_use("cd - && cat skills/a/SKILL.md");
        is_no_use("cd skills/a || cat SKILL.md");
        is_no_use("cd skills/a");
    }

    #[test]
    fn commands_are_unwrapped() {
        let of = |value: Value| Command::from_value(&value);
        let script = Some(Command::Script("ls".to_owned()));
        assert_eq!(of(json!("ls")), script);
        assert_eq!(of(json!(["bash", "-lc", "ls"])), script);
        assert_eq!(of(json!(["/bin/zsh", "-ic", "ls"])), script);
        assert_eq!(of(json!(["C:\\bin\\SH.exe", "-c", "ls"])), script);
        assert_eq!(of(json!(["bash", 1])), None);
        assert_eq!(of(json!({})), None);
        let words = of(json!(["cat", "/my skills/a && b"])).unwrap();
        assert_eq!(words.text(), "cat '/my skills/a && b'");
        let plain = of(json!(["bash", "/w/skills/a/scripts/x.sh"])).unwrap();
        assert_eq!(plain.skill(None, &known).as_deref(), Some("/w/skills/a"));
    }

    #[test]
    fn paths() {
        let of = |folder, word| resolve(Some(folder), word);
        assert_eq!(of("/w", "../../x").as_deref(), Some("/x"));
        assert_eq!(of("C:\\w\\v", "..\\é/x").as_deref(), Some("C:/w/é/x"));
        assert_eq!(of("/w", "d:/a//b").as_deref(), Some("d:/a/b"));
        assert_eq!(of("~", "a/../../b").as_deref(), Some("~/../b"));
        assert_eq!(of("w", "x"), None);
        assert_eq!(of("/w", ""), None);
        assert_eq!(resolve(None, "x"), None);
        assert_eq!(resolve(None, "/"), Some("/".to_owned()));
    }
}
