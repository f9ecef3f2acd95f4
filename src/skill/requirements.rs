//! The conditions and requirements that clients state in their own corners of the header, in one
//! vocabulary.

use super::fields::Reader;
use super::node::{Entry, Node, Value, find};

/// When a client offers a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What is asked for.
    pub kind: ConditionKind,
    /// Its value, e.g. `macos` or a tool's name.
    pub value: String,
}

/// What a condition asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConditionKind {
    /// The operating system.
    Platform,
    /// The kind of environment the agent runs in.
    Environment,
    /// A tool must be there.
    RequiresTool,
    /// A set of tools must be there.
    RequiresToolset,
    /// The skill stands in when a tool is not there.
    FallbackForTool,
    /// The skill stands in when a set of tools is not there.
    FallbackForToolset,
}

impl ConditionKind {
    /// Returns the stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Environment => "environment",
            Self::RequiresTool => "requires_tool",
            Self::RequiresToolset => "requires_toolset",
            Self::FallbackForTool => "fallback_for_tool",
            Self::FallbackForToolset => "fallback_for_toolset",
        }
    }
}

/// Something outside the skill that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// What kind of thing it is.
    pub kind: RequirementKind,
    /// Its name: a variable, a path or a command.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether the skill is useless without it.
    pub required: bool,
}

/// The kinds of things a skill needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequirementKind {
    /// An environment variable.
    Env,
    /// A file with credentials.
    CredentialFile,
    /// A command on the path.
    Command,
}

impl RequirementKind {
    /// Returns the stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::CredentialFile => "credential_file",
            Self::Command => "command",
        }
    }
}

/// A setting a skill asks its user for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigKey {
    /// The dotted key.
    pub key: String,
    /// What it sets.
    pub description: Option<String>,
    /// The value when none is given.
    pub default: Option<String>,
    /// The question to ask.
    pub prompt: Option<String>,
}

