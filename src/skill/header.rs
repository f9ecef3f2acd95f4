//! From the text of a header to its entries: YAML first, then the second readings. Knows no single
//! fields but the two that clients read in their own way: `metadata` and `argument-hint`.

use super::code::Code;
use super::document::LARGEST_HEADER;
use super::fields;
use super::findings::Findings;
use super::json5::{self, Site};
use super::node::{Entry, Layout, Node, Value};
use super::quote;
use super::repair;
use super::yaml::{self, Budget, Refusal};

/// What a header says, and whether YAML took it as it stands.
type Reading<'a> = (Vec<Entry<'a>>, bool);

/// Reads a header. When nothing can be made of it, the findings say why.
pub(super) fn entries<'a>(
    header: &'a str,
    findings: &mut Findings<'_>,
) -> Result<Reading<'a>, Unreadable> {
    if header.len() > LARGEST_HEADER {
        let size = header.len().div_ceil(1024);
        let message = format!(
            "the header has {size} KiB, more than {}",
            LARGEST_HEADER / 1024
        );
        findings.add(Code::FrontmatterTooLarge, 0, message);
        return Err(Unreadable);
    }
    let (mut entries, whole) = read(header, findings).map_err(|refusal| {
        let (code, offset, message) = match refusal {
            Refusal::Forbidden {
                code,
                offset,
                message,
            } => (code, offset, message),
            Refusal::Syntax { offset, message } => (Code::YamlError, offset, message),
            Refusal::NotMapping { offset, found } => {
                let message = format!("the header is {found}, not `key: value` lines");
                (Code::FrontmatterNotMapping, offset, message)
            }
        };
        findings.add(code, offset, message);
        Unreadable
    })?;
    quote::check_cut_values(header, &entries, findings);
    fields::restore_argument_hint(header, &mut entries, findings);
    Ok((entries, whole))
}

/// Nothing could be made of the header.
pub(super) struct Unreadable;

fn read<'a>(header: &'a str, findings: &mut Findings<'_>) -> Result<Reading<'a>, Refusal> {
    let mut budget = Budget::new();
    let (mut entries, mut whole) = whole_or_repaired(header, &mut budget, findings)?;
    if header.contains("//") || header.contains("/*") {
        let mut reader = Commented {
            header,
            budget: &mut budget,
            findings,
            found: false,
        };
        entries
            .iter_mut()
            .try_for_each(|entry| reader.check(entry, 2))?;
        whole &= !reader.found;
    }
    read_embedded_json(&mut entries, &mut budget, findings)?;
    Ok((entries, whole))
}

fn whole_or_repaired<'a>(
    header: &'a str,
    budget: &mut Budget,
    findings: &mut Findings<'_>,
) -> Result<Reading<'a>, Refusal> {
    let (offset, message) = match yaml::mapping(header, 0..header.len(), 1, budget, findings) {
        Ok(entries) => return Ok((entries, true)),
        Err(Refusal::Syntax { offset, message }) => (offset, message),
        Err(refusal @ (Refusal::NotMapping { .. } | Refusal::Forbidden { .. })) => {
            return Err(refusal);
        }
    };
    let mark = findings.mark();
    let entries = repair::recover(header, 0..header.len(), 1, budget, findings)?;
    if entries.is_empty() {
        return Err(Refusal::Syntax { offset, message });
    }
    // The parts may be fine where the whole is not; somebody still has to learn why.
    if findings.is_quiet_since(mark) {
        findings.add(Code::YamlError, offset, message);
    }
    Ok((entries, false))
}

/// Looks for JSON5 comments that YAML took for text: `{ // x` makes `// x` part of the first key.
struct Commented<'a, 'b, 't> {
    header: &'a str,
    budget: &'b mut Budget,
    findings: &'b mut Findings<'t>,
    found: bool,
}

impl Commented<'_, '_, '_> {
    fn check(&mut self, entry: &mut Entry<'_>, depth: usize) -> Result<(), Refusal> {
        match &mut entry.value.value {
            Value::Map(children, Layout::Block) => children
                .iter_mut()
                .try_for_each(|child| self.check(child, depth + 1)),
            Value::Map(_, Layout::Flow) | Value::List(_, Layout::Flow) => {
                self.reread(&entry.key, &mut entry.value, depth)
            }
            Value::Null | Value::Text(..) | Value::List(_, Layout::Block) => Ok(()),
        }
    }

    fn reread(&mut self, key: &str, node: &mut Node<'_>, depth: usize) -> Result<(), Refusal> {
        let typed = self.header.get(node.span.clone()).unwrap_or_default();
        if !typed.contains("//") && !typed.contains("/*") {
            return Ok(());
        }
        let site = Site::Source(node.span.start);
        let read = json5::read(typed, site, depth, self.budget, self.findings)?;
        // `//` in quotes reads the same either way, and then there is nothing to tell.
        if let Some(read) = read.filter(|read| !read.says_the_same(node)) {
            let message = format!("`{key}` is JSON5, not YAML");
            self.findings
                .add(Code::Json5Value, node.span.start, message);
            *node = read;
            self.found = true;
        }
        Ok(())
    }
}

/// Reads `metadata` that is a text with a JSON object in it, and tells of all that is no map.
fn read_embedded_json(
    entries: &mut [Entry<'_>],
    budget: &mut Budget,
    findings: &mut Findings<'_>,
) -> Result<(), Refusal> {
    let Some(entry) = entries.iter_mut().find(|entry| entry.key == "metadata") else {
        return Ok(());
    };
    let node = &mut entry.value;
    match &node.value {
        Value::Null | Value::Map(..) => return Ok(()),
        Value::Text(..) | Value::List(..) => {}
    }
    let at = node.span.start;
    findings.add(
        Code::MetadataNotMap,
        at,
        format!("`metadata` is {}, not a map", node.kind()),
    );
    let Some(text) = node.trimmed().filter(|text| text.starts_with('{')) else {
        return Ok(());
    };
    if let Some(read) = json5::read(text, Site::Quoted(at), 2, budget, findings)? {
        node.value = read.value;
    }
    Ok(())
}
