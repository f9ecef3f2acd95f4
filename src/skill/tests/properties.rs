//! What must hold for any bytes.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, TestCaseError, any};
use proptest::{prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::super::Code;
use super::{ParseStatus, read, skill};

/// Text that hits the reader's branches more often than random characters do.
fn yamlish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("---"),
        Just("\n"),
        Just("\r\n"),
        Just("\r"),
        Just("name"),
        Just("description"),
        Just(": "),
        Just(":"),
        Just("- "),
        Just("  "),
        Just("\t"),
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(","),
        Just("'"),
        Just("\""),
        Just("|"),
        Just(">"),
        Just("#"),
        Just(" # "),
        Just("&a"),
        Just("*a"),
        Just("!t "),
        Just("<<"),
        Just("//"),
        Just("/*"),
        Just("*/"),
        Just("\\u"),
        Just("ä"),
        Just("\u{FEFF}"),
        Just("\0"),
        Just("metadata:\n  "),
        Just("? "),
        Just("argument-hint: "),
        Just("~"),
        Just("..."),
        Just("<!--"),
        Just("-->"),
        Just("%"),
        Just("@"),
    ];
    vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn check_parts(bytes: &[u8]) -> Result<(), TestCaseError> {
    let skill = read(bytes, "demo");
    prop_assert!(skill.body_offset <= bytes.len());
    prop_assert!(skill.header_span.end <= skill.body_offset);
    prop_assert!(
        skill
            .findings
            .is_sorted_by_key(|f| (f.line, f.column, f.code))
    );
    prop_assert!(
        skill
            .findings
            .iter()
            .all(|finding| finding.line > 0 && finding.column > 0)
    );
    let stored = serde_json::to_string(&skill.header).unwrap();
    prop_assert!(
        !stored.contains("\\r") && !stored.contains("\\u0000"),
        "{}",
        stored
    );
    if skill.header_span != (0..0) {
        let fence = &bytes[skill.header_span.end..skill.body_offset];
        prop_assert!(fence.starts_with(b"---"));
        prop_assert!(fence[3..].iter().all(u8::is_ascii_whitespace));
    }
    if let Ok(text) = str::from_utf8(bytes) {
        prop_assert!(text.is_char_boundary(skill.body_offset));
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in vec(any::<u8>(), 0..300)) {
        check_parts(&bytes)?;
    }

    #[test]
    fn any_yamlish_text_is_read(text in yamlish()) {
        check_parts(text.as_bytes())?;
        check_parts(format!("---\n{text}\n---\nbody").as_bytes())?;
    }

    #[test]
    fn quoted_texts_read_back_exactly(values in vec("[^\r\n\0]{0,40}", 1..8)) {
        let header: String = values.iter().enumerate()
            .map(|(n, value)| format!("k{n}: '{}'\n", value.replace('\'', "''"))).collect();
        let skill = skill(&header);
        for (n, value) in values.iter().enumerate() {
            prop_assert_eq!(skill.header[&format!("k{n}")].as_str(), Some(value.as_str()));
        }
    }

    #[test]
    fn json_quoted_texts_read_back_exactly(value in any::<String>()) {
        let value = value.replace(['\r', '\0'], " ");
        let skill = skill(&format!("k: {}\n", serde_json::Value::from(value.as_str())));
        prop_assert_eq!(skill.header["k"].as_str(), Some(value.as_str()));
    }

    #[test]
    fn suggested_line_reads_back_as_the_repaired_text(typed in "[ -~ä]{0,60}") {
        let before = skill(&format!("name: demo\ndescription: {typed}\n"));
        let repaired = before.findings.iter().find(|finding| finding.code == Code::YamlRepaired);
        if let Some(line) = repaired.and_then(|finding| finding.suggestion.as_deref()) {
            let after = skill(&format!("name: demo\n{line}\n"));
            prop_assert_eq!(after.status, ParseStatus::Ok);
            prop_assert_eq!(after.description, before.description);
        }
    }
}
