//! Where words and data go: data to stdout, everything else to stderr.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use serde_json::{Value, json};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::config::ColorChoice;
use crate::error::{Error, Result};
use crate::patch::Nearby;
use crate::skill::Severity;

/// The version of the shape of everything that `--json` prints.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// Both streams, and how to write to them.
pub(super) struct Output {
    stdout: BufWriter<StdoutLock<'static>>,
    /// Whether data is printed as JSON.
    pub(super) json: bool,
    quiet: bool,
    color_out: bool,
    color_err: bool,
    /// Columns of the terminal that stdout is; `None` off a terminal.
    pub(super) width: Option<usize>,
}

/// Colours used, by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Error,
    Warning,
    Good,
    Dim,
    Bold,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Error => "\x1b[1;31m",
            Self::Warning => "\x1b[33m",
            Self::Good => "\x1b[32m",
            Self::Dim => "\x1b[2m",
            Self::Bold => "\x1b[1m",
        }
    }

    /// Returns the colour of a severity.
    pub(super) fn of(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Note => Self::Dim,
        }
    }
}

impl Output {
    /// Makes the streams ready.
    pub(super) fn new(color: ColorChoice, json: bool, quiet: bool) -> Self {
        let wants = |is_terminal: bool| match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => is_terminal,
        };
        let is_terminal = io::stdout().is_terminal();
        let width = is_terminal.then(|| console_width().max(40));
        Self {
            stdout: BufWriter::with_capacity(32 * 1024, io::stdout().lock()),
            json,
            quiet,
            color_out: wants(is_terminal),
            color_err: wants(io::stderr().is_terminal()),
            width,
        }
    }

    /// Writes bytes as they are.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.stdout
            .write_all(bytes)
            .map_err(Error::io("write to", "stdout"))
    }

    /// Standard output as a place to write to.
    pub(super) fn writer(&mut self) -> impl Write + '_ {
        &mut self.stdout
    }

    /// Writes what is in a file, as it is.
    pub(super) fn copy(&mut self, file: &mut File) -> Result<()> {
        io::copy(file, &mut self.stdout)
            .map(|_| ())
            .map_err(Error::io("write to", "stdout"))
    }

    /// Writes one line of data.
    pub(super) fn line(&mut self, line: &str) -> Result<()> {
        self.bytes(line.as_bytes())?;
        self.bytes(b"\n")
    }

    /// Writes one JSON object, adding `schema_version` in front.
    pub(super) fn object(&mut self, mut value: Value) -> Result<()> {
        if let Some(map) = value.as_object_mut() {
            map.shift_insert(0, "schema_version".to_owned(), json!(SCHEMA_VERSION));
        }
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        self.line(&text)
    }

    /// Writes a unified diff, coloured where colour is wanted.
    pub(super) fn diff(&mut self, text: &str) -> Result<()> {
        for line in text.lines() {
            let style = match line.as_bytes() {
                [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => Some(Style::Bold),
                [b'-', ..] => Some(Style::Error),
                [b'+', ..] => Some(Style::Good),
                [b'@', b'@', ..] => Some(Style::Dim),
                _ => None,
            };
            // A patch program wants the bytes as they are; a terminal must not obey them.
            let shown = if self.width.is_some() {
                clean(line)
            } else {
                Cow::Borrowed(line)
            };
            match style {
                Some(style) => {
                    let painted = self.paint(style, &shown);
                    self.line(&painted)?;
                }
                None => self.line(&shown)?,
            }
        }
        Ok(())
    }

    /// Writes rows as aligned columns, the first one as their heading.
    pub(super) fn table(&mut self, rows: &[Vec<String>]) -> Result<()> {
        for (index, line) in columns(rows).iter().enumerate() {
            if index == 0 {
                let heading = self.paint(Style::Bold, line);
                self.line(&heading)?;
            } else {
                self.line(line)?;
            }
        }
        Ok(())
    }

    /// Says something that is no data, unless `--quiet`.
    pub(super) fn say(&self, words: &str) {
        if !self.quiet {
            tell(words);
        }
    }

    /// Says something that must be seen even with `--quiet`.
    pub(super) fn warn(&self, words: &str) {
        tell(words);
    }

    /// Paints words for stdout.
    pub(super) fn paint(&self, style: Style, words: &str) -> String {
        paint(self.color_out, style, words)
    }

    /// Paints words for stderr.
    pub(super) fn paint_err(&self, style: Style, words: &str) -> String {
        paint(self.color_err, style, words)
    }

    /// Writes what is still in the buffer.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.stdout.flush().map_err(Error::io("write to", "stdout"))
    }
}

