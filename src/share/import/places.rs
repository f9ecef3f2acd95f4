//! Which folder's skill a path in a Codex command belongs to.

use std::path::Path;

use super::shell_rule::Kind;
use crate::store::Store;

/// Says which skill a file belongs to that a Codex command names: one of the library, or one that lies
/// where Codex looks. Any other SKILL.md is a file somebody works on.
pub(in crate::share) fn codex_skill(
    store: &Store,
    home: &Path,
    path: &str,
    kind: Kind,
) -> Option<String> {
    let path = whole(home, path);
    let found = folders(&path, kind)
        .into_iter()
        .find(|folder| is_skill(store, folder))?;
    Some(found.to_owned())
}

/// The folder that would be the skill's, if it is one.
pub(super) fn candidate(home: &Path, path: &str, kind: Kind) -> Option<String> {
    let path = whole(home, path);
    folders(&path, kind)
        .first()
        .map(|folder| (*folder).to_owned())
}

fn whole(home: &Path, path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(rest) => format!("{}/{rest}", home.display()),
        None => path.to_owned(),
    }
}

/// The folders whose file it may be, nearest first.
fn folders(path: &str, kind: Kind) -> Vec<&str> {
    match kind {
        Kind::SkillFile => path
            .rsplit_once('/')
            .map(|(folder, _)| folder)
            .into_iter()
            .collect(),
        Kind::Script => path
            .rmatch_indices("/scripts/")
            .filter_map(|(at, _)| path.get(..at))
            .collect(),
    }
}

fn is_skill(store: &Store, folder: &str) -> bool {
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let real = Path::new(folder).canonicalize().ok();
    let is_known = store.skills_named(name).is_ok_and(|skills| {
        skills.iter().any(|skill| {
            let own = skill.path();
            own == folder || real.as_deref() == Some(Path::new(&own))
        })
    });
    let is_in_place = ["/.agents/skills/", "/.codex/skills/"]
        .iter()
        .any(|place| folder.contains(place));
    is_known || is_in_place
}
