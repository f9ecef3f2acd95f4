//! What one skill's text becomes in another skill: a section of its text, or a file beside it. Pure.

use crate::skill;

/// A text without its header, in the parts that matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prose {
    /// Its first heading, else the skill's name.
    pub(super) title: String,
    /// What its header says it is for.
    pub(super) description: String,
    /// The rest, without blank lines around it.
    pub(super) body: String,
    /// Keys of the header besides those that every skill has.
    pub(super) keys: Vec<String>,
}

/// Keys that every skill may have, and that say nothing about when it may be loaded.
const PLAIN_KEYS: [&str; 7] = [
    "name",
    "description",
    "version",
    "author",
    "license",
    "tags",
    "metadata",
];

/// Takes a SKILL.md apart.
pub(super) fn prose(text: &str, name: &str) -> Prose {
    let read = skill::read(text.as_bytes(), name);
    let trimmed =
        |text: &'_ str| -> usize { text.len() - text.trim_start_matches(['\n', '\r']).len() };
    let body = text.get(read.body_offset..).unwrap_or_default().trim_end();
    let body = body.get(trimmed(body)..).unwrap_or_default();
    let (title, body) = match body.split_once('\n').unwrap_or((body, "")) {
        (first, rest) if first.starts_with("# ") => {
            let title = first.trim_start_matches('#').trim();
            (
                title.to_owned(),
                rest.get(trimmed(rest)..).unwrap_or_default(),
            )
        }
        _ => (name.to_owned(), body),
    };
    let keys = keys_of(&read.header);
    Prose {
        title,
        description: read.description.unwrap_or_default(),
        body: body.to_owned(),
        keys,
    }
}

/// The keys that say something besides what every skill says, those of clients by their place.
fn keys_of(header: &serde_json::Map<String, serde_json::Value>) -> Vec<String> {
    let mut keys = Vec::new();
    for (key, value) in header {
        match (key.as_str(), value.as_object()) {
            ("metadata", Some(inner)) => {
                for (key, value) in inner {
                    match value.as_object() {
                        Some(client) => {
                            let plain = |inner: &&String| !PLAIN_KEYS.contains(&inner.as_str());
                            keys.extend(
                                client
                                    .keys()
                                    .filter(plain)
                                    .map(|inner| format!("metadata.{key}.{inner}")),
                            );
                        }
                        None if PLAIN_KEYS.contains(&key.as_str()) => {}
                        None => keys.push(format!("metadata.{key}")),
                    }
                }
            }
            (key, _) if PLAIN_KEYS.contains(&key) => {}
            (key, _) => keys.push(key.to_owned()),
        }
    }
    keys
}

/// A text with a part as its last section. A heading that is there already says nothing: then the skill's name is one.
pub(super) fn with_section(text: &str, part: &Prose, name: &str) -> String {
    let is_there = text
        .lines()
        .filter(|line| level(line).is_some())
        .any(|line| line.trim_start_matches('#').trim() == part.title);
    let (title, body) = if is_there {
        (name, format!("# {}\n\n{}", part.title, part.body))
    } else {
        (part.title.as_str(), part.body.clone())
    };
    let mut section = format!("## {title}\n");
    for paragraph in [part.description.clone(), lowered(&body, 3)] {
        if !paragraph.is_empty() {
            section.push('\n');
            section.push_str(&paragraph);
            section.push('\n');
        }
    }
    appended(text, &section)
}

/// A part as a file of its own.
pub(super) fn as_file(part: &Prose) -> String {
    let mut text = format!("# {}\n", part.title);
    for paragraph in [&part.description, &part.body] {
        if !paragraph.is_empty() {
            text.push('\n');
            text.push_str(paragraph);
            text.push('\n');
        }
    }
    text
}

/// The heading under which files are listed.
const LIST: &str = "References";