fn paint(color: bool, style: Style, words: &str) -> String {
    if color {
        format!("{}{words}\x1b[0m", style.code())
    } else {
        words.to_owned()
    }
}

/// Writes a line to stderr. A closed stderr has nobody left to tell and must not end the work.
pub(super) fn tell(words: &str) {
    let _ = writeln!(io::stderr(), "{words}");
}

fn console_width() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
}

/// Says what went wrong: `error:`, its causes, and what helps.
pub(super) fn fail(error: &Error, json: bool, color: ColorChoice) {
    if json {
        let text = serde_json::to_string_pretty(&error_object(error)).unwrap_or_default();
        // The error is the data here. A closed pipe has nobody left to tell.
        let _ = writeln!(io::stdout(), "{text}");
        return;
    }
    let colored =
        color == ColorChoice::Always || (color == ColorChoice::Auto && io::stderr().is_terminal());
    let word = paint(colored, Style::Error, "error:");
    tell(&format!("{word} {}", clean(&error.to_string())));
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        tell(&format!("  caused by: {}", clean(&inner.to_string())));
        cause = inner.source();
    }
    if let Error::AmbiguousName { candidates, .. } = error {
        for candidate in candidates {
            let (address, path) = (clean(&candidate.address), clean(&candidate.path));
            tell(&format!("  {address}  (#{}, {path})", candidate.id));
        }
    }
    for line in details(error) {
        tell(&format!("  {}", clean(&line)));
    }
    if let Some(hint) = error.hint() {
        let word = paint(colored, Style::Bold, "hint:");
        tell(&format!("{word} {}", clean(&hint)));
    }
}

