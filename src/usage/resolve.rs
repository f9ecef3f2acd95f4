//! Finds the skill a call meant: by the folder the client says it loaded, else by name, and among copies
//! of one name by what that client loads in that project.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::library::client::{self, ClientRoot, SameName};
use crate::store::{NamedSkill, Store};

/// A call as somebody made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Call<'a> {
    /// The name, perhaps with a plugin in front: `plugin:skill`.
    pub name: &'a str,
    /// The folder the client says it loaded.
    pub path: Option<&'a str>,
    /// The client, by its id.
    pub client: Option<&'a str>,
    /// The folder that was worked in.
    pub project: Option<&'a str>,
}

/// What a call meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meant {
    /// This skill.
    Skill(NamedSkill),
    /// No skill of the library.
    Unknown,
    /// One of these, and nothing says which.
    Several(Vec<NamedSkill>),
}

impl Meant {
    /// The skill, where there is one.
    #[must_use]
    pub fn skill(&self) -> Option<&NamedSkill> {
        match self {
            Self::Skill(skill) => Some(skill),
            Self::Unknown | Self::Several(_) => None,
        }
    }
}

/// Tells the folders a client looks into when it runs in a project; they exist or not.
pub type Roots<'r> = &'r dyn Fn(&str, Option<&Path>) -> Vec<ClientRoot>;

/// Client, path, project and name of a call: what decides its answer.
type Key = (Option<String>, Option<String>, Option<String>, String);

/// Finds skills, remembering what it found: a history calls the same few names over and over.
pub struct Resolver<'r> {
    roots: Roots<'r>,
    known: HashMap<Key, Meant>,
    folders: HashMap<(String, Option<String>), Vec<ClientRoot>>,
}

/// Answers kept before all are forgotten: bounds the memory of an import.
const MOST_KNOWN: usize = 50_000;

impl<'r> Resolver<'r> {
    /// Makes a resolver that knows nothing yet.
    #[must_use]
    pub fn new(roots: Roots<'r>) -> Self {
        Self {
            roots,
            known: HashMap::new(),
            folders: HashMap::new(),
        }
    }

    /// Finds what a call meant.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn resolve(&mut self, store: &Store, call: Call<'_>) -> Result<Meant> {
        let own = |text: Option<&str>| text.map(str::to_owned);
        let key = (
            own(call.client),
            own(call.path),
            own(call.project),
            call.name.to_owned(),
        );
        if let Some(meant) = self.known.get(&key) {
            return Ok(meant.clone());
        }
        let meant = self.ask(store, call)?;
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(key, meant.clone());
        Ok(meant)
    }

    fn ask(&mut self, store: &Store, call: Call<'_>) -> Result<Meant> {
        if let Some(path) = call.path {
            match by_path(store, path)? {
                Place::Of(skill) => return Ok(Meant::Skill(skill)),
                // It ran from a folder that is there and that this library does not know.
                Place::Elsewhere => return Ok(Meant::Unknown),
                Place::Gone => {}
            }
        }
        let found = self.by_name(store, call)?;
        Ok(self.choose(found, call))
    }

    /// Finds the skills a name may stand for: the name itself, the end of a path, or `plugin:skill`.
    fn by_name(&mut self, store: &Store, call: Call<'_>) -> Result<Vec<NamedSkill>> {
        let name = call.name;
        let found = store.skills_named(name)?;
        if !found.is_empty() {
            return Ok(found);
        }
        if let Some((space, last)) = name.rsplit_once(':') {
            // A plugin's skill is not the user's skill of the same name.
            let mut found = store.skills_named(last)?;
            let own = call.client.map(|client| self.folders_of(client, None));
            found.retain(|skill| {
                let is_own = |folder: &ClientRoot| folder.path == Path::new(&skill.root);
                // The user's own folder is that of no package.
                let may_be_package = own.as_ref().is_some_and(|own| !own.iter().any(is_own));
                lies_in(skill, space) || (may_be_package && is_package(skill, space))
            });
            return Ok(found);
        }
        if let Some((_, last)) = name.rsplit_once('/') {
            let mut found = store.skills_named(last)?;
            let tail = format!("/{name}");
            found.retain(|skill| format!("/{}", skill.rel_path).ends_with(&tail));
            return Ok(found);
        }
        Ok(Vec::new())
    }

    /// Chooses among the skills of a name. Live ones come before archived ones, these before vanished ones.
    fn choose(&mut self, found: Vec<NamedSkill>, call: Call<'_>) -> Meant {
        let rank = |skill: &NamedSkill| (skill.is_missing, skill.is_archived);
        let Some(best) = found.iter().map(rank).min() else {
            return Meant::Unknown;
        };
        let mut found: Vec<NamedSkill> = found
            .into_iter()
            .filter(|skill| rank(skill) == best)
            .collect();
        if let Some(id) = call.client.and_then(client::find) {
            let folders = self.folders_of(&id.id, call.project);
            match loaded(id, &folders, &found) {
                Loaded::One(index) => return Meant::Skill(found.swap_remove(index)),
                Loaded::Several(indices) => {
                    let mut index = 0;
                    found.retain(|_| {
                        index += 1;
                        indices.contains(&(index - 1))
                    });
                }
                // Another client's folder is not where this one found it.
                Loaded::None => found.retain(|skill| {
                    skill
                        .root_client
                        .as_ref()
                        .is_none_or(|owner| *owner == id.id)
                }),
            }
        }
        by_priority(found)
    }

    fn folders_of(&mut self, client: &str, project: Option<&str>) -> Vec<ClientRoot> {
        let key = (client.to_owned(), project.map(str::to_owned));
        let roots = self.roots;
        self.folders
            .entry(key)
            .or_insert_with(|| {
                let mut folders = roots(client, project.map(Path::new));
                for folder in &mut folders {
                    if let Ok(real) = folder.path.canonicalize() {
                        folder.path = real;
                    }
                }
                folders
            })
            .clone()
    }
}

