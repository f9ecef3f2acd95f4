//! The specification's rules for a skill's name, on its NFKC form. Knows nothing of where the name
//! came from.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::code::Code;
use super::findings::Findings;

const LONGEST_NAME: usize = 64;

/// Holds a declared name against the rules and the name of its folder.
pub(super) fn check(declared: &str, folder: &str, at: usize, findings: &mut Findings<'_>) {
    let name = normal_form(declared);
    if !folder.is_empty() && name != normal_form(folder) {
        let message = format!("`name` is `{declared}`, the folder is `{folder}`");
        findings.add(Code::NameMismatch, at, message);
    }
    let length = name.chars().count();
    if length > LONGEST_NAME {
        let message = format!("`name` has {length} characters, more than {LONGEST_NAME}");
        findings.add(Code::NameTooLong, at, message);
    }
    if name.starts_with('-') || name.ends_with('-') {
        findings.add(
            Code::NameHyphenEdge,
            at,
            "`name` starts or ends with a hyphen",
        );
    }
    if name.contains("--") {
        findings.add(
            Code::NameDoubleHyphen,
            at,
            "`name` holds two hyphens in a row",
        );
    }
    if let Some(odd) = name.chars().find(|&c| !is_allowed(c)) {
        findings.add(
            Code::NameCharset,
            at,
            format!("`{odd}` is not allowed in `name`"),
        );
    } else if !declared.is_ascii() {
        let message = format!("`name` is `{declared}`, which not every client accepts");
        findings.add(Code::NameNotPlain, at, message);
    }
}

fn normal_form(text: &str) -> String {
    // Nearly every name is ASCII, which is its own normal form.
    if text.is_ascii() {
        text.to_owned()
    } else {
        text.nfkc().collect()
    }
}

/// Letters of scripts without case count as lower case, as in the reference validator.
fn is_allowed(c: char) -> bool {
    let lower = c.is_alphanumeric() && !is_combining_mark(c) && c.to_lowercase().eq([c]);
    lower || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(declared: &str, folder: &str) -> Vec<&'static str> {
        let mut findings = Findings::new("", 1);
        check(declared, folder, 0, &mut findings);
        findings
            .finish()
            .iter()
            .map(|finding| finding.code.as_str())
            .collect()
    }

    #[test]
    fn plain_name_in_its_folder_is_fine() {
        assert!(codes("pdf-tools-2", "pdf-tools-2").is_empty());
    }

    #[test]
    fn other_folder_is_a_mismatch() {
        assert_eq!(codes("pdf-tools", "pdf-tools-v2"), ["name-mismatch"]);
    }

    #[test]
    fn upper_case_in_a_folder_of_that_name_breaks_only_the_charset() {
        assert_eq!(codes("Invoice_Helper", "Invoice_Helper"), ["name-charset"]);
    }

    #[test]
    fn ligature_equals_its_letters_but_is_not_plain() {
        assert_eq!(codes("ﬁle-sort", "file-sort"), ["name-not-plain"]);
    }

    #[test]
    fn hyphens_and_length_are_checked() {
        assert_eq!(
            codes("-a--b", "-a--b"),
            ["name-double-hyphen", "name-hyphen-edge"]
        );
        assert_eq!(codes(&"a".repeat(65), &"a".repeat(65)), ["name-too-long"]);
        assert!(codes(&"a".repeat(64), &"a".repeat(64)).is_empty());
    }
}