/// The lines of a file that an error is about, as they are shown below it.
fn details(error: &Error) -> Vec<String> {
    let numbered = |place: &Nearby| {
        let digits = (place.first_line as usize + place.lines.len())
            .to_string()
            .len();
        let lines = place.lines.iter().zip(place.first_line..);
        lines
            .map(|(line, number)| {
                let mark = if number == place.line { '>' } else { ' ' };
                format!("{mark} {number:>digits$} | {line}")
            })
            .collect::<Vec<_>>()
    };
    match error {
        Error::Patch { miss, .. } => miss
            .places()
            .iter()
            .enumerate()
            .flat_map(|(index, place)| {
                let gap = (index > 0).then(String::new);
                gap.into_iter().chain(numbered(place))
            })
            .collect(),
        Error::Clash { clashes, .. } => clashes
            .iter()
            .flat_map(|clash| {
                let head = format!(
                    "line {}: what stands there now (-), what the undo wants (+)",
                    clash.line
                );
                let shown = clash.shown();
                std::iter::once(head).chain(shown.lines().map(str::to_owned).collect::<Vec<_>>())
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// An error as data.
pub(super) fn error_object(error: &Error) -> Value {
    let (path, line) = match error {
        Error::Config { path, line, .. } => (path.clone(), *line),
        Error::Settings { path, line, .. } => (Some(path.clone()), *line),
        Error::Patch { path, miss } => (
            Some(path.clone()),
            miss.places().first().map(|place| place.line),
        ),
        Error::Clash { path, clashes, .. } => {
            let line = clashes
                .first()
                .and_then(|clash| u32::try_from(clash.line).ok());
            (Some(path.clone()), line)
        }
        Error::Conflict { path, .. }
        | Error::Io { path, .. }
        | Error::NoFolder { path }
        | Error::NoLibrary { path }
        | Error::NoHistory { path } => (Some(path.clone()), None),
        _ => (None, None),
    };
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        message = format!("{message}: {inner}");
        cause = inner.source();
    }
    let mut object = json!({
        "schema_version": SCHEMA_VERSION,
        "error": {
            "code": error.code(),
            "message": message,
            "path": path.map(|path| path.to_string_lossy().into_owned()),
            "line": line,
            "hint": error.hint(),
        }
    });
    let places: Vec<Value> = match error {
        Error::Patch { miss, .. } => miss
            .places()
            .iter()
            .map(|place| json!({"line": place.line, "first_line": place.first_line, "lines": place.lines, "likeness": place.likeness}))
            .collect(),
        Error::Clash { clashes, .. } => clashes
            .iter()
            .map(|clash| json!({"line": clash.line, "now": clash.ours, "wanted": clash.theirs}))
            .collect(),
        _ => Vec::new(),
    };
    if let (false, Some(map)) = (
        places.is_empty(),
        object.get_mut("error").and_then(Value::as_object_mut),
    ) {
        map.insert("places".to_owned(), Value::Array(places));
    }
    if let Error::AmbiguousName { candidates, .. } = error {
        let list: Vec<Value> = candidates
            .iter()
            .map(|c| json!({"id": c.id, "address": c.address, "path": c.path}))
            .collect();
        if let Some(map) = object.get_mut("error").and_then(Value::as_object_mut) {
            map.insert("candidates".to_owned(), Value::Array(list));
        }
    }
    object
}

/// Returns `1 skill`, `2 skills`.
pub(super) fn plural(count: u64, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{} {stem}ies", grouped(count)),
        (_, None) => format!("{} {noun}s", grouped(count)),
    }
}

/// Returns a number with thousands separators.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns bytes as people read them.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// Returns text on one line, without control characters, cut to a display width.
pub(super) fn fit(text: &str, width: usize) -> String {
    let flat = one_line(text);
    if flat.width() <= width {
        return flat;
    }
    let mut used = 0;
    let mut cut = String::new();
    for character in flat.chars() {
        used += character.width().unwrap_or(0);
        if used + 1 > width {
            break;
        }
        cut.push(character);
    }
    cut.push('…');
    cut
}

/// Says whether a character could change how the rest is shown: escape codes, line breaks, and marks
/// that turn the direction of writing around.
fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns foreign text fit for a terminal: what could change how the rest is shown is replaced.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_deceptive) {
        Cow::Owned(
            text.chars()
                .map(|c| if is_deceptive(c) { '\u{fffd}' } else { c })
                .collect(),
        )
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns text on one line, without anything that could change how the rest is shown.
pub(super) fn one_line(text: &str) -> String {
    if !text.chars().any(is_deceptive) {
        return text.to_owned();
    }
    let spaced: String = text
        .chars()
        .map(|c| if is_deceptive(c) { ' ' } else { c })
        .collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns rows as aligned columns; the last one is not padded.
pub(super) fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.width())
                .max()
                .unwrap_or(0)
        })
        .collect();
    rows.iter()
        .map(|row| {
            let mut line = String::new();
            for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
                line.push_str(cell);
                if index + 1 < row.len() {
                    let padding = width.saturating_sub(cell.width()) + 2;
                    line.extend(std::iter::repeat_n(' ', padding));
                }
            }
            line
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_nouns_agree() {
        assert_eq!(plural(1, "skill"), "1 skill");
        assert_eq!(plural(0, "skill"), "0 skills");
        assert_eq!(plural(1_234_567, "file"), "1,234,567 files");
        assert_eq!(size(999), "999 bytes");
        assert_eq!(size(12_345), "12.3 kB");
        assert_eq!(size(64_000_000), "64.0 MB");
    }

    #[test]
    fn text_is_cut_by_display_width() {
        assert_eq!(fit("plain", 5), "plain");
        assert_eq!(fit("a longer text", 8), "a longe…");
        assert_eq!(fit("技能数据库", 7), "技能数…");
        assert_eq!(fit("two\nlines", 20), "two lines");
    }

    #[test]
    fn columns_are_aligned_by_display_width() {
        let rows = vec![
            vec!["技能".to_owned(), "x".to_owned()],
            vec!["a".to_owned(), "y".to_owned()],
        ];
        assert_eq!(columns(&rows), vec!["技能  x", "a     y"]);
    }
}