/// A text that says where a part's file is.
pub(super) fn with_pointer(text: &str, part: &Prose, file: &str) -> String {
    if text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count() {
        let plain = with_pointer(&text.replace("\r\n", "\n"), part, file);
        return plain.replace('\n', "\r\n");
    }
    let words = match part.description.as_str() {
        "" => String::new(),
        description => format!(": {}", description.replace('\n', " ")),
    };
    let title = part.title.replace('[', "\\[").replace(']', "\\]");
    let line = format!("- [{title}]({file}){words}\n");
    // What stands in the header are comments of its own.
    let start = skill::read(text.as_bytes(), "").body_offset;
    let (mut at, mut list, mut fence) = (start, None, Fence::default());
    for each in text.get(start..).unwrap_or_default().split_inclusive('\n') {
        let is_fenced = fence.holds(each);
        let is_heading = level(each)
            .filter(|level| *level <= 2 && !is_fenced)
            .is_some();
        if is_heading && list.is_none_or(|(_, end)| end == usize::MAX) {
            list = match list {
                Some((start, _)) => Some((start, at)),
                None if each
                    .trim_start_matches('#')
                    .trim()
                    .eq_ignore_ascii_case(LIST) =>
                {
                    Some((at + each.len(), usize::MAX))
                }
                None => None,
            };
        }
        at += each.len();
    }
    let Some((start, end)) = list else {
        return appended(text, &format!("## {LIST}\n\n{line}"));
    };
    let end = end.min(text.len());
    let inner = text.get(start..end).unwrap_or_default();
    let before = text
        .get(..start + inner.trim_end().len())
        .unwrap_or_default();
    let rest = text.get(end..).unwrap_or_default();
    let gap = if inner.trim().is_empty() {
        "\n\n"
    } else {
        "\n"
    };
    let before = before.trim_end_matches('\n');
    let tail = if rest.is_empty() {
        String::new()
    } else {
        format!("\n{rest}")
    };
    format!("{before}{gap}{line}{tail}")
}

/// A text with another one after it.
fn appended(text: &str, more: &str) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let more = more.replace("\r\n", "\n").replace('\n', newline);
    let end = Fence::end(text).map_or(String::new(), |end| format!("{newline}{end}"));
    format!("{}{end}{newline}{newline}{more}", text.trim_end())
}

/// Whether a text stands in a fence, line by line.
#[derive(Default)]
struct Fence {
    /// What opened it: the character and how many of it.
    open: Option<(char, usize)>,
}

impl Fence {
    /// Takes a line; says whether it stands in a fence or is one of its ends.
    fn holds(&mut self, line: &str) -> bool {
        let line = line.trim();
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'));
        let count = mark.map_or(0, |mark| line.len() - line.trim_start_matches(mark).len());
        match (self.open, mark) {
            (None, Some(mark)) if count >= 3 => {
                self.open = Some((mark, count));
                true
            }
            (None, _) => false,
            (Some((open, least)), Some(mark))
                if open == mark && count >= least && line.len() == count =>
            {
                self.open = None;
                true
            }
            (Some(_), _) => true,
        }
    }

    /// The line that closes what a text leaves open.
    fn end(text: &str) -> Option<String> {
        let mut fence = Self::default();
        for line in text.lines() {
            fence.holds(line);
        }
        fence
            .open
            .map(|(mark, count)| mark.to_string().repeat(count))
    }
}

/// How deep a heading is; `None` for any other line.
fn level(line: &str) -> Option<usize> {
    let marks = line.len() - line.trim_start_matches('#').len();
    let rest = line.get(marks..)?;
    ((1..=6).contains(&marks) && (rest.starts_with(' ') || rest.trim().is_empty())).then_some(marks)
}

