//! Texts that point into a skill whose files have got other places: inside another skill, under other names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
    /// Where values of lists and keys begin that were rewritten, bytes in the new text.
    pub values: Vec<usize>,
    /// What points at a file that is nowhere, and stays as it is.
    pub dangling: Vec<Hit>,
}

/// Rewrites what points at a skill to what it is called now, and to where its files are now.
#[must_use]
pub fn rehome(text: &str, hits: Vec<Hit>, from: &Target, to: &Moved<'_>, inner: &Inner) -> Rehomed {
    let mut rehomed = Rehomed {
        text: String::with_capacity(text.len()),
        hits: Vec::new(),
        values: Vec::new(),
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
                let new = places.get(path).cloned().or_else(|| folder(places, path));
                let Some(new) = new else {
                    rehomed.dangling.push(hit);
                    continue;
                };
                (format!("/{new}"), 1 + path.len())
            }
        };
        rehomed
            .text
            .push_str(text.get(at..hit.range.start).unwrap_or_default());
        if hit.kind == Kind::Value {
            rehomed.values.push(rehomed.text.len());
        }
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
    let rest = token_at(text, at);
    if rest.starts_with('/') {
        rest.trim_end_matches('.')
    } else {
        ""
    }
}

fn token_at(text: &str, start: usize) -> &str {
    let rest = text.get(start..).unwrap_or_default();
    let length = rest.find(|c: char| !is_path(c)).unwrap_or(rest.len());
    rest.get(..length).unwrap_or_default()
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

/// A text that moves with its skill.
#[derive(Clone, Copy)]
pub struct Moving<'a> {
    /// Where it was, relative to the skill.
    pub at: &'a str,
    /// Where it is, relative to the other one.
    pub to: &'a str,
    /// Where each file of the skill is, by where it was.
    pub places: &'a BTreeMap<String, String>,
    /// Absolute path of the skill's folder.
    pub from_folder: &'a Path,
    /// Absolute path of the other one's.
    pub to_folder: &'a Path,
    /// Whether something lies at an absolute path: what leads nowhere is left as it is.
    pub is_there: &'a dyn Fn(&Path) -> bool,
}

