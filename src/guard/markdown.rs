//! What each part of a Markdown file is: frontmatter, heading, fence, quote, table, comment. One walk
//! over the CommonMark tree.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What a part of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The header of a skill.
    Header,
    /// A fence or an indented block with code.
    Fence,
    /// A table.
    Table,
    /// An HTML comment, or a link definition that shows nothing.
    Hidden,
    /// A list item.
    Item,
    /// A heading.
    Heading,
    /// A paragraph, a quote.
    Prose,
}

/// A part of a file.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub range: Range<usize>,
    pub kind: Kind,
    /// The line before a fence: what leads to it.
    pub lead: Range<usize>,
    /// Which heading it stands under, as an index into the headings.
    pub section: usize,
}

/// The parts of a file, and its headings.
#[derive(Debug, Default)]
pub(super) struct Outline {
    parts: Vec<Part>,
    /// Inline code, apart from the blocks it stands in.
    inline: Vec<Range<usize>>,
    /// Level and text of each heading; the first stands for what comes before any.
    headings: Vec<(u8, String)>,
}

/// Most bytes of a text whose outline is read. What stands behind is no part of anything, so that nothing there is taken
/// for talk: a text that is made to be slow gains nothing by it.
const MAX_OUTLINED: usize = 256 * 1024;

/// Reads the outline of a text.
pub(super) fn outline(text: &str) -> Outline {
    let mut end = MAX_OUTLINED.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    let body = header_length(text);
    let mut walk = Walk {
        text,
        outline: Outline {
            headings: vec![(0, String::new())],
            ..Outline::default()
        },
        depth: 0,
        heading: None,
        last_prose: 0..0,
    };
    if body > 0 {
        walk.part(0..body, Kind::Header);
    }
    for (event, range) in Parser::new_ext(&text[body..], Options::ENABLE_TABLES).into_offset_iter()
    {
        walk.event(&event, range.start + body..range.end + body);
    }
    walk.outline
        .parts
        .sort_by_key(|part| (part.range.start, part.range.end));
    walk.outline
}

/// The length of the header between two `---` lines.
fn header_length(text: &str) -> usize {
    let start = text.len() - text.trim_start().len();
    let Some(rest) = text[start..]
        .strip_prefix("---\n")
        .or_else(|| text[start..].strip_prefix("---\r\n"))
    else {
        return 0;
    };
    let opened = text.len() - rest.len();
    let mut at = opened;
    for line in rest.split_inclusive('\n') {
        at += line.len();
        if line.trim_end() == "---" {
            return at;
        }
    }
    0
}

struct Walk<'t> {
    text: &'t str,
    outline: Outline,
    /// How many blocks that take whole texts are open.
    depth: usize,
    heading: Option<(u8, Range<usize>)>,
    last_prose: Range<usize>,
}

impl Walk<'_> {
    fn event(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                self.heading = Some((*level as u8, range.clone()));
                let title = self.text[range.clone()]
                    .trim_matches(['#', ' ', '\n', '*', '=', '-'])
                    .to_lowercase();
                self.outline.headings.push((*level as u8, title));
                self.part(range, Kind::Heading);
            }
            Event::End(TagEnd::Heading(_)) => self.heading = None,
            Event::Start(Tag::CodeBlock(_)) => self.part(range, Kind::Fence),
            Event::Start(Tag::Table(_)) => self.part(range, Kind::Table),
            Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) if self.is_comment(&range) => {
                self.part(range, Kind::Hidden);
            }
            Event::Start(Tag::Item) => {
                self.last_prose = range.clone();
                self.depth += 1;
                self.part(range, Kind::Item);
            }
            Event::End(TagEnd::Item) => self.depth = self.depth.saturating_sub(1),
            Event::Start(Tag::Paragraph) => {
                self.last_prose = range.clone();
                if self.depth == 0 {
                    self.part(range, Kind::Prose);
                }
            }
            Event::Code(_) => self.outline.inline.push(range),
            _ => {}
        }
    }

    fn is_comment(&self, range: &Range<usize>) -> bool {
        self.text[range.clone()].trim_start().starts_with("<!--")
    }

    fn part(&mut self, range: Range<usize>, kind: Kind) {
        let lead = if kind == Kind::Fence {
            self.last_line_before(range.start)
        } else {
            0..0
        };
        self.outline.parts.push(Part {
            range,
            kind,
            lead,
            section: self.outline.headings.len() - 1,
        });
    }

    /// The last line with words before a place, at most 400 bytes back.
    fn last_line_before(&self, at: usize) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let mut end = at;
        while end > 0 && (bytes[end - 1].is_ascii_whitespace()) {
            end -= 1;
        }
        let mut start = end;
        while start > 0 && bytes[start - 1] != b'\n' && end - start < 400 {
            start -= 1;
        }
        while !self.text.is_char_boundary(start) {
            start += 1;
        }
        start..end
    }
}

impl Outline {
    /// The smallest block a byte stands in.
    pub(super) fn at(&self, at: usize) -> Option<&Part> {
        let behind = self.parts.partition_point(|part| part.range.start <= at);
        let near = self.parts[behind.saturating_sub(64)..behind].iter().rev();
        near.filter(|part| part.range.contains(&at))
            .min_by_key(|part| part.range.len())
    }

    /// Which part it is, as a number.
    pub(super) fn number(&self, at: usize) -> usize {
        self.at(at)
            .map_or(at / 4096 + 1_000_000, |part| part.range.start)
    }

    /// Code within a sentence that a byte stands in.
    pub(super) fn inline_at(&self, at: usize) -> Option<Range<usize>> {
        let behind = self.inline.partition_point(|range| range.start <= at);
        let range = self.inline.get(behind.checked_sub(1)?)?;
        range.contains(&at).then(|| range.clone())
    }

    /// The headings a section stands under, innermost first.
    pub(super) fn path(&self, section: usize) -> impl Iterator<Item = &str> {
        let mut level = u8::MAX;
        self.headings[..=section.min(self.headings.len().saturating_sub(1))]
            .iter()
            .rev()
            .filter_map(move |(own, title)| {
                if *own < level {
                    level = *own;
                    Some(title.as_str())
                } else {
                    None
                }
            })
    }

    /// All fences.
    pub(super) fn fences(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.kind == Kind::Fence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "---\nname: a\n---\n\n# Top\n\nSome `code` here.\n\n## Never do this\n\nBad:\n\n```bash\nrm x\n```\n\n<!-- hidden -->\n\n- item one\n";

    #[test]
    fn parts_are_told_apart() {
        let outline = outline(TEXT);
        let kind = |word: &str| outline.at(TEXT.find(word).unwrap()).unwrap().kind;
        assert_eq!(kind("name"), Kind::Header);
        assert_eq!(kind("Some"), Kind::Prose);
        assert_eq!(kind("rm x"), Kind::Fence);
        assert_eq!(kind("hidden"), Kind::Hidden);
        assert_eq!(kind("item one"), Kind::Item);
        assert!(outline.inline_at(TEXT.find("code").unwrap()).is_some());
    }

    #[test]
    fn a_fence_knows_its_lead_and_headings() {
        let outline = outline(TEXT);
        let fence = outline.at(TEXT.find("rm x").unwrap()).unwrap();
        assert_eq!(&TEXT[fence.lead.clone()], "Bad:");
        let path: Vec<&str> = outline.path(fence.section).collect();
        assert_eq!(path, ["never do this", "top", ""]);
    }
}
