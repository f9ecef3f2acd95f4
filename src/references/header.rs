//! The declared name in a header.

/// Returns the text with another declared name, quotes and comment kept; `None` where the header declares none in a
/// line of its own.
#[must_use]
pub fn rename_declared(text: &str, name: &str) -> Option<String> {
    let mut at = 0;
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    if first.trim_start_matches('\u{feff}').trim_end() != "---" {
        return None;
    }
    at += first.len();
    for line in lines {
        if line.trim_end() == "---" {
            return None;
        }
        if let Some(rest) = line.strip_prefix("name:") {
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            let start = at + "name:".len() + blanks;
            let value = text.get(start..at + line.len())?;
            let (inner, length) = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => (1, value.get(1..)?.find(quote)?),
                _ => {
                    let end = value.find(" #").unwrap_or(value.len());
                    (0, value.get(..end)?.trim_end().len())
                }
            };
            let (start, end) = (start + inner, start + inner + length);
            // A name without a blank before it is no name.
            let gap = if blanks == 0 { " " } else { "" };
            return Some(format!(
                "{}{gap}{name}{}",
                text.get(..start)?,
                text.get(end..)?
            ));
        }
        at += line.len();
    }
    None
}
