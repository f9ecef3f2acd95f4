//! The codes a reading can report, with their two severities and a sentence of explanation each.
//! One table, no logic.

use std::fmt;

/// How bad a finding is; the worst compares greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing, nothing to do.
    Note,
    /// The skill works here, but may not elsewhere.
    Warning,
    /// Something of the skill is lost or refused.
    Error,
}

impl Severity {
    /// Returns the word shown to people and stored in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Builds the enum and its look-ups from one row a code: variant, text, lenient, strict, explanation.
macro_rules! codes {
    ($($variant:ident $text:literal $lenient:tt $strict:tt $explain:literal)*) => {
        /// What was found, as a stable word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $explain] $variant,)*
        }

        impl Code {
            /// Returns the stable word for this code, e.g. `yaml-repaired`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Returns the severity when skills are loaded; `None` when loading does not care.
            #[must_use]
            pub fn lenient(self) -> Option<Severity> {
                match self { $(Self::$variant => codes!(@severity $lenient),)* }
            }

            /// Returns the severity when a skill is held against the specification.
            #[must_use]
            pub fn strict(self) -> Severity {
                match self { $(Self::$variant => Severity::$strict,)* }
            }

            /// Returns what the code means and what to do about it.
            #[must_use]
            pub fn explain(self) -> &'static str {
                match self { $(Self::$variant => $explain,)* }
            }

            /// Lists every code, in alphabetical order.
            #[must_use]
            pub fn all() -> &'static [Code] {
                &[$(Self::$variant,)*]
            }
        }
    };
    (@severity -) => { None };
    (@severity $severity:ident) => { Some(Severity::$severity) };
}

codes! {
    ArgumentHintNotText "argument-hint-not-text" Warning Warning
        "`argument-hint` reads as a YAML list or map; several clients need text. Quote the value."
    BareCr "bare-cr" Warning Warning
        "A header line ends in a lone carriage return; many readers then see one long line. Save the file with LF line ends."
    BodyEmpty "body-empty" - Warning
        "There is no text after the header, so the skill tells an agent nothing."
    BodyLong "body-long" - Note
        "The text has more than 500 lines. Move details into files under `references/`."
    ByteOrderMark "byte-order-mark" Note Warning
        "The file starts with a byte order mark; several clients then overlook the header. Save as UTF-8 without it."
    CommentCutValue "comment-cut-value" Warning Warning
        "YAML takes ` #` as the start of a comment, so the text after it is not part of the value. Quote the value."
    CompatibilityLength "compatibility-length" - Error
        "`compatibility` must have 1 to 500 characters when it is given."
    DescriptionMissing "description-missing" Warning Error
        "The header has no `description`, so no agent knows when to use the skill."
    DescriptionTooLong "description-too-long" Warning Error
        "`description` has more than 1,024 characters; some clients cut it, others refuse the skill."
    EncodingUtf16 "encoding-utf16" Error Error
        "The file is UTF-16 or UTF-32. Save it as UTF-8."
    ExtensionKey "extension-key" - Note
        "The key belongs to some clients and is not part of the specification."
    FieldType "field-type" Warning Error
        "A known field holds a kind of value that no client reads, such as a list where text belongs."
    FrontmatterMissing "frontmatter-missing" Warning Error
        "The file has no header between `---` lines, so the folder's name has to do."
    FrontmatterNotFirst "frontmatter-not-first" Warning Error
        "Something stands before the opening `---`; several clients will not see the header. Move it to the first line."
    FrontmatterNotMapping "frontmatter-not-mapping" Error Error
        "The header is not a list of `key: value` lines."
    FrontmatterTooLarge "frontmatter-too-large" Error Error
        "The header is larger than 128 KiB. Is the closing `---` where it should be?"
    FrontmatterUnclosed "frontmatter-unclosed" Error Error
        "The header starts with `---` but no later line is `---`, so it has no end."
    InvalidUtf8 "invalid-utf8" Warning Error
        "Some bytes are not UTF-8 and were read as U+FFFD. Save the file as UTF-8."
    Json5Value "json5-value" Warning Error
        "The value is JSON5 (comments, single quotes, bare keys), which is not YAML; most clients drop it."
    LicenseNotText "license-not-text" - Error
        "`license` must be a short text, such as a licence's name."
    MetadataNotMap "metadata-not-map" - Error
        "`metadata` must be a map of text to text."
    MetadataValueNotText "metadata-value-not-text" - Note
        "A value below `metadata` is a list or map; the specification wants text there."
    NameCharset "name-charset" Warning Error
        "`name` may hold lower-case letters, digits and hyphens only."
    NameDoubleHyphen "name-double-hyphen" Warning Error
        "`name` may not hold two hyphens in a row."
    NameHyphenEdge "name-hyphen-edge" Warning Error
        "`name` may not start or end with a hyphen."
    NameMismatch "name-mismatch" Warning Error
        "`name` differs from the name of the folder; clients disagree on which one counts."
    NameMissing "name-missing" Warning Error
        "The header has no `name`, so the folder's name is used."
    NameNotPlain "name-not-plain" Warning Warning
        "`name` is legal only for readers that allow more than plain ASCII letters. Use `a` to `z`, digits and hyphens."
    NameTooLong "name-too-long" Warning Error
        "`name` has more than 64 characters; some clients cut it, others refuse the skill."
    UnknownKey "unknown-key" - Warning
        "No known client reads this key. Is it misspelt?"
    YamlAlias "yaml-alias" Error Error
        "The header uses YAML anchors, aliases or merge keys, which are refused. Write the value out."
    YamlDuplicateKey "yaml-duplicate-key" Warning Error
        "The same key is given twice; the last one counts here, other clients take the first or refuse the file."
    YamlError "yaml-error" Error Error
        "A part of the header is not YAML and could not be understood; it was left out."
    YamlRepaired "yaml-repaired" Warning Error
        "The value is not valid YAML and was read as the text that was typed; most clients drop the skill. Quote the value."
    YamlTabIndent "yaml-tab-indent" Error Error
        "A tab is used as indentation, which YAML forbids; the entry was left out. Use spaces."
    YamlTag "yaml-tag" Note Warning
        "A YAML tag was ignored; other readers may refuse it."
    YamlTooDeep "yaml-too-deep" Error Error
        "The header nests more than 16 levels deep."
    YamlTooManyNodes "yaml-too-many-nodes" Error Error
        "The header has more than 4,096 keys and values."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_listed_in_alphabetical_order() {
        assert!(Code::all().is_sorted_by(|a, b| a.as_str() < b.as_str()));
    }

    #[test]
    fn error_is_the_worst_severity() {
        assert_eq!(
            Code::all().iter().map(|code| code.strict()).max(),
            Some(Severity::Error)
        );
    }

    #[test]
    fn strict_is_never_milder_than_lenient() {
        assert!(
            Code::all()
                .iter()
                .all(|code| code.lenient() <= Some(code.strict()))
        );
    }
}
