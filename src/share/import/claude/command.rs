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
