//! What the clients read out of a header, as plain values. Tells of values that no client can read.

use super::code::Code;
use super::findings::Findings;
use super::node::{Entry, Layout, Node, Value, find};
use super::requirements::{self, Condition, ConfigKey, Requirement};

/// What the clients read out of the header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// `license`, a name or a pointer to a file.
    pub license: Option<String>,
    /// `compatibility`, what the skill needs around it.
    pub compatibility: Option<String>,
    /// `version`, or `metadata.version`.
    pub version: Option<String>,
    /// `author`, or `metadata.author`.
    pub author: Option<String>,
    /// `argument-hint`, always as text.
    pub argument_hint: Option<String>,
    /// `when_to_use`.
    pub when_to_use: Option<String>,
    /// `allowed-tools`, one item a tool.
    pub allowed_tools: Vec<String>,
    /// `disable-model-invocation`.
    pub disable_model_invocation: Option<bool>,
    /// `user-invocable`.
    pub user_invocable: Option<bool>,
    /// `metadata.hermes.category`.
    pub category: Option<String>,
    /// `metadata.hermes.tags`, `metadata.tags` and `tags`, each tag once.
    pub tags: Vec<String>,
    /// When a client offers the skill at all.
    pub conditions: Vec<Condition>,
    /// What must be there before the skill works.
    pub requirements: Vec<Requirement>,
    /// `metadata.hermes.config`.
    pub config: Vec<ConfigKey>,
    /// `metadata.hermes.related_skills` and `related_skills`.
    pub related: Vec<String>,
}

