//! Texts that point into a skill whose files have got other places: inside another skill, under other names.

use std::collections::BTreeMap;
use std::path::Path;

use super::scan::{is_path, normal};
use super::{Hit, Kind, Moved, Target, relative, written};

/// Where the files of a skill are from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inner {
    /// Where they were, relative to its folder.
    Same,
    /// In these places, relative to the new folder, by where they were. What is not among them is nowhere.
    Places(BTreeMap<String, String>),
}

/// A text after what points at a skill was rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehomed {
    /// The text.
    pub text: String,
    /// What was rewritten.
    pub hits: Vec<Hit>,
    /// What points at a file that is nowhere, and stays as it is.
    pub dangling: Vec<Hit>,
}

/// Rewrites what points at a skill to what it is called now, and to where its files are now.
#[must_use]
pub fn rehome(text: &str, hits: Vec<Hit>, from: &Target, to: &Moved<'_>, inner: &Inner) -> Rehomed {
    let mut rehomed = Rehomed {
        text: String::with_capacity(text.len()),
        hits: Vec::new(),
        dangling: Vec::new(),
    };
    let mut at = 0;
    for hit in hits {
        let rest = match hit.kind {
            Kind::Path => rest_of(text, hit.range.end),
            Kind::Value | Kind::Slash | Kind::Mention => "",
        };
        let (new_rest, length) = match (inner, rest) {
            (Inner::Same, _) | (_, "" | "/") => (String::new(), 0),
            (Inner::Places(places), rest) => {
                let path = rest.trim_start_matches('/').trim_end_matches('/');
                match places.get(path) {
                    Some(new) => (format!("/{new}"), 1 + path.len()),
                    None => match folder(places, path) {
                        Some(new) => (format!("/{new}"), 1 + path.len()),
                        None => {
                            rehomed.dangling.push(hit);
                            continue;
                        }
                    },
                }
            }
        };
        rehomed
            .text
            .push_str(text.get(at..hit.range.start).unwrap_or_default());
        rehomed.text.push_str(&written(&hit.start, from, to));
        rehomed.text.push_str(&new_rest);
        at = hit.range.end + length;
        rehomed.hits.push(hit);
    }
    rehomed.text.push_str(text.get(at..).unwrap_or_default());
    rehomed
}

/// What follows the folder in a path, with the slash; a full stop at its end ends the sentence.
fn rest_of(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let length = rest.find(|c: char| !is_path(c)).unwrap_or(rest.len());
    let rest = rest.get(..length).unwrap_or_default();
    if rest.starts_with('/') {
        rest.trim_end_matches('.')
    } else {
        ""
    }
}

/// Where a folder is, when everything in it is still together.
fn folder(places: &BTreeMap<String, String>, path: &str) -> Option<String> {
    let prefix = format!("{path}/");
    let mut inside = places
        .iter()
        .filter(|(old, _)| old.starts_with(&prefix))
        .peekable();
    inside.peek()?;
    inside.all(|(old, new)| old == new).then(|| path.to_owned())
}

/// Rewrites the links in a text that moved with its skill's files: `at` is where the text was and `to` where it is,
/// relative to the skill. A link in Markdown goes out from the text; any other path that names a file of the skill
/// goes out from the skill's folder.
#[must_use]
pub fn rehome_inside(
    text: &str,
    (at, to): (&str, &str),
    places: &BTreeMap<String, String>,
) -> String {
    let folder_of = |path: &str| {
        Path::new(path)
            .parent()
            .unwrap_or(Path::new(""))
            .to_path_buf()
    };
    let (old_base, new_base) = (folder_of(at), folder_of(to));
    let mut rewritten = String::with_capacity(text.len());
    let mut from = 0;
    let mut tokens = 0;
    while let Some(start) = next_token(text, tokens) {
        let token = rest_token(text, start);
        tokens = start + token.len().max(1);
        let path = token.trim_end_matches('.');
        let before = text.get(..start).unwrap_or_default();
        let is_link = before.ends_with("](") || before.ends_with("](<") || before.ends_with("]: ");
        let looked = |base: &Path| {
            let whole = normal(&Path::new("/").join(base).join(path));
            let inner = whole.strip_prefix("/").ok()?.to_str()?;
            places.get(inner).cloned()
        };
        let new = if is_link {
            looked(&old_base)
                .map(|new| relative(&Path::new("/").join(new), &Path::new("/").join(&new_base)))
        } else {
            path.contains('/').then(|| looked(Path::new(""))).flatten()
        };
        if let Some(new) = new.filter(|new| new != path) {
            rewritten.push_str(text.get(from..start).unwrap_or_default());
            rewritten.push_str(&new);
            from = start + path.len();
        }
    }
    rewritten.push_str(text.get(from..).unwrap_or_default());
    rewritten
}

/// Where the next path begins, from `at` on.
fn next_token(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    rest.find(is_path).map(|start| at + start)
}

fn rest_token(text: &str, start: usize) -> &str {
    let rest = text.get(start..).unwrap_or_default();
    let length = rest.find(|c: char| !is_path(c)).unwrap_or(rest.len());
    rest.get(..length).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::references::{Text, find};

    fn places() -> BTreeMap<String, String> {
        [
            ("SKILL.md", "references/a.md"),
            ("scripts/run.sh", "scripts/run.sh"),
            ("references/x.md", "references/a-x.md"),
        ]
        .map(|(old, new)| (old.to_owned(), new.to_owned()))
        .into()
    }

    #[test]
    fn links_go_out_from_where_the_text_is() {
        let text = "Run `scripts/run.sh`. See [x](references/x.md#top), [web](https://x/y.md), references/x.md.";
        assert_eq!(
            rehome_inside(text, ("SKILL.md", "references/a.md"), &places()),
            "Run `scripts/run.sh`. See [x](a-x.md#top), [web](https://x/y.md), references/a-x.md."
        );
        assert_eq!(
            rehome_inside(
                "[up](../SKILL.md) [s](../scripts/run.sh)",
                ("references/x.md", "references/a-x.md"),
                &places()
            ),
            "[up](a.md) [s](../scripts/run.sh)"
        );
    }

    #[test]
    fn paths_into_a_skill_lead_to_where_its_files_are() {
        let target = Target {
            name: "a".to_owned(),
            folder: "/r/skills/web/a".into(),
            rel_path: "web/a".to_owned(),
            root: "/r/skills".into(),
            is_path: false,
        };
        let to = Moved {
            name: "u",
            folder: Path::new("/r/skills/u"),
            rel_path: "u",
        };
        let text = "skills/web/a/scripts/run.sh, web/a/references/x.md. web/a/old.md and web/a/scripts web/a";
        let hits = find(text, Text::Prose, Path::new("/r/cron/jobs.txt"), &target);
        let new = rehome(text, hits, &target, &to, &Inner::Places(places()));
        assert_eq!(
            new.text,
            "skills/u/scripts/run.sh, u/references/a-x.md. web/a/old.md and u/scripts u"
        );
        assert_eq!((new.hits.len(), new.dangling.len()), (4, 1));
    }
}
