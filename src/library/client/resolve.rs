//! From a client's places to folders on this machine, and from copies of skills to those the client
//! loads. Pure: the environment and the file system are asked through [`Surroundings`] only.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{Client, Place, SameName, Scope};

/// What the resolver needs to know about the caller; filled by `config`, the only reader of the
/// environment.
pub struct Surroundings<'a> {
    /// The user's home folder, absolute.
    pub home: &'a Path,
    /// The folder the client is thought to run in, absolute.
    pub cwd: &'a Path,
    /// Looks up an environment variable; an empty value counts as unset.
    pub env: &'a dyn Fn(&str) -> Option<PathBuf>,
    /// Tells whether a folder holds `.git`, as a folder or (in a worktree) as a file.
    pub is_repo_root: &'a dyn Fn(&Path) -> bool,
}

/// A folder one client looks for skills in; it need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRoot {
    /// Id of the client.
    pub client: String,
    /// The folder whose subfolders are skills.
    pub path: PathBuf,
    /// Whose skills it holds.
    pub scope: Scope,
    /// Place in the client's order; 0 wins.
    pub rank: u32,
    /// How many folders below `path` a skill may lie, itself counted; `None` is any depth.
    pub max_depth: Option<u32>,
    /// Whether its skills are the user's to change.
    pub writable: bool,
    /// Whether the client loads a skill folder here that is a link.
    pub follows_links: bool,
}

/// One copy of a skill, as seen by [`loaded`].
#[derive(Clone, Copy, Debug)]
pub struct Copy<'a> {
    /// The name copies are compared by.
    pub name: &'a str,
    /// The absolute skill folder, the one that holds `SKILL.md`.
    pub folder: &'a Path,
    /// Whether the folder is a link: some clients do not follow those.
    pub is_linked: bool,
}

/// Returns the folders a client looks into, best rank first and each path once.
///
/// A project place that has ancestors is looked for in `cwd` and every folder above it up to the
/// repository root, nearest first; outside a repository only in `cwd`.
pub fn roots(client: &Client, around: &Surroundings) -> Vec<ClientRoot> {
    let ancestors = project_folders(around);
    let mut roots: Vec<ClientRoot> = Vec::new();
    // Neighbouring ancestor places are walked together: a nearer folder beats a farther one,
    // whichever of the client's names for it they use.
    for places in client.places.chunk_by(|a, b| a.ancestors && b.ancestors) {
        let walks = places.iter().any(|place| place.ancestors);
        for folder in ancestors.iter().take(if walks { usize::MAX } else { 1 }) {
            for place in places {
                let path = expand(&place.path, folder, around);
                if roots.iter().all(|root| root.path != path) {
                    let rank = u32::try_from(roots.len()).unwrap_or(u32::MAX);
                    roots.push(root(client, place, path, rank));
                }
            }
        }
    }
    roots
}

/// Returns the indices of the copies the client would load, best first, for each name by the
/// client's own rule.
///
/// A copy outside every root of the client, deeper than it looks or below a folder it skips is never
/// loaded. Copies of one name in one root are told apart by path.
///
/// Paths are compared as text: `home`, `cwd` and the folders must be absolute and spelled alike, so
/// canonicalise `home`, `cwd` and the root each copy was found in, and keep the copy's path below
/// that root: a linked skill folder lies where the client finds it, not where the link leads. When
/// a client's root may itself be a link, canonicalise [`roots`] and use [`loaded_from`].
pub fn loaded(client: &Client, around: &Surroundings, copies: &[Copy]) -> Vec<usize> {
    loaded_from(client, &roots(client, around), copies)
}

/// Like [`loaded`], for roots the caller has canonicalised or added to.
pub fn loaded_from(client: &Client, roots: &[ClientRoot], copies: &[Copy]) -> Vec<usize> {
    let mut found: Vec<(u32, &Path, usize, &str)> = copies
        .iter()
        .enumerate()
        .filter_map(|(index, copy)| {
            let rank = best_rank(client, roots, copy)?;
            Some((rank, copy.folder, index, copy.name))
        })
        .collect();
    found.sort_unstable();
    match client.same_name {
        SameName::KeepAll => {}
        SameName::FirstWins => {
            let mut taken = HashSet::new();
            found.retain(|(_, _, _, name)| taken.insert(*name));
        }
    }
    found.into_iter().map(|(_, _, index, _)| index).collect()
}

/// Returns whether [`expand`] would understand the template.
pub(super) fn is_template(template: &str) -> bool {
    match split_variable(template) {
        Some((name, default, rest)) => {
            !name.is_empty() && (default == "~" || is_template(default)) && rest.starts_with('/')
        }
        None => ["./", "~/", "/"]
            .iter()
            .any(|start| template.starts_with(start)),
    }
}

fn root(client: &Client, place: &Place, path: PathBuf, rank: u32) -> ClientRoot {
    ClientRoot {
        client: client.id.clone(),
        path,
        scope: place.scope,
        rank,
        max_depth: client.max_depth,
        writable: place.scope.is_writable(),
        follows_links: place.follows_links.unwrap_or(client.follows_links),
    }
}

/// The current folder and those above it up to the repository root. Without a repository nothing
/// says where the project ends, and clients stay where they are.
fn project_folders<'a>(around: &Surroundings<'a>) -> Vec<&'a Path> {
    let above = around
        .cwd
        .ancestors()
        .position(|folder| (around.is_repo_root)(folder));
    around
        .cwd
        .ancestors()
        .take(above.unwrap_or_default() + 1)
        .collect()
}

fn expand(template: &str, folder: &Path, around: &Surroundings) -> PathBuf {
    if let Some((name, default, rest)) = split_variable(template) {
        let base = match (around.env)(name) {
            // Clients resolve a relative value against the folder they start in.
            Some(value) if !value.as_os_str().is_empty() => around.cwd.join(value),
            Some(_) | None => expand(default, folder, around),
        };
        return base.join(rest.trim_start_matches('/'));
    }
    match template.split_once('/') {
        Some(("~", rest)) => around.home.join(rest),
        Some((".", rest)) => folder.join(rest),
        None if template == "~" => around.home.to_owned(),
        Some(_) | None => PathBuf::from(template),
    }
}

/// Splits `${NAME:-default}rest`.
fn split_variable(template: &str) -> Option<(&str, &str, &str)> {
    let (variable, rest) = template.strip_prefix("${")?.split_once('}')?;
    let (name, default) = variable.split_once(":-")?;
    Some((name, default, rest))
}

fn best_rank(client: &Client, roots: &[ClientRoot], copy: &Copy) -> Option<u32> {
    roots
        .iter()
        .filter(|root| root.follows_links || !copy.is_linked)
        .filter(|root| reaches(client, root, copy.folder))
        .map(|root| root.rank)
        .min()
}

fn reaches(client: &Client, root: &ClientRoot, folder: &Path) -> bool {
    let Ok(below) = folder.strip_prefix(&root.path) else {
        return false;
    };
    let depth = below.components().count();
    depth > 0
        && root
            .max_depth
            .is_none_or(|max| u32::try_from(depth).is_ok_and(|depth| depth <= max))
        && !below
            .iter()
            .any(|name| is_skipped(client, &name.to_string_lossy()))
}

fn is_skipped(client: &Client, name: &str) -> bool {
    client.skips.iter().any(|skip| match skip.as_str() {
        ".*" => name.starts_with('.'),
        exact => name == exact,
    })
}

#[cfg(test)]
mod tests;