/// A text whose highest heading is of this level; what stands in fences is no heading.
fn lowered(body: &str, top: usize) -> String {
    let headings = |each: &mut dyn FnMut(&str, Option<usize>)| {
        let mut fence = Fence::default();
        for line in body.split_inclusive('\n') {
            let is_fenced = fence.holds(line);
            each(line, level(line).filter(|_| !is_fenced));
        }
    };
    let mut highest = None;
    headings(&mut |_, level| highest = highest.into_iter().chain(level).min());
    let down = top.saturating_sub(highest.unwrap_or(top));
    let mut lowered = String::with_capacity(body.len());
    headings(&mut |line, level| {
        let more = level.map_or(0, |level| (level + down).min(6) - level);
        lowered.push_str(&"#".repeat(more));
        lowered.push_str(line);
    });
    lowered
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINT: &str = "---\nname: lint-js\ndescription: Lints JavaScript\nallowed-tools: Bash\n---\n\n# Lint it\n\n## Steps\n\n```sh\n# no heading\n```\n\n### Deep\n";

    #[test]
    fn a_section_fits_below_its_heading() {
        let part = prose(LINT, "lint-js");
        assert_eq!(part.keys, ["allowed-tools"]);
        assert_eq!(
            with_section("---\nname: u\n---\n# U\n", &part, "lint-js"),
            "---\nname: u\n---\n# U\n\n## Lint it\n\nLints JavaScript\n\n### Steps\n\n```sh\n# no heading\n```\n\n#### Deep\n"
        );
        assert_eq!(
            as_file(&part),
            "# Lint it\n\nLints JavaScript\n\n## Steps\n\n```sh\n# no heading\n```\n\n### Deep\n"
        );
    }

    #[test]
    fn a_heading_that_is_there_already_gives_way_to_the_name() {
        let part = prose("# U\n\nx\n", "lint-js");
        assert_eq!(
            with_section("# U\n", &part, "lint-js"),
            "# U\n\n## lint-js\n\n### U\n\nx\n"
        );
    }

    #[test]
    fn a_pointer_goes_to_the_list_that_is_there() {
        let part = prose(LINT, "lint-js");
        let line = "- [Lint it](references/lint-js.md): Lints JavaScript\n";
        for (before, after) in [
            ("# U\n", format!("# U\n\n## References\n\n{line}")),
            (
                "# U\n\n## References\n\n- [x](x.md)\n\n## Then\n\ny\n",
                format!("# U\n\n## References\n\n- [x](x.md)\n{line}\n## Then\n\ny\n"),
            ),
            (
                "# U\r\n\r\n## References\r\n\r\n- [x](x.md)\r\n",
                format!("# U\n\n## References\n\n- [x](x.md)\n{line}").replace('\n', "\r\n"),
            ),
            (
                "# U\n\n## references\n",
                format!("# U\n\n## references\n\n{line}"),
            ),
        ] {
            assert_eq!(with_pointer(before, &part, "references/lint-js.md"), after);
        }
    }

    #[test]
    fn fences_end_with_what_began_them() {
        let body = "````\n# code\n```\n# code\n````\n# Real\n~~~\n```\n# code\n~~~\n";
        let lower = lowered(body, 3);
        assert_eq!(lower, body.replace("# Real", "### Real"));
        let part = prose("x\n", "p");
        assert_eq!(
            with_section("# U\n```sh\nrun\n", &part, "p"),
            "# U\n```sh\nrun\n```\n\n## p\n\nx\n"
        );
        let text = "---\n# References\nname: u\n---\n# U\n";
        assert!(
            with_pointer(text, &part, "references/p.md")
                .starts_with("---\n# References\nname: u\n---\n# U\n\n## References\n")
        );
    }

    #[test]
    fn a_text_without_heading_or_header_is_taken_as_it_is() {
        let part = prose("just words", "plain");
        assert_eq!(
            (part.title.as_str(), part.body.as_str()),
            ("plain", "just words")
        );
        let lines = with_section("a\r\n", &part, "plain");
        assert_eq!(lines, "a\r\n\r\n## plain\r\n\r\njust words\r\n");
    }
}
