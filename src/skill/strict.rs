//! What the specification says of a header and body that could be read. Changes nothing.

use super::code::Code;
use super::document::count_lines;
use super::findings::Findings;
use super::keys;
use super::name;
use super::node::{Entry, Node, Value, find};

const LONGEST_DESCRIPTION: usize = 1_024;
const LONGEST_COMPATIBILITY: usize = 500;
const LONGEST_BODY: usize = 500;

/// Holds a header against the specification. `folder` is the name of the file's folder.
pub(super) fn check_header(entries: &[Entry<'_>], folder: &str, findings: &mut Findings<'_>) {
    check_name(find(entries, "name"), folder, findings);
    check_description(find(entries, "description"), findings);
    if let Some(node) = find(entries, "compatibility") {
        check_compatibility(node, findings);
    }
    if let Some(node) = find(entries, "license")
        && matches!(node.value, Value::List(..) | Value::Map(..))
    {
        let message = format!("`license` is {}, not text", node.kind());
        findings.add(Code::LicenseNotText, node.span.start, message);
    }
    for child in find(entries, "metadata")
        .and_then(Node::entries)
        .unwrap_or_default()
    {
        check_metadata(child, findings);
    }
    entries.iter().for_each(|entry| check_key(entry, findings));
}

/// Looks at the body that starts at line `line` of the file.
pub(super) fn check_body(body: &[u8], line: impl Fn() -> u32, findings: &mut Findings<'_>) {
    if body.iter().all(u8::is_ascii_whitespace) {
        findings.add_in_file(
            Code::BodyEmpty,
            (line(), 1),
            "there is no text after the header",
        );
        return;
    }
    let lines = count_lines(body);
    if lines > LONGEST_BODY {
        let message = format!("the text has {lines} lines, more than {LONGEST_BODY}");
        findings.add_in_file(Code::BodyLong, (line(), 1), message);
    }
}

fn check_name(node: Option<&Node<'_>>, folder: &str, findings: &mut Findings<'_>) {
    if let Some(node) = node {
        tell_structure(node, "name", findings);
        if let Some(declared) = node.trimmed() {
            return name::check(declared, folder, node.span.start, findings);
        }
    }
    findings.add(Code::NameMissing, 0, "the header has no `name`");
}

fn check_description(node: Option<&Node<'_>>, findings: &mut Findings<'_>) {
    if let Some(node) = node {
        tell_structure(node, "description", findings);
        if let Some(text) = node.trimmed() {
            // Characters are never more than bytes, so most texts need no counting.
            if text.len() > LONGEST_DESCRIPTION {
                check_length(text, node.span.start, findings);
            }
            return;
        }
    }
    findings.add(
        Code::DescriptionMissing,
        0,
        "the header has no `description`",
    );
}

fn check_length(description: &str, at: usize, findings: &mut Findings<'_>) {
    let length = description.chars().count();
    if length > LONGEST_DESCRIPTION {
        let message =
            format!("`description` has {length} characters, more than {LONGEST_DESCRIPTION}");
        findings.add(Code::DescriptionTooLong, at, message);
    }
}

fn tell_structure(node: &Node<'_>, key: &str, findings: &mut Findings<'_>) {
    if matches!(node.value, Value::List(..) | Value::Map(..)) {
        let message = format!("`{key}` is {}, clients read text", node.kind());
        findings.add(Code::FieldType, node.span.start, message);
    }
}

fn check_compatibility(node: &Node<'_>, findings: &mut Findings<'_>) {
    let length = match &node.value {
        Value::Null => 0,
        Value::Text(text, _) => text.trim().chars().count(),
        Value::List(..) | Value::Map(..) => return,
    };
    if length == 0 || length > LONGEST_COMPATIBILITY {
        let message =
            format!("`compatibility` has {length} characters, not 1 to {LONGEST_COMPATIBILITY}");
        findings.add(Code::CompatibilityLength, node.span.start, message);
    }
}

fn check_metadata(child: &Entry<'_>, findings: &mut Findings<'_>) {
    let nested = matches!(child.value.value, Value::List(..) | Value::Map(..));
    if nested && !keys::is_owned_metadata(&child.key) {
        let message = format!(
            "`metadata.{}` is {}, not text",
            child.key,
            child.value.kind()
        );
        findings.add(Code::MetadataValueNotText, child.value.span.start, message);
    }
}

fn check_key(entry: &Entry<'_>, findings: &mut Findings<'_>) {
    let key = entry.key.as_ref();
    if keys::is_specified(key) {
        return;
    }
    if let Some(clients) = keys::clients(key) {
        let message = format!("`{key}` is read by {clients} only");
        findings.add(Code::ExtensionKey, entry.key_at, message);
        return;
    }
    if findings.is_full(Code::UnknownKey) {
        return;
    }
    let help = match keys::nearest(key) {
        Some(known) => format!("no known client reads `{key}`; did you mean `{known}`?"),
        None => format!("no known client reads `{key}`"),
    };
    findings.add(Code::UnknownKey, entry.key_at, help);
}
