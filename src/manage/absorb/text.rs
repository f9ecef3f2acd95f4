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
    let body = text.get(read.body_offset..).unwrap_or_default().trim();
    let (title, body) = match body.split_once('\n').unwrap_or((body, "")) {
        (first, rest) if first.starts_with("# ") => {
            let title = first.trim_start_matches('#').trim();
            (title.to_owned(), rest.trim())
        }
        _ => (name.to_owned(), body),
    };
    let keys = read.header.keys();
    Prose {
        title,
        description: read.description.unwrap_or_default(),
        body: body.to_owned(),
        keys: keys
            .filter(|key| !PLAIN_KEYS.contains(&key.as_str()))
            .cloned()
            .collect(),
    }
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
    let line = format!("- [{}]({file}){words}\n", part.title);
    let (mut at, mut list, mut is_fenced) = (0, None, false);
    for each in text.split_inclusive('\n') {
        is_fenced ^= is_fence(each);
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
    format!("{}{newline}{newline}{more}", text.trim_end())
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
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
        let mut is_fenced = false;
        for line in body.split_inclusive('\n') {
            is_fenced ^= is_fence(line);
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