impl Fields {
    /// Reads the known fields.
    pub(super) fn read(entries: &[Entry<'_>], findings: &mut Findings<'_>) -> Self {
        let mut reader = Reader { findings };
        let top = |key: &str| find(entries, key);
        let metadata = top("metadata");
        let below = |key: &str| metadata.and_then(|node| node.get(key));
        let hermes = below("hermes");
        let hermes_get = |key: &str| hermes.and_then(|node| node.get(key));
        reader.check_clients(metadata);
        let lists = |reader: &mut Reader<'_, '_>, found: &[(Option<&Node<'_>>, &str)]| {
            let mut all = Vec::new();
            for (node, path) in found {
                reader
                    .list(*node, path)
                    .into_iter()
                    .for_each(|item| add_once(&mut all, item));
            }
            all
        };
        Self {
            license: top("license").and_then(Node::trimmed).map(str::to_owned),
            compatibility: reader.text(top("compatibility"), "compatibility"),
            version: reader
                .text(top("version"), "version")
                .or_else(|| below("version").and_then(Node::trimmed).map(str::to_owned)),
            author: reader
                .text(top("author"), "author")
                .or_else(|| below("author").and_then(Node::trimmed).map(str::to_owned)),
            argument_hint: reader.text(top("argument-hint"), "argument-hint"),
            when_to_use: reader.text(top("when_to_use"), "when_to_use"),
            allowed_tools: reader.tools(top("allowed-tools")),
            disable_model_invocation: reader
                .boolean(top("disable-model-invocation"), "disable-model-invocation"),
            user_invocable: reader.boolean(top("user-invocable"), "user-invocable"),
            category: reader.text(hermes_get("category"), "metadata.hermes.category"),
            tags: lists(
                &mut reader,
                &[
                    (hermes_get("tags"), "metadata.hermes.tags"),
                    (below("tags"), "metadata.tags"),
                    (top("tags"), "tags"),
                ],
            ),
            conditions: requirements::conditions(entries, &mut reader),
            requirements: requirements::requirements(entries, &mut reader),
            config: requirements::config(hermes_get("config"), &mut reader),
            related: lists(
                &mut reader,
                &[
                    (
                        hermes_get("related_skills"),
                        "metadata.hermes.related_skills",
                    ),
                    (top("related_skills"), "related_skills"),
                ],
            ),
        }
    }
}

/// Reads single values and tells of those with the wrong type.
pub(super) struct Reader<'f, 't> {
    findings: &'f mut Findings<'t>,
}

impl Reader<'_, '_> {
    /// Reads a text, without blanks at its ends; a blank one is none.
    pub(super) fn text(&mut self, node: Option<&Node<'_>>, path: &str) -> Option<String> {
        let node = node?;
        match &node.value {
            Value::Null => None,
            Value::Text(..) => node.trimmed().map(str::to_owned),
            Value::List(..) | Value::Map(..) => {
                self.wrong_type(node, path, "text");
                None
            }
        }
    }

    /// Reads a list of texts; one text is split at its commas.
    pub(super) fn list(&mut self, node: Option<&Node<'_>>, path: &str) -> Vec<String> {
        let Some(node) = node else { return Vec::new() };
        match &node.value {
            Value::Null => Vec::new(),
            Value::Text(text, _) => split_commas(text),
            Value::List(items, _) => items
                .iter()
                .filter_map(|item| self.text(Some(item), path))
                .collect(),
            Value::Map(..) => {
                self.wrong_type(node, path, "a list");
                Vec::new()
            }
        }
    }

    /// Reads one of the words clients take for yes and no.
    pub(super) fn boolean(&mut self, node: Option<&Node<'_>>, path: &str) -> Option<bool> {
        let node = node?;
        let word = node.text().map(|text| text.trim().to_ascii_lowercase());
        match word.as_deref() {
            Some("true" | "yes" | "on" | "1") => Some(true),
            Some("false" | "no" | "off" | "0") => Some(false),
            Some(_) => {
                self.wrong_type(node, path, "`true` or `false`");
                None
            }
            None if matches!(node.value, Value::Null) => None,
            None => {
                self.wrong_type(node, path, "`true` or `false`");
                None
            }
        }
    }

    /// Tells of a value that no client can read.
    pub(super) fn wrong_type(&mut self, node: &Node<'_>, path: &str, wanted: &str) {
        let kind = node.kind();
        let message = format!("`{path}` is {kind}, clients read {wanted}");
        self.findings.add(Code::FieldType, node.span.start, message);
    }

    fn tools(&mut self, node: Option<&Node<'_>>) -> Vec<String> {
        let Some(node) = node else { return Vec::new() };
        match &node.value {
            Value::Text(text, _) => split_tools(text),
            Value::List(items, _) => items
                .iter()
                .filter_map(|item| self.text(Some(item), "allowed-tools"))
                .flat_map(|item| split_tools(&item))
                .collect(),
            Value::Null => Vec::new(),
            Value::Map(..) => {
                self.wrong_type(node, "allowed-tools", "a list");
                Vec::new()
            }
        }
    }

    /// Tells of client sections that are not maps, so that their settings are not lost in silence.
    fn check_clients(&mut self, metadata: Option<&Node<'_>>) {
        for client in ["hermes", "openclaw", "clawdbot", "clawdis"] {
            let Some(node) = metadata.and_then(|node| node.get(client)) else {
                continue;
            };
            if matches!(node.value, Value::Text(..) | Value::List(..)) {
                self.wrong_type(node, &format!("metadata.{client}"), "a map");
            }
        }
    }
}

/// Turns a list or map written in brackets back into the text that was typed.
pub(super) fn restore_argument_hint(
    header: &str,
    entries: &mut [Entry<'_>],
    findings: &mut Findings<'_>,
) {
    let Some(entry) = entries
        .iter_mut()
        .find(|entry| entry.key == "argument-hint")
    else {
        return;
    };
    let node = &mut entry.value;
    let (Value::List(_, Layout::Flow) | Value::Map(_, Layout::Flow)) = &node.value else {
        return;
    };
    let typed = header.get(node.span.clone()).unwrap_or_default();
    let lines = typed
        .split(['\n', '\r'])
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join(" ");
    let message = format!("`argument-hint` reads as {}, not as text", node.kind());
    let line = super::quote::line("", "argument-hint", &text);
    findings.suggest(Code::ArgumentHintNotText, node.span.start, message, line);
    node.value = Value::Text(text.into(), super::node::Style::Delimited);
}

/// Adds an item that is not there yet.
pub(super) fn add_once(all: &mut Vec<String>, item: String) {
    if !all.contains(&item) {
        all.push(item);
    }
}

fn split_commas(text: &str) -> Vec<String> {
    text.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Splits at blanks and commas outside parentheses: `Bash(git add:*) Read` names two tools.
fn split_tools(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let pieces = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    });
    pieces
        .filter(|piece| !piece.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_split_outside_parentheses() {
        assert_eq!(
            split_tools("Bash(git add:*, x) Read,Grep"),
            ["Bash(git add:*, x)", "Read", "Grep"]
        );
    }

    #[test]
    fn unclosed_parenthesis_keeps_the_rest_together() {
        assert_eq!(split_tools("Read Bash(git add"), ["Read", "Bash(git add"]);
    }
}