enum Loaded {
    One(usize),
    Several(Vec<usize>),
    None,
}

/// Says which of the copies a client loads.
fn loaded(client: &client::Client, folders: &[ClientRoot], found: &[NamedSkill]) -> Loaded {
    let paths: Vec<PathBuf> = found.iter().map(|skill| skill.path().into()).collect();
    let copies: Vec<client::Copy<'_>> = paths
        .iter()
        .map(|path| client::Copy {
            // Copies found under one name compete whatever each declares.
            name: "",
            folder: path,
            is_linked: path.is_symlink(),
        })
        .collect();
    let indices = client::loaded_from(client, folders, &copies);
    match (indices.as_slice(), client.same_name) {
        ([], _) => Loaded::None,
        ([first], _) | ([first, ..], SameName::FirstWins) => Loaded::One(*first),
        (_, SameName::KeepAll) => Loaded::Several(indices),
    }
}

fn by_priority(mut found: Vec<NamedSkill>) -> Meant {
    let Some(best) = found.iter().map(|skill| skill.priority).min() else {
        return Meant::Unknown;
    };
    // Each client ranks its own folders; ranks of two clients say nothing of each other.
    let owner = found.first().and_then(|skill| skill.root_client.clone());
    let is_comparable = found.iter().all(|skill| skill.root_client == owner);
    let mut first = found
        .iter()
        .filter(|skill| skill.priority == best || !is_comparable);
    match (first.next().cloned(), first.next()) {
        (Some(only), None) => Meant::Skill(only),
        _ => {
            found.sort_by_key(|skill| skill.priority);
            Meant::Several(found)
        }
    }
}

enum Place {
    Of(NamedSkill),
    Elsewhere,
    Gone,
}

fn by_path(store: &Store, path: &str) -> Result<Place> {
    let path = path.trim_end_matches('/');
    let real = Path::new(path).canonicalize().ok();
    let spellings = [Some(path.to_owned()), real.as_deref().map(text_of)];
    for spelling in spellings.into_iter().flatten() {
        let folder = spelling.rsplit('/').next().unwrap_or(&spelling);
        let mut same = store.skills_named(folder)?.into_iter();
        if let Some(skill) = same.find(|skill| skill.path() == spelling) {
            return Ok(Place::Of(skill));
        }
    }
    // A skill that was moved within sight ran from where it was then.
    if real.is_none()
        && let Some(skill) = store.skill_moved_from(path)?
    {
        return Ok(Place::Of(skill));
    }
    // A link below a root is a skill at the link's own place.
    if let Some(real) = real {
        let folder = path.rsplit('/').next().unwrap_or(path);
        let leads_there = |skill: &NamedSkill| {
            Path::new(&skill.path())
                .canonicalize()
                .is_ok_and(|other| other == real)
        };
        return Ok(
            match store.skills_named(folder)?.into_iter().find(leads_there) {
                Some(skill) => Place::Of(skill),
                None => Place::Elsewhere,
            },
        );
    }
    Ok(Place::Gone)
}

fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Whether a skill belongs to a plugin of this name: a folder above the skill within its root, or above
/// that among plugins.
fn lies_in(skill: &NamedSkill, space: &str) -> bool {
    let space = space.replace(':', "/");
    let space = space.trim_matches('/');
    let holds = |folders: &str| format!("/{folders}/").contains(&format!("/{space}/"));
    let above = skill
        .rel_path
        .rsplit_once('/')
        .map_or("", |(above, _)| above);
    let root = skill.root.as_str();
    let plugins = root.split_once("/plugins/").map_or("", |(_, below)| below);
    holds(above)
        || holds(plugins)
        || (skill.root_kind == "plugin" && holds(root.trim_start_matches('/')))
}

/// Whether a skill lies in the client's folder of a package of this name: `apps/web/.claude/skills`.
fn is_package(skill: &NamedSkill, space: &str) -> bool {
    let package = skill
        .root
        .rsplit_once("/.")
        .map_or("", |(package, _)| package);
    package.ends_with(&format!("/{}", space.trim_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(id: i64, path: &str, priority: i64) -> NamedSkill {
        NamedSkill {
            id,
            name: "deploy".to_owned(),
            rel_path: ".".to_owned(),
            root: path.to_owned(),
            root_kind: "local".to_owned(),
            root_client: None,
            priority,
            is_archived: false,
            is_missing: false,
            content_hash: None,
        }
    }

    fn chosen(found: &[NamedSkill], client: Option<&str>) -> Option<i64> {
        let none = |_: &str, _: Option<&Path>| Vec::new();
        let mut resolver = Resolver::new(&none);
        let call = Call {
            name: "deploy",
            client,
            ..Call::default()
        };
        resolver
            .choose(found.to_vec(), call)
            .skill()
            .map(|skill| skill.id)
    }

    #[test]
    fn the_better_root_wins_and_equals_are_not_guessed() {
        let (a, b, c) = (skill(1, "/a", 0), skill(2, "/b", 0), skill(3, "/c", -1));
        assert_eq!(chosen(&[a.clone(), b.clone()], None), None);
        assert_eq!(chosen(&[a, b, c], None), Some(3));
    }

    #[test]
    fn a_live_skill_comes_before_one_that_vanished() {
        let gone = NamedSkill {
            is_missing: true,
            ..skill(1, "/a", 0)
        };
        assert_eq!(chosen(&[gone.clone(), skill(2, "/b", 0)], None), Some(2));
        assert_eq!(chosen(&[gone], None), Some(1));
    }

    #[test]
    fn another_clients_folder_is_not_where_this_one_found_it() {
        let other = NamedSkill {
            root_client: Some("codex".to_owned()),
            ..skill(1, "/a", 0)
        };
        assert_eq!(
            chosen(std::slice::from_ref(&other), Some("claude-code")),
            None
        );
        assert_eq!(chosen(&[other], Some("codex")), Some(1));
    }

    #[test]
    fn a_plugin_is_a_folder_above_the_skill() {
        let at = |root: &str, rel_path: &str, kind: &str| NamedSkill {
            root_kind: kind.to_owned(),
            rel_path: rel_path.to_owned(),
            ..skill(1, root, 0)
        };
        let plugin = at("/srv/u/.claude/plugins/pack/skills", "lint", "local");
        assert!(lies_in(&plugin, "pack"));
        assert!(lies_in(&at("/opt/pack/skills", "lint", "plugin"), "pack"));
        assert!(lies_in(&at("/srv/skills", "pack/lint", "local"), "pack"));
        let package = at("/repo/apps/web/.claude/skills", "deploy", "local");
        assert!(is_package(&package, "apps/web") && !lies_in(&package, "apps/web"));
        // The skill's own folder, and whatever lies above its root, is no plugin.
        let own = at("/srv/u/.claude/skills", "lint", "local");
        for space in ["lint", "srv", "u/.claude", "skills", "pack"] {
            assert!(!lies_in(&own, space), "{space}");
        }
    }
}