impl Moving<'_> {
    fn is_prose(&self) -> bool {
        let extension = Path::new(self.at)
            .extension()
            .and_then(|word| word.to_str());
        matches!(extension, Some("md" | "mdx" | "markdown" | "txt" | "rst"))
    }

    /// The folder the text was in, and the one it is in, relative to the skills.
    fn bases(&self) -> (PathBuf, PathBuf) {
        let folder = |path: &str| {
            Path::new(path)
                .parent()
                .unwrap_or(Path::new(""))
                .to_path_buf()
        };
        (folder(self.at), folder(self.to))
    }

    /// A file of the skill that a path from one of its folders leads to.
    fn inner(&self, base: &Path, path: &str) -> Option<(String, &String)> {
        let whole = Path::new("/s").join(base).join(path);
        let inner = normal(&whole);
        let inner = inner.strip_prefix("/s").ok()?.to_str()?.to_owned();
        let new = self.places.get(&inner)?;
        Some((inner, new))
    }

    /// What a path from the text's own folder has to be now; `None` where it may stay.
    fn led_from_text(&self, path: &str) -> Option<String> {
        let (old_base, new_base) = self.bases();
        let new = match self.inner(&old_base, path) {
            Some((inner, new)) if inner == *new && old_base == new_base => return None,
            Some((_, new)) => relative(&Path::new("/s").join(new), &Path::new("/s").join(new_base)),
            None => {
                // It leads out of the skill: to where it led before.
                let whole = normal(&self.from_folder.join(old_base).join(path));
                let is_inside = whole.starts_with(self.from_folder);
                if !self.is_prose() || is_inside || !(self.is_there)(&whole) {
                    return None;
                }
                relative(&whole, &self.to_folder.join(new_base))
            }
        };
        let is_dotted = path.starts_with("./") && !new.starts_with("../");
        Some(if is_dotted { format!("./{new}") } else { new })
    }

    /// What a path from the skill's folder has to be now.
    fn led_from_skill(&self, path: &str) -> Option<String> {
        let (inner, new) = self.inner(Path::new(""), path)?;
        (inner != *new).then(|| new.clone())
    }

    /// What a path in the text has to be now, and how many bytes at its front stay.
    fn new_path(&self, before: &str, path: &str) -> Option<(usize, String)> {
        let is_link = before.ends_with("](") || before.ends_with("](<") || before.ends_with("]: ");
        // `$DIR/x`, `${DIR}/x`, `$(dirname "$0")/x`: what stands before is a folder, most likely the skill's.
        if before.ends_with('$') || before.ends_with(['}', ')']) && path.starts_with('/') {
            let cut = path.find('/')? + 1;
            return Some((cut, self.led_from_skill(path.get(cut..)?)?));
        }
        if path.starts_with(['/', '~'])
            || path.contains("://")
            || before.ends_with(':') && path.starts_with("//")
        {
            return None;
        }
        let is_dotted = path.starts_with("./") || path.starts_with("../");
        let new = if is_link || is_dotted {
            self.led_from_text(path)
        } else if !path.contains('/') {
            None
        } else if self.is_prose() || self.inner(&self.bases().0, path).is_none() {
            self.led_from_skill(path)
        } else {
            self.led_from_text(path)
        };
        new.filter(|new| new != path).map(|new| (0, new))
    }

    /// Rewrites the paths in the text. A link in Markdown, and a path that begins with a dot, goes out from the text;
    /// any other path that names a file of the skill from the skill's folder.
    #[must_use]
    pub fn rewrite(&self, text: &str) -> String {
        let mut rewritten = String::with_capacity(text.len());
        let (mut from, mut next) = (0, 0);
        while let Some(found) = text.get(next..).and_then(|rest| rest.find(is_path)) {
            let start = next + found;
            let token = token_at(text, start);
            next = start + token.len();
            let path = token.trim_end_matches('.');
            let before = text.get(..start).unwrap_or_default();
            if let Some((kept, new)) = self.new_path(before, path) {
                rewritten.push_str(text.get(from..start + kept).unwrap_or_default());
                rewritten.push_str(&new);
                from = start + path.len();
            }
        }
        rewritten.push_str(text.get(from..).unwrap_or_default());
        rewritten
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::references::{Text, find};

    fn places() -> BTreeMap<String, String> {
        [
            ("SKILL.md", "references/a.md"),
            ("scripts/run.sh", "scripts/run.sh"),
            ("lib/util.sh", "lib/util.sh"),
            ("references/x.md", "references/a-x.md"),
        ]
        .map(|(old, new)| (old.to_owned(), new.to_owned()))
        .into()
    }

    fn moved(text: &str, (at, to): (&str, &str)) -> String {
        let places = places();
        let moving = Moving {
            at,
            to,
            places: &places,
            from_folder: Path::new("/r/web/a"),
            to_folder: Path::new("/r/u"),
            is_there: &|path| path.starts_with("/r/web/b") || path.starts_with("/r/weather"),
        };
        moving.rewrite(text)
    }

    #[test]
    fn links_go_out_from_where_the_text_is() {
        let text = "Run `scripts/run.sh`. See [x](references/x.md#top), [web](https://x/y.md), references/x.md.";
        assert_eq!(
            moved(text, ("SKILL.md", "references/a.md")),
            "Run `scripts/run.sh`. See [x](a-x.md#top), [web](https://x/y.md), references/a-x.md."
        );
        assert_eq!(
            moved(
                "[up](../SKILL.md) [s](../scripts/run.sh) [other](../../b/SKILL.md)",
                ("references/x.md", "references/a-x.md")
            ),
            "[up](a.md) [s](../scripts/run.sh) [other](../../web/b/SKILL.md)"
        );
        assert_eq!(
            moved(
                "[w](../../weather/SKILL.md), ../b/x.sh",
                ("SKILL.md", "SKILL.md")
            ),
            "[w](../weather/SKILL.md), ../web/b/x.sh"
        );
    }

    #[test]
    fn what_leads_to_the_same_file_keeps_its_bytes() {
        for text in [
            "${CLAUDE_SKILL_DIR}/scripts/run.sh",
            "{baseDir}/scripts/run.sh",
            "python $DIR/scripts/run.sh",
            "fetch('/scripts/run.sh')",
            "./scripts/run.sh",
            ". \"$(dirname \"$0\")/../lib/util.sh\"",
            "import x from '../lib/util.sh'",
        ] {
            for place in ["SKILL.md", "scripts/y.sh"] {
                assert_eq!(moved(text, (place, place)), text, "{place}");
            }
        }
        assert_eq!(
            moved(
                "${DIR}/references/x.md $DIR/references/x.md ./references/x.md",
                ("SKILL.md", "SKILL.md")
            ),
            "${DIR}/references/a-x.md $DIR/references/a-x.md ./references/a-x.md"
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
