//! What is known of agent clients: where each looks for skills and which of two copies it loads.
//! The facts are data in `clients.json`; this module reads them and reasons about paths alone. It
//! never opens a folder, reads the environment or asks which client is installed.

mod resolve;

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer};

pub use resolve::{ClientRoot, Copy, Surroundings, loaded, loaded_from, roots};

/// An agent client as `clients.json` describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// The name used on the command line and in the database, such as `claude-code`.
    pub id: String,
    /// The name people know the client by.
    pub title: String,
    /// Other words [`find`] accepts for it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Where it looks, the place that wins first.
    pub places: Vec<Place>,
    /// What it does with two skills of one name.
    pub same_name: SameName,
    /// How many folders below a root a skill may lie, itself counted; `None` is any depth.
    #[serde(default = "guide_depth")]
    pub max_depth: Option<u32>,
    /// Folder names it does not enter; `.*` stands for every name with a leading dot.
    #[serde(default = "guide_skips")]
    pub skips: Vec<String>,
    /// Whether it loads a skill folder that is a link.
    #[serde(default = "links_are_followed")]
    pub follows_links: bool,
    /// What else a reader should know, above all what the data cannot express.
    #[serde(default)]
    pub note: Option<String>,
}

/// One folder, or one folder in each ancestor, a client looks into.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Whose skills these are.
    pub scope: Scope,
    /// Path template: `./` is the project folder, `~` the home, `${NAME:-default}` an environment
    /// variable at the start; anything else is absolute.
    #[serde(deserialize_with = "path_template")]
    pub path: String,
    /// Whether the place exists in every folder from the current one up to the repository root.
    #[serde(default)]
    pub ancestors: bool,
    /// Overrides [`Client::follows_links`] here.
    #[serde(default)]
    pub follows_links: Option<bool>,
}

/// Whose skills a place holds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Set by an administrator for everyone and not to be overridden.
    Managed,
    /// Installed for every user of the machine.
    System,
    /// The user's own, in all projects.
    User,
    /// Kept with one project.
    Project,
    /// Brought by a plugin or extension.
    Plugin,
    /// Shipped with the client.
    Bundled,
}

impl Scope {
    /// Returns whether skills of this scope are the user's to change.
    pub fn is_writable(self) -> bool {
        match self {
            Self::User | Self::Project => true,
            // Their owner overwrites them, so a change made here would not last.
            Self::Managed | Self::System | Self::Plugin | Self::Bundled => false,
        }
    }
}

/// What a client does with two skills of one name.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "kebab-case")]
pub enum SameName {
    /// Loads the copy in the best place and hides the others.
    FirstWins,
    /// Lists them all and leaves the choice to the model.
    KeepAll,
}

static CLIENTS: LazyLock<Vec<Client>> = LazyLock::new(|| {
    let mut clients: Vec<Client> = serde_json::from_str(include_str!("clients.json"))
        .expect("clients.json is part of the program and parsed by its tests");
    clients.sort_by(|a, b| a.id.cmp(&b.id));
    clients
});

/// Returns every known client, sorted by id.
pub fn all() -> &'static [Client] {
    &CLIENTS
}

/// Returns the client of this id or alias; case does not matter.
pub fn find(id_or_alias: &str) -> Option<&'static Client> {
    all()
        .iter()
        .find(|client| words(client).any(|word| word.eq_ignore_ascii_case(id_or_alias)))
}

/// Returns the id closest to a mistyped one, or nothing when none is close.
pub fn suggest(id: &str) -> Option<&'static str> {
    let typed = id.to_lowercase();
    let tolerated = (typed.chars().count() / 3).max(1);
    let (distance, client) = all()
        .iter()
        .flat_map(|client| words(client).map(move |word| (word, client)))
        .map(|(word, client)| (edit_distance(&typed, word), client))
        .min_by_key(|(distance, _)| *distance)?;
    (distance <= tolerated).then_some(client.id.as_str())
}

fn words(client: &Client) -> impl Iterator<Item = &str> {
    std::iter::once(&client.id)
        .chain(&client.aliases)
        .map(String::as_str)
}

