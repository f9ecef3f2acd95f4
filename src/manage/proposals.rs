//! Changes that wait for a person: written down as they were asked for, asked again when they are approved.

use std::path::Path;

use serde_json::{Value, json};

use super::paths::split;
use super::plan::Plan;
use super::rendered;
use super::request::{Request, Who};
use super::step::Step;
use crate::error::{Error, Result};
use crate::hash::hash_of;
use crate::library::Content;
use crate::library::write::Folder;
use crate::store::{Actor, NewProposal, ProposalRow, Store};
use crate::time::Timestamp;

/// How long a proposal waits.
const DAYS: i64 = 30;

/// Writes a proposal down; one that asks for the same is asked for once more. Returns its id.
///
/// # Errors
/// [`Error::Database`].
pub(super) fn propose(
    store: &mut Store,
    (who, request): (&Who, &Request),
    plan: &Plan,
    why: &str,
    now: Timestamp,
) -> Result<i64> {
    let diff = rendered::diff(store, plan)?;
    let text = serde_json::to_string(request).unwrap_or_default();
    let fingerprint = hash_of(format!("{}\0{text}", who.actor.as_str()).as_bytes());
    let base = base_of(plan).to_string();
    let new = NewProposal {
        action: request.action().as_str(),
        skill: request.skill(),
        name: plan.parts.first().map_or("", |part| part.name.as_str()),
        request: &text,
        base: &base,
        diff: &diff,
        why,
        actor: who.actor.as_str(),
        session: who.session.as_deref(),
        reason: who.reason.as_deref(),
        fingerprint: &fingerprint,
        expires_at: now.days_before(-DAYS),
    };
    store.append(|tx| tx.propose(&new, now))
}

/// What stands under every path a plan touches, before it.
fn base_of(plan: &Plan) -> Value {
    let word = |content: &Content| match content {
        Content::File { hash, .. } => hash.clone(),
        Content::Link { target } => format!("link {target}"),
    };
    let mut base = serde_json::Map::new();
    for step in &plan.steps {
        let path = step.path().to_string_lossy().into_owned();
        let before = match step {
            Step::File { before, .. } => before.as_ref().map(word),
            Step::Tree { before, .. } => before.as_ref().map(|entries| {
                hash_of(
                    serde_json::to_string(entries)
                        .unwrap_or_default()
                        .as_bytes(),
                )
            }),
            Step::Move { from, .. } => Some(hash_of_tree(from)),
        };
        base.insert(path, json!(before));
    }
    Value::Object(base)
}

/// What is in a folder, in one hash; what cannot be read counts as nothing.
fn hash_of_tree(folder: &Path) -> String {
    let tree = split(folder).and_then(|(parent, name)| {
        let opened = Folder::open(parent).map_err(Error::io("open", parent))?;
        opened.tree(name).map_err(Error::io("read", folder))
    });
    let text = serde_json::to_string(&tree.unwrap_or_default()).unwrap_or_default();
    hash_of(text.as_bytes())
}

/// Refuses when a file is not what a proposal was based on.
///
/// # Errors
/// [`Error::Conflict`] naming the files.
pub(super) fn check_base(proposal: &ProposalRow, plan: &Plan) -> Result<()> {
    let then: Value = serde_json::from_str(&proposal.base).unwrap_or_default();
    let now = base_of(plan);
    let (Value::Object(then), Value::Object(now)) = (then, now) else {
        return Ok(());
    };
    let moved: Vec<&String> = then
        .keys()
        .chain(now.keys().filter(|path| !then.contains_key(*path)))
        .filter(|path| then.get(*path) != now.get(*path))
        .collect();
    let Some(first) = moved.first() else {
        return Ok(());
    };
    let others = match moved.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    Err(Error::Conflict {
        path: first.into(),
        message: format!(
            "it changed since proposal {} was made{others}; the proposal goes on waiting",
            proposal.id
        ),
    })
}

/// Who made a proposal.
///
/// # Errors
/// [`Error::Denied`] for one written by a newer skilldb.
pub(super) fn who_of(proposal: &ProposalRow) -> Result<Who> {
    let actor = Actor::ALL
        .into_iter()
        .find(|actor| actor.as_str() == proposal.actor);
    Ok(Who {
        actor: actor.ok_or_else(|| unreadable(proposal))?,
        session: proposal.session.clone(),
        reason: proposal.reason.clone(),
    })
}

/// What was asked for.
///
/// # Errors
/// [`Error::Denied`] for one written by a newer skilldb.
pub(super) fn request_of(proposal: &ProposalRow) -> Result<Request> {
    serde_json::from_str(&proposal.request).map_err(|_| unreadable(proposal))
}

fn unreadable(proposal: &ProposalRow) -> Error {
    Error::Denied {
        code: "proposal-unreadable",
        message: format!(
            "proposal {} was written by another version of skilldb",
            proposal.id
        ),
        hint: Some("reject it and ask for the change again".to_owned()),
    }
}
