//! Transcripts as Claude Code writes them, for the tests that import them. Refuses to know what an import
//! prints.

pub(crate) mod copies;

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::common::Library;

/// A session, and one that was made from it.
pub(crate) const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
pub(crate) const RESUMED: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// A transcript that is being written.
pub(crate) struct Transcript {
    /// The file.
    pub(crate) path: PathBuf,
    session: &'static str,
    project: String,
}

impl Transcript {
    /// The transcript of a session, where Claude Code keeps it; it worked in `proj`.
    pub(crate) fn new(library: &Library, session: &'static str) -> Self {
        Self::at(library, &format!("{session}.jsonl"), session)
    }

    /// A file of a session, by its path below the project's folder.
    pub(crate) fn at(library: &Library, rel: &str, session: &'static str) -> Self {
        let path = library.path("home/.claude/projects/-proj").join(rel);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        Self::of(path, session, library.path("proj").to_str().unwrap())
    }

    /// A file that is there, of a session that worked in this folder.
    pub(crate) fn of(path: PathBuf, session: &'static str, project: &str) -> Self {
        Self {
            path,
            session,
            project: project.to_owned(),
        }
    }

    /// Appends lines, each with what all lines have.
    pub(crate) fn add(&self, lines: &[Value]) -> &Self {
        let mut text = String::new();
        for line in lines {
            let mut line = line.clone();
            line["sessionId"] = json!(self.session);
            line["cwd"] = json!(self.project);
            text.extend([line.to_string().as_str(), "\n"]);
        }
        self.add_text(&text)
    }

    /// Appends text as it is.
    pub(crate) fn add_text(&self, text: &str) -> &Self {
        let mut file = File::options()
            .append(true)
            .create(true)
            .open(&self.path)
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
        self
    }

    /// What it holds.
    pub(crate) fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }

    /// Writes it anew.
    pub(crate) fn replace(&self, text: &str) {
        File::create(&self.path)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    }

    /// Sets the time of its last write, in hours after some day.
    pub(crate) fn written(&self, hour: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_780_000_000 + hour * 3_600);
        let file = File::options().append(true).open(&self.path).unwrap();
        file.set_modified(time).unwrap();
    }
}

/// When a line was written, in seconds after 08:00.
pub(crate) fn time(second: u32) -> String {
    let (minute, second) = (second / 60, second % 60);
    format!("2026-05-20T08:{minute:02}:{second:02}.000Z")
}

fn line(second: u32, uuid: &str, kind: &str, content: &Value) -> Value {
    json!({"type": kind, "uuid": uuid, "timestamp": time(second), "message": {"role": kind, "content": content}})
}

/// A person says something.
pub(crate) fn said(second: u32, text: &str) -> Value {
    line(second, &format!("said-{second}"), "user", &json!(text))
}

/// The model calls a skill.
pub(crate) fn call(second: u32, id: &str, skill: &str) -> Value {
    let content =
        json!([{"type": "tool_use", "id": id, "name": "Skill", "input": {"skill": skill}}]);
    let mut line = line(second, &format!("{id}-call"), "assistant", &content);
    line["message"]["id"] = json!(format!("{id}-message"));
    line
}

/// The call went well.
pub(crate) fn answer(second: u32, id: &str) -> Value {
    let content = json!([{"type": "tool_result", "tool_use_id": id, "content": "Launching skill"}]);
    line(second, &format!("{id}-answer"), "user", &content)
}

/// The call failed.
pub(crate) fn failure(second: u32, id: &str) -> Value {
    let mut line = answer(second, id);
    line["message"]["content"][0]["is_error"] = json!(true);
    line
}

/// The text of a called skill, which names its folder.
pub(crate) fn body(second: u32, id: &str, folder: &str) -> Value {
    let mut line = line(second, &format!("{id}-body"), "user", &base(folder));
    line["isMeta"] = json!(true);
    line["sourceToolUseID"] = json!(id);
    line
}

/// A person types `/skill`.
pub(crate) fn typed(second: u32, uuid: &str, skill: &str) -> Value {
    let tags = format!(
        "<command-message>{skill}</command-message>\n<command-name>/{skill}</command-name>"
    );
    line(second, uuid, "user", &json!(tags))
}

/// The text of a typed skill.
pub(crate) fn expanded(second: u32, uuid: &str, folder: &str) -> Value {
    let mut line = line(second, &format!("{uuid}-body"), "user", &base(folder));
    line["isMeta"] = json!(true);
    line["parentUuid"] = json!(uuid);
    line
}

fn base(folder: &str) -> Value {
    json!([{"type": "text", "text": format!("Base directory for this skill: {folder}\n\n# Steps\n")}])
}

/// A library with a skill `tea`, and the transcript of a session.
pub(crate) fn with_tea() -> (Library, Transcript) {
    let library = Library::new();
    library.skill("tea", "Makes tea");
    library.sync();
    let transcript = Transcript::new(&library, SESSION);
    (library, transcript)
}

/// Name, trigger and end of each event, in the order of time.
pub(crate) fn uses(library: &Library) -> String {
    library.sql(
        r#"SELECT called_name, "trigger", coalesce(ok, 'open') FROM v_usage ORDER BY at, event_id"#,
    )
}

/// Uses and failures of `tea`.
pub(crate) fn counters(library: &Library) -> String {
    library.sql("SELECT use_count, failure_count FROM v_skill WHERE name = 'tea'")
}

/// The counters are those of the events.
pub(crate) fn assert_healthy(library: &Library) {
    let report = library.json(&["doctor"]);
    assert_eq!(report["healthy"], true, "{report}");
}

/// Imports Claude Code's home with these flags and returns the report.
pub(crate) fn import(library: &Library, flags: &[&str]) -> Value {
    library.json(&[&["import", "claude-code"], flags].concat())
}

/// New and known events of a report.
pub(crate) fn events(report: &Value) -> (u64, u64) {
    let count = |key: &str| report["events"][key].as_u64().unwrap();
    (count("new"), count("known"))
}

/// Each test crate uses part of this. Naming all of it keeps the rest from counting as dead code.
const _: () = {
    _ = (SESSION, RESUMED);
    _ = (
        Transcript::new,
        Transcript::at,
        Transcript::of,
        Transcript::add,
        Transcript::add_text,
        Transcript::text,
        Transcript::replace,
        Transcript::written,
    );
    _ = (time, said, call, answer, failure, body, typed, expanded);
    _ = (with_tea, uses, counters, assert_healthy, import, events);
    _ = |transcript: Transcript| (transcript.path, transcript.session);
};
