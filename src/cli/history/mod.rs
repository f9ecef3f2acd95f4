//! The commands that show, compare and take back what was changed.

pub(super) mod backup;
pub(super) mod diff;
pub(super) mod log;
pub(super) mod proposals;
pub(super) mod purge;
pub(super) mod snapshot;
pub(super) mod undo;

use serde_json::{Value, json};

use crate::store::{ChangeRow, ChangedFile, Held};

/// A change as data.
pub(super) fn change_object(change: &ChangeRow) -> Value {
    let skills: Vec<Value> = change
        .parts
        .iter()
        .map(|part| {
            json!({
                "revision": part.revision, "id": part.skill, "name": part.name, "title": part.title,
                "from": part.from, "to": part.to,
                "files": part.files.iter().map(file_object).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "id": change.id, "at": change.at, "action": change.action, "outcome": change.outcome, "strategy": change.strategy,
        "problem": change.problem, "message": change.message, "actor": change.actor, "session": change.session,
        "curator_run": change.curator_run, "reason": change.reason, "undoes": change.undoes, "undone_by": change.undone_by,
        "snapshot": change.snapshot, "source": change.source, "skills": skills,
    })
}

fn file_object(file: &ChangedFile) -> Value {
    let side = |held: &Held| match (held.is_nothing(), held.mode) {
        (true, _) => Value::Null,
        (false, mode) => {
            json!({"hash": held.hash, "mode": mode.map(|mode| format!("{mode:o}")), "link": held.link})
        }
    };
    json!({"path": file.path, "moved_from": file.moved_from, "before": side(&file.before), "after": side(&file.after)})
}
