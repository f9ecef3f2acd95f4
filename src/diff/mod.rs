//! Texts compared: shown as a unified diff, and merged three ways. Pure.

mod merge;

pub use merge::{Clash, merge};

use similar::TextDiff;

/// Lines of context around a difference.
const CONTEXT: usize = 3;

/// Returns the difference as a unified diff, as `patch` reads it; empty when there is none. `None` stands for a
/// file that is not there.
#[must_use]
pub fn unified(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    if before == after {
        return String::new();
    }
    let name = |side: char, bytes: Option<&[u8]>| match bytes {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (old, new) = (name('a', before), name('b', after));
    let text = |bytes: Option<&[u8]>| match bytes {
        None => Some(String::new()),
        Some(bytes) if bytes.contains(&0) => None,
        Some(bytes) => std::str::from_utf8(bytes).ok().map(str::to_owned),
    };
    let (Some(before), Some(after)) = (text(before), text(after)) else {
        return format!("--- {old}\n+++ {new}\nBinary files differ\n");
    };
    TextDiff::from_lines(&before, &after)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&old, &new)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_comes_from_nothing() {
        let text = unified("SKILL.md", None, Some(b"a\n"));
        assert_eq!(text, "--- /dev/null\n+++ b/SKILL.md\n@@ -0,0 +1 @@\n+a\n");
    }

    #[test]
    fn what_is_no_text_is_only_named() {
        assert!(unified("a.png", Some(b"\0"), Some(b"\0\0")).contains("Binary files differ"));
        assert_eq!(unified("a", Some(b"x"), Some(b"x")), "");
    }
}
