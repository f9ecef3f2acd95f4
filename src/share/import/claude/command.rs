//! The form in which a transcript notes a typed command.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A typed command that was not seen to be expanded yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Typed {
    pub(super) uuid: Option<String>,
    pub(super) name: String,
    pub(super) args: Option<String>,
    pub(super) at: Option<String>,
    pub(super) is_sidechain: bool,
    /// Lines between it and its body, each the child of the one before.
    #[serde(default)]
    pub(super) between: Vec<String>,
}

/// Lines between a command and its body that are kept in mind.
const MOST_BETWEEN: usize = 32;

impl Typed {
    /// Notes a line that follows it or one that follows it.
    pub(super) fn follow(&mut self, value: &Value) {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let is_body = value.get("isMeta") == Some(&Value::Bool(true));
        if is_body || self.between.len() >= MOST_BETWEEN {
            return;
        }
        if let (Some(uuid), Some(parent)) = (text("uuid"), text("parentUuid"))
            && self.is_followed_by(Some(parent))
        {
            self.between.push(uuid.to_owned());
        }
    }

    /// Whether a line with this parent follows it. One that names none follows whatever is before it.
    pub(super) fn is_followed_by(&self, parent: Option<&str>) -> bool {
        match (parent, &self.uuid) {
            (Some(parent), Some(uuid)) => {
                parent == uuid || self.between.iter().any(|between| between == parent)
            }
            _ => true,
        }
    }
}

/// Reads a line that is nothing but the tags of a typed command, in any order. Words around them mean
/// that somebody quotes one.
pub(super) fn typed_command(value: &Value) -> Option<Typed> {
    let content = value.pointer("/message/content")?;
    let mut rest = match content {
        Value::String(text) => text.as_str(),
        Value::Array(parts) => match parts.as_slice() {
            [only] => only.get("text")?.as_str()?,
            _ => return None,
        },
        _ => return None,
    }
    .trim();
    let mut typed = Typed {
        uuid: value.get("uuid").and_then(Value::as_str).map(str::to_owned),
        ..Typed::default()
    };
    while !rest.is_empty() {
        let (tag, inner, after) = tag(rest)?;
        match tag {
            "command-name" => typed.name = inner.trim().trim_start_matches('/').to_owned(),
            "command-args" if !inner.trim().is_empty() => {
                typed.args = Some(inner.trim().to_owned());
            }
            "command-args" | "command-message" => {}
            _ => return None,
        }
        rest = after.trim_start();
    }
    (!typed.name.is_empty()).then_some(typed)
}

/// Splits `<tag>inner</tag>after`.
fn tag(text: &str) -> Option<(&str, &str, &str)> {
    let (tag, rest) = text.strip_prefix('<')?.split_once('>')?;
    let (inner, after) = rest.split_once(&format!("</{tag}>"))?;
    Some((tag, inner, after))
}
