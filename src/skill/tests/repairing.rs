//! Headers from the field that YAML refuses or misreads.

use serde_json::json;

use super::{ParseStatus, codes, description, lenient, skill};

#[test]
fn plain_header_is_read_without_a_word() {
    let skill = skill("name: demo\ndescription: Does a thing\n");
    assert_eq!(skill.status, ParseStatus::Ok);
    assert_eq!(skill.description.as_deref(), Some("Does a thing"));
    assert!(skill.findings.is_empty(), "{:?}", skill.findings);
}

#[test]
fn colon_in_description_is_repaired() {
    let typed =
        r#"Drafts release notes: use when a version is tagged, or someone asks "what changed?""#;
    let skill = description(typed);
    assert_eq!(skill.description.as_deref(), Some(typed));
    assert_eq!(skill.status, ParseStatus::Repaired);
    assert_eq!(lenient(&skill), [("yaml-repaired", 3)]);
    let suggestion = skill.findings[0].suggestion.as_deref();
    assert_eq!(suggestion, Some(format!("description: '{typed}'").as_str()));
}

#[test]
fn reserved_first_characters_are_repaired() {
    for typed in [
        "@-mentions the owners",
        "[beta] Finds dead links",
        "`rg`-based report",
        "*Always* use this",
        "& more",
        "%s formats",
        "{draft} Makes: notes",
        "\"Quoted\" and: more",
        "- dash: first",
    ] {
        let skill = description(typed);
        assert_eq!(
            skill.description.as_deref(),
            Some(typed),
            "{:?}",
            skill.findings
        );
        assert_eq!(lenient(&skill), [("yaml-repaired", 3)], "{typed}");
    }
}

#[test]
fn text_after_a_hash_is_told_not_restored() {
    let skill = description("Turns issue #42 style mentions into full links");
    assert_eq!(skill.status, ParseStatus::Ok);
    assert_eq!(skill.description.as_deref(), Some("Turns issue"));
    assert_eq!(lenient(&skill), [("comment-cut-value", 3)]);
    let suggestion = skill.findings[0].suggestion.as_deref();
    let whole = "description: \"Turns issue #42 style mentions into full links\"";
    assert_eq!(suggestion, Some(whole));
}

#[test]
fn comments_after_quotes_and_on_own_lines_cut_nothing() {
    let skill = skill("# head\nname: demo\ndescription: \"x # y\" # z\n# tail\n");
    assert_eq!(skill.description.as_deref(), Some("x # y"));
    assert!(codes(&skill).is_empty(), "{:?}", skill.findings);
}

#[test]
fn wrapped_broken_text_is_joined() {
    let skill =
        skill("name: demo\ndescription: Use: when\n  wrapped by\n\n  a formatter\nlicense: MIT\n");
    assert_eq!(
        skill.description.as_deref(),
        Some("Use: when wrapped by a formatter")
    );
    assert_eq!(skill.fields.license.as_deref(), Some("MIT"));
}

#[test]
fn text_below_its_key_is_joined_and_repaired() {
    let skill = skill("name: demo\ndescription:\n  @owners get\n  a mention\n");
    assert_eq!(skill.description.as_deref(), Some("@owners get a mention"));
    assert_eq!(lenient(&skill), [("yaml-repaired", 4)]);
}

#[test]
fn unclosed_quote_does_not_swallow_the_next_key() {
    let skill = skill("description: \"Use it\nname: demo\n");
    assert_eq!(skill.description.as_deref(), Some("Use it"));
    assert_eq!(skill.declared_name.as_deref(), Some("demo"));
}

#[test]
fn missing_blank_after_a_known_key_is_repaired() {
    let skill = skill("name:demo\ndescription: fine\n");
    assert_eq!(skill.declared_name.as_deref(), Some("demo"));
    assert_eq!(lenient(&skill), [("yaml-repaired", 2)]);
}

#[test]
fn broken_child_is_repaired_and_its_siblings_stay() {
    let skill =
        skill("name: demo\ndescription: x\nmetadata:\n  a: 1.10\n  b: c: d\n  e:\n    f: @g\n");
    assert_eq!(
        skill.header["metadata"],
        json!({"a": "1.10", "b": "c: d", "e": {"f": "@g"}})
    );
    assert_eq!(
        lenient(&skill),
        [("yaml-repaired", 6), ("yaml-repaired", 8)]
    );
    assert_eq!(
        skill.findings[0].suggestion.as_deref(),
        Some("  b: \"c: d\"")
    );
}

#[test]
fn tab_indented_map_is_dropped_whole() {
    let skill = skill("name: demo\ndescription: x\nmetadata:\n\tteam: core\n\ttier: one\n");
    assert_eq!(skill.header.get("metadata"), None);
    assert_eq!(lenient(&skill), [("yaml-tab-indent", 5)]);
    assert_eq!(skill.status, ParseStatus::Repaired);
}

#[test]
fn broken_list_is_dropped_with_an_error() {
    let skill = skill("name: demo\ndescription: x\ntags:\n  - a\n  - @b\n");
    assert_eq!(skill.header.get("tags"), None);
    assert_eq!(lenient(&skill), [("yaml-error", 4)]);
}

#[test]
fn stray_lines_are_told_and_skipped() {
    let skill = skill("name: demo\nwhat is this\ndescription: x\n...\n");
    assert_eq!(skill.description.as_deref(), Some("x"));
    assert_eq!(lenient(&skill), [("yaml-error", 3), ("yaml-error", 5)]);
}

#[test]
fn header_of_which_nothing_is_left_is_unreadable() {
    let skill = skill("what is: [this\n@\n");
    assert_eq!(skill.status, ParseStatus::Unreadable);
    assert!(codes(&skill).contains(&"yaml-error"));
}

#[test]
fn json5_metadata_is_read() {
    let header = r#"name: demo
description: x
metadata: {
  // who
  'openclaw': { os: ['darwin',], requires: { bins: ["uv"], }, },
}
"#;
    let skill = skill(header);
    assert_eq!(lenient(&skill), [("json5-value", 4)]);
    assert_eq!(skill.fields.conditions[0].value, "macos");
    assert_eq!(skill.fields.requirements[0].name, "uv");
}

#[test]
fn metadata_in_a_string_is_read_as_the_object_it_holds() {
    let skill = skill(
        r#"name: demo
description: x
metadata: '{"clawdbot":{"requires":{"env":["KEY"]}}}'
"#,
    );
    assert_eq!(skill.fields.requirements[0].name, "KEY");
    assert_eq!(codes(&skill), ["metadata-not-map"]);
}

#[test]
fn nul_characters_lose_nothing_and_are_replaced() {
    let skill = skill("name: demo\n\0\ndescription: a\0b\n\"k\0\": c\n");
    assert_eq!(skill.description.as_deref(), Some("a\u{FFFD}b"));
    assert_eq!(skill.header.get("k\u{FFFD}"), Some(&json!("c")));
}