/// Levenshtein distance, one row at a time.
fn edit_distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (deleted, a) in from.chars().enumerate() {
        let mut left = deleted + 1;
        let mut diagonal = std::mem::replace(&mut row[0], left);
        for (cell, b) in row.iter_mut().skip(1).zip(to.chars()) {
            left = (diagonal + usize::from(a != b))
                .min(*cell + 1)
                .min(left + 1);
            diagonal = std::mem::replace(cell, left);
        }
    }
    row.last().copied().unwrap_or_default()
}

/// The client guide's bound, taken where a client's own is not known.
fn guide_depth() -> Option<u32> {
    Some(6)
}

/// The folders the client guide says to skip, taken where a client's own list is not known.
fn guide_skips() -> Vec<String> {
    [".git", "node_modules"].map(str::to_owned).to_vec()
}

fn links_are_followed() -> bool {
    true
}

/// Refuses a template the resolver would misread, so that a slip in the data fails on loading.
fn path_template<'de, D: Deserializer<'de>>(data: D) -> Result<String, D::Error> {
    let template = String::deserialize(data)?;
    if resolve::is_template(&template) {
        Ok(template)
    } else {
        Err(serde::de::Error::custom(format!(
            "`{template}` is not a path template"
        )))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn clients_are_sorted_by_id() {
        assert!(all().is_sorted_by(|a, b| a.id < b.id));
    }

    #[test]
    fn no_word_names_two_clients() {
        let mut seen = HashSet::new();
        let twice: Vec<_> = all()
            .iter()
            .flat_map(words)
            .filter(|w| !seen.insert(*w))
            .collect();
        assert_eq!(twice, Vec::<&str>::new());
    }

    #[test]
    fn the_clients_people_use_are_known() {
        let asked = "claude-code codex hermes openclaw copilot gemini-cli goose opencode letta \
                     deepagents cursor cline windsurf roo kilo kiro junie qwen-code trae droid amp \
                     crush continue openhands pi vibe agentskills-guide";
        let unknown: Vec<_> = asked
            .split_whitespace()
            .filter(|id| find(id).is_none())
            .collect();
        assert_eq!(unknown, Vec::<&str>::new());
    }

    #[test]
    fn project_places_and_only_those_start_in_the_project() {
        for client in all() {
            for place in &client.places {
                let in_project = place.path.starts_with("./");
                assert_eq!(
                    place.scope == Scope::Project,
                    in_project,
                    "{} {place:?}",
                    client.id
                );
                assert!(in_project || !place.ancestors, "{} {place:?}", client.id);
            }
        }
    }

    #[test]
    fn a_slip_in_the_data_is_refused() {
        for slip in [
            r#"{"scope": "user", "path": "~/.x/skills", "ancestor": true}"#,
            r#"{"scope": "user", "path": ".x/skills"}"#,
            r#"{"scope": "user", "path": "${X_HOME-~/.x}/skills"}"#,
            r#"{"scope": "owner", "path": "~/.x/skills"}"#,
        ] {
            assert!(serde_json::from_str::<Place>(slip).is_err(), "{slip}");
        }
    }

    #[test]
    fn an_alias_in_any_case_finds_its_client() {
        assert_eq!(
            find("Claude").map(|client| client.id.as_str()),
            Some("claude-code")
        );
        assert!(find("claud").is_none());
    }

    #[test]
    fn a_typo_suggests_the_nearest_id() {
        assert_eq!(suggest("claude-cod"), Some("claude-code"));
        assert_eq!(suggest("clude"), Some("claude-code"));
        assert_eq!(suggest("opncode"), Some("opencode"));
        assert_eq!(suggest("Codx"), Some("codex"));
    }

    #[test]
    fn a_word_far_from_every_id_suggests_nothing() {
        assert_eq!(suggest("spreadsheet"), None);
        assert_eq!(suggest(""), None);
    }

    #[test]
    fn edit_distance_counts_insertions_deletions_and_changes() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "pi"), 2);
        assert_eq!(edit_distance("pi", ""), 2);
        assert_eq!(edit_distance("kilo", "kiro"), 1);
    }
}
