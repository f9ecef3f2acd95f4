//! Rollouts as Codex writes them, for the tests that import them. Refuses to know what an import prints.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::common::Library;

/// A session, and one that was forked from it.
pub(crate) const SESSION: &str = "0197a000-0000-7000-8000-000000000001";
pub(crate) const FORK: &str = "0197b000-0000-7000-8000-000000000002";

/// A rollout that is being written.
pub(crate) struct Rollout {
    /// The file.
    pub(crate) path: PathBuf,
}

impl Rollout {
    /// The rollout of a session, where Codex keeps it.
    pub(crate) fn new(library: &Library, session: &str) -> Self {
        let rel =
            format!("home/.codex/sessions/2026/05/20/rollout-2026-05-20T08-00-00-{session}.jsonl");
        let path = library.path(&rel);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        Self { path }
    }

    /// Appends lines.
    pub(crate) fn add(&self, lines: &[Value]) {
        let mut file = File::options()
            .append(true)
            .create(true)
            .open(&self.path)
            .unwrap();
        for line in lines {
            file.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
    }
}

/// When a line was written, in seconds after 08:00.
pub(crate) fn time(second: u32) -> String {
    let (minute, second) = (second / 60, second % 60);
    format!("2026-05-20T08:{minute:02}:{second:02}.000Z")
}

fn line(second: u32, kind: &str, payload: &Value) -> Value {
    json!({"timestamp": time(second), "type": kind, "payload": payload})
}

/// How a session begins; it works in `proj`.
pub(crate) fn meta(library: &Library, second: u32, session: &str) -> Value {
    let payload = json!({"id": session, "timestamp": time(second), "cwd": full(library, "proj"), "originator": "codex_cli_rs",
        "cli_version": "0.99.0", "model_provider": "some", "source": "cli"});
    line(second, "session_meta", &payload)
}

/// How a turn begins.
pub(crate) fn turn(library: &Library, second: u32, id: &str) -> Value {
    let payload = json!({"turn_id": id, "cwd": full(library, "proj"), "model": "some-model"});
    line(second, "turn_context", &payload)
}

/// Somebody says something.
pub(crate) fn message(second: u32, role: &str, text: &str) -> Value {
    let part = if role == "user" {
        "input_text"
    } else {
        "output_text"
    };
    let content = json!([{"type": part, "text": text}]);
    line(
        second,
        "response_item",
        &json!({"type": "message", "role": role, "content": content}),
    )
}

/// What Codex puts in for `$name`.
pub(crate) fn block(name: &str, file: &str) -> String {
    format!(
        "<skill>\n<name>{name}</name>\n<path>{file}</path>\n---\nname: {name}\n---\n# Steps\n</skill>"
    )
}

/// The model runs a command.
pub(crate) fn run(second: u32, id: &str, arguments: &Value) -> Value {
    let payload = json!({"type": "function_call", "name": "exec_command", "call_id": id, "arguments": arguments.to_string()});
    line(second, "response_item", &payload)
}

/// The model reads a file.
pub(crate) fn cat(second: u32, id: &str, file: &str) -> Value {
    run(second, id, &json!({"cmd": format!("cat '{file}'")}))
}

/// How a command ended.
pub(crate) fn ended(second: u32, id: &str, exit_code: i32) -> Value {
    let payload = json!({"type": "exec_command_end", "call_id": id, "exit_code": exit_code, "aggregated_output": "x"});
    line(second, "event_msg", &payload)
}

/// What a command printed.
pub(crate) fn printed(second: u32, id: &str, text: &str) -> Value {
    let payload = json!({"type": "function_call_output", "call_id": id, "output": text});
    line(second, "response_item", &payload)
}

/// An absolute path.
pub(crate) fn full(library: &Library, rel: &str) -> String {
    library.path(rel).to_str().unwrap().to_owned()
}

/// The file of the skill `tea`.
pub(crate) const TEA: &str = "skills/tea/SKILL.md";

/// A library with skills `tea` and `deploy`, and a rollout that has begun its first turn.
pub(crate) fn begun() -> (Library, Rollout) {
    let library = Library::new();
    for name in ["tea", "deploy"] {
        library.skill(name, "there");
        library.write(&format!("skills/{name}/scripts/run.py"), b"print(1)\n");
    }
    library.sync();
    let rollout = Rollout::new(&library, SESSION);
    rollout.add(&[meta(&library, 0, SESSION), turn(&library, 1, "turn-1")]);
    (library, rollout)
}

/// Imports Codex' home and returns the report.
pub(crate) fn import(library: &Library) -> Value {
    library.json(&["import", "codex"])
}

/// New and known events of a report.
pub(crate) fn events(report: &Value) -> (u64, u64) {
    let count = |key: &str| report["events"][key].as_u64().unwrap();
    (count("new"), count("known"))
}

/// Name, trigger and end of each event, in the order of time.
pub(crate) fn uses(library: &Library) -> String {
    library
        .sql(r#"SELECT name, "trigger", coalesce(ok, 'open') FROM v_usage ORDER BY at, event_id"#)
}

/// Uses of each skill that was used.
pub(crate) fn counted(library: &Library) -> String {
    library.sql("SELECT group_concat(name || use_count, ' ') FROM (SELECT * FROM v_skill WHERE use_count > 0 ORDER BY name)")
}

/// The counters are those of the events.
pub(crate) fn assert_healthy(library: &Library) {
    let report = library.json(&["doctor"]);
    assert_eq!(report["healthy"], true, "{report}");
}

/// Each test crate uses part of this. Naming all of it keeps the rest from counting as dead code.
const _: () = {
    _ = (SESSION, FORK, TEA);
    _ = (Rollout::new, Rollout::add);
    _ = (time, meta, turn, message, block, run, cat, ended, printed);
    _ = (full, begun, import, events, uses, counted, assert_healthy);
    _ = |rollout: Rollout| rollout.path;
};