/// Reads the conditions of all clients.
pub(super) fn conditions(entries: &[Entry<'_>], reader: &mut Reader<'_, '_>) -> Vec<Condition> {
    use ConditionKind::{
        Environment, FallbackForTool, FallbackForToolset, Platform, RequiresTool, RequiresToolset,
    };
    let sources = [
        (Platform, "platforms"),
        (Platform, "metadata.hermes.platforms"),
        (Platform, "metadata.openclaw.os"),
        (Environment, "environments"),
        (Environment, "metadata.hermes.environments"),
        (RequiresTool, "metadata.hermes.requires_tools"),
        (RequiresToolset, "metadata.hermes.requires_toolsets"),
        (FallbackForTool, "metadata.hermes.fallback_for_tools"),
        (FallbackForToolset, "metadata.hermes.fallback_for_toolsets"),
    ];
    let mut conditions = Vec::new();
    for (kind, path) in sources {
        for value in reader.list(at_path(entries, path), path) {
            let value = if kind == Platform {
                platform(value)
            } else {
                value
            };
            let condition = Condition { kind, value };
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
    }
    conditions
}

/// Reads the requirements of all clients.
pub(super) fn requirements(entries: &[Entry<'_>], reader: &mut Reader<'_, '_>) -> Vec<Requirement> {
    use RequirementKind::{Command, CredentialFile, Env};
    let sources = [
        (Env, "required_environment_variables", true),
        (Env, "prerequisites.env_vars", true),
        (Env, "metadata.openclaw.requires.env", true),
        (Env, "metadata.openclaw.primaryEnv", true),
        (Env, "metadata.openclaw.envVars", true),
        (Command, "prerequisites.commands", true),
        (Command, "metadata.openclaw.requires.bins", true),
        (Command, "metadata.openclaw.requires.anyBins", false),
        (CredentialFile, "required_credential_files", true),
    ];
    let mut all = Vec::new();
    for (kind, path, required) in sources {
        let Some(node) = at_path(entries, path) else {
            continue;
        };
        let one = std::slice::from_ref(node);
        let items = match &node.value {
            Value::List(items, _) => items.as_slice(),
            Value::Null | Value::Text(..) | Value::Map(..) => one,
        };
        for item in items {
            if item.entries().is_some() {
                let found = described(item, kind, required, path, reader);
                found.into_iter().for_each(|found| add(&mut all, found));
            } else {
                for name in reader.list(Some(item), path) {
                    add(
                        &mut all,
                        Requirement {
                            kind,
                            name,
                            description: None,
                            required,
                        },
                    );
                }
            }
        }
    }
    all
}

/// Reads the settings: a list of maps, one such map, or a map from key to settings.
pub(super) fn config(node: Option<&Node<'_>>, reader: &mut Reader<'_, '_>) -> Vec<ConfigKey> {
    const PATH: &str = "metadata.hermes.config";
    let Some(node) = node else { return Vec::new() };
    let found: Vec<Option<ConfigKey>> = match &node.value {
        Value::Null => Vec::new(),
        Value::List(items, _) => items
            .iter()
            .map(|item| setting(item, None, reader))
            .collect(),
        Value::Map(..) if node.get("key").is_some() => vec![setting(node, None, reader)],
        Value::Map(entries, _) => entries
            .iter()
            .map(|entry| setting(&entry.value, Some(&entry.key), reader))
            .collect(),
        Value::Text(..) => {
            reader.wrong_type(node, PATH, "a list of maps");
            Vec::new()
        }
    };
    let mut keys: Vec<ConfigKey> = Vec::new();
    for setting in found.into_iter().flatten() {
        if !keys.iter().any(|earlier| earlier.key == setting.key) {
            keys.push(setting);
        }
    }
    keys
}

fn setting(node: &Node<'_>, key: Option<&str>, reader: &mut Reader<'_, '_>) -> Option<ConfigKey> {
    const PATH: &str = "metadata.hermes.config";
    let key = key.map(str::trim).or_else(|| node.get("key")?.trimmed())?;
    // `key: value` is short for a setting with only a default.
    let default = if node.entries().is_some() {
        node.get("default")
    } else {
        Some(node)
    };
    Some(ConfigKey {
        key: key.to_owned(),
        description: reader.text(node.get("description"), PATH),
        default: reader.text(default, PATH),
        prompt: reader.text(node.get("prompt"), PATH),
    })
}

fn described(
    item: &Node<'_>,
    kind: RequirementKind,
    required: bool,
    path: &str,
    reader: &mut Reader<'_, '_>,
) -> Option<Requirement> {
    let first = |keys: &[&str]| keys.iter().find_map(|key| item.get(key)?.trimmed());
    let name = match kind {
        RequirementKind::CredentialFile => first(&["path", "name"]),
        RequirementKind::Env | RequirementKind::Command => first(&["name", "env_var", "key"]),
    };
    let Some(name) = name else {
        reader.wrong_type(item, path, "entries with a `name`");
        return None;
    };
    let description = first(&["description", "prompt", "help"]).map(str::to_owned);
    let optional = reader
        .boolean(item.get("optional"), path)
        .map(|optional| !optional);
    let stated = reader.boolean(item.get("required"), path).or(optional);
    Some(Requirement {
        kind,
        name: name.to_owned(),
        description,
        required: stated.unwrap_or(required),
    })
}

/// Adds a requirement, or what it says beyond an earlier one of that name.
fn add(all: &mut Vec<Requirement>, found: Requirement) {
    let same = |other: &&mut Requirement| other.kind == found.kind && other.name == found.name;
    match all.iter_mut().find(same) {
        Some(earlier) => {
            earlier.required |= found.required;
            earlier.description = earlier.description.take().or(found.description);
        }
        None => all.push(found),
    }
}

/// Follows a dotted path; OpenClaw's section may carry one of its older names.
fn at_path<'n, 'a>(entries: &'n [Entry<'a>], path: &str) -> Option<&'n Node<'a>> {
    let mut steps = path.split('.');
    let mut node = find(entries, steps.next()?)?;
    for step in steps {
        let aliases: &[&str] = if step == "openclaw" {
            &["clawdbot", "clawdis"]
        } else {
            &[]
        };
        let found = node
            .get(step)
            .or_else(|| aliases.iter().find_map(|alias| node.get(alias)));
        node = found?;
    }
    Some(node)
}

fn platform(value: String) -> String {
    match value.to_ascii_lowercase().as_str() {
        "darwin" => "macos".to_owned(),
        "win32" => "windows".to_owned(),
        _ => value,
    }
}
