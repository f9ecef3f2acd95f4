//! What is read out of headers that are in order, and what is said of them.

use serde_json::json;

use super::{ParseStatus, codes, lenient, read, skill};

#[test]
fn argument_hint_is_always_text() {
    let listed = skill("name: demo\ndescription: x\nargument-hint: [issue-number]\n");
    assert_eq!(
        listed.fields.argument_hint.as_deref(),
        Some("[issue-number]")
    );
    assert_eq!(lenient(&listed), [("argument-hint-not-text", 4)]);
    assert_eq!(listed.status, ParseStatus::Ok);
    let broken = skill(
        "name: demo\ndescription: x\nargument-hint: [file] [--fast]\nallowed-tools: [Read, Grep]\n",
    );
    assert_eq!(
        broken.fields.argument_hint.as_deref(),
        Some("[file] [--fast]")
    );
    assert_eq!(broken.fields.allowed_tools, ["Read", "Grep"]);
}

#[test]
fn scalars_stay_as_typed() {
    let skill = skill(
        r#"name: 2048
description: 404
metadata:
  v: 1.10
  d: 2026-03-04
  n: no
  o: 010
  x: 0x1F
  t: ~
  u: "~"
  w:
"#,
    );
    assert_eq!(skill.declared_name.as_deref(), Some("2048"));
    let wanted = json!({
        "v": "1.10", "d": "2026-03-04", "n": "no", "o": "010", "x": "0x1F",
        "t": null, "u": "~", "w": null
    });
    assert_eq!(skill.header["metadata"], wanted);
}

#[test]
fn booleans_are_read_loosely() {
    let skill = skill(
        "name: demo\ndescription: x\ndisable-model-invocation: YES\nuser-invocable: \"off\"\n",
    );
    assert_eq!(skill.fields.disable_model_invocation, Some(true));
    assert_eq!(skill.fields.user_invocable, Some(false));
}

#[test]
fn anchors_aliases_and_merge_keys_are_refused() {
    for header in [
        "a: &x y\n",
        "a: *x\n",
        "b: {<<: {c: d}}\n",
        "a: b: c\nd: &x e\n",
    ] {
        let skill = skill(header);
        assert_eq!(
            (skill.status, codes(&skill).last()),
            (ParseStatus::Unreadable, Some(&"yaml-alias"))
        );
    }
}

#[test]
fn duplicate_key_counts_last_and_is_told() {
    let skill = skill("name: a\nname: demo\ndescription: x\n");
    assert_eq!(skill.declared_name.as_deref(), Some("demo"));
    assert_eq!(lenient(&skill), [("yaml-duplicate-key", 3)]);
    assert!(skill.findings[0].message.contains("line 2"));
}

#[test]
fn other_tags_are_told_and_core_tags_are_not() {
    let skill = skill("name: !!str demo\ndescription: !mine x\n");
    assert_eq!(skill.description.as_deref(), Some("x"));
    assert_eq!(lenient(&skill), [("yaml-tag", 3)]);
}

#[test]
fn header_that_is_no_mapping_is_unreadable() {
    for header in ["- a\n", "just text\n"] {
        let skill = skill(header);
        assert_eq!(skill.status, ParseStatus::Unreadable);
        assert_eq!(codes(&skill), ["frontmatter-not-mapping"]);
    }
}

#[test]
fn empty_header_misses_both_fields() {
    for header in ["", "# only a comment\n", "\n"] {
        assert_eq!(
            codes(&skill(header)),
            ["description-missing", "name-missing"]
        );
    }
}

#[test]
fn file_without_header_is_all_body() {
    let skill = read(b"\xEF\xBB\xBF# Title\n", "demo");
    assert_eq!(
        (skill.status, skill.body_offset),
        (ParseStatus::Repaired, 3)
    );
    assert_eq!(codes(&skill), ["byte-order-mark", "frontmatter-missing"]);
}

#[test]
fn unclosed_header_swallows_nothing() {
    let skill = read(b"---\nname: x\ndescription: y\n\n# Body\n", "x");
    assert_eq!(
        (skill.status, skill.description.as_deref()),
        (ParseStatus::Unreadable, None)
    );
    assert_eq!(lenient(&skill), [("frontmatter-unclosed", 1)]);
}

#[test]
fn invalid_bytes_are_replaced_and_told() {
    let skill = read(
        b"---\nname: demo\ndescription: caf\xE9 x\n---\nbody\n",
        "demo",
    );
    assert_eq!(skill.description.as_deref(), Some("caf\u{FFFD} x"));
    assert_eq!(lenient(&skill), [("invalid-utf8", 3)]);
    assert_eq!(
        (skill.status, skill.findings[0].column),
        (ParseStatus::Repaired, 17)
    );
}

#[test]
fn values_never_hold_a_carriage_return() {
    let text = "---\nname: demo\ndescription: |\n  a\n  b\nx: \"c\n  d\\r\"\n---\nbody\n";
    let skill = read(text.replace('\n', "\r\n").as_bytes(), "demo");
    assert_eq!(skill.description.as_deref(), Some("a\nb"));
    assert!(
        !serde_json::to_string(&skill.header)
            .unwrap()
            .contains("\\r")
    );
}

#[test]
fn lone_carriage_returns_are_read_and_told() {
    let skill = read(b"---\rname: demo\rdescription: x\r---\r\rbody\r", "demo");
    assert_eq!(skill.description.as_deref(), Some("x"));
    assert_eq!(lenient(&skill), [("bare-cr", 2)]);
}

#[test]
fn unknown_and_foreign_keys_are_told_apart() {
    let skill = skill("name: demo\ndescription: x\nversion: 1.10\nlicence: MIT\n");
    assert_eq!(codes(&skill), ["extension-key", "unknown-key"]);
    assert!(skill.findings[1].message.contains("`license`"));
}

#[test]
fn wrong_types_are_told() {
    let skill = skill(
        "name: [demo]\ndescription:\n  a: b\nlicense: [x]\nmetadata: [y]\ncompatibility: ''\n",
    );
    let wanted = [
        "description-missing",
        "name-missing",
        "field-type",
        "field-type",
    ];
    assert_eq!(codes(&skill)[..4], wanted);
    let rest = [
        "license-not-text",
        "metadata-not-map",
        "compatibility-length",
    ];
    assert_eq!(codes(&skill)[4..], rest);
}

#[test]
fn limits_of_the_specification_are_checked() {
    let skill = read(
        format!("---\nname: demo\ndescription: {}\n---\n", "ä".repeat(1025)).as_bytes(),
        "demo",
    );
    assert_eq!(codes(&skill), ["description-too-long", "body-empty"]);
    let long = read(
        format!(
            "---\nname: demo\ndescription: x\n---\n{}",
            "x\n".repeat(501)
        )
        .as_bytes(),
        "demo",
    );
    assert_eq!(
        (codes(&long), long.findings[0].line),
        (vec!["body-long"], 5)
    );
}

#[test]
fn requirements_of_all_clients_share_one_vocabulary() {
    let header = r"name: demo
description: x
platforms: [macos, linux]
prerequisites:
  env_vars: [A]
  commands: jq, rg
required_environment_variables:
  - name: A
    prompt: The key
  - B
required_credential_files:
  - path: t.json
    description: token
metadata:
  clawdis:
    os: [win32]
    primaryEnv: C
    requires: {anyBins: [uv, pip]}
  hermes:
    requires_tools: terminal, web
    tags: [one, two]
    config:
      - {key: a.b, description: d, default: 1.0}
  tags: two
";
    let fields = skill(header).fields;
    let names: Vec<_> = fields
        .requirements
        .iter()
        .map(|r| (r.name.as_str(), r.required))
        .collect();
    let wanted = [
        ("A", true),
        ("B", true),
        ("C", true),
        ("jq", true),
        ("rg", true),
        ("uv", false),
        ("pip", false),
        ("t.json", true),
    ];
    assert_eq!(names, wanted);
    assert_eq!(
        fields.requirements[0].description.as_deref(),
        Some("The key")
    );
    let conditions: Vec<_> = fields
        .conditions
        .iter()
        .map(|c| (c.kind.as_str(), c.value.as_str()))
        .collect();
    assert_eq!(
        conditions,
        [
            ("platform", "macos"),
            ("platform", "linux"),
            ("platform", "windows"),
            ("requires_tool", "terminal"),
            ("requires_tool", "web")
        ]
    );
    assert_eq!(fields.tags, ["one", "two"]);
    assert_eq!(fields.config[0].default.as_deref(), Some("1.0"));
}

#[test]
fn hostile_headers_are_refused_or_read_in_bounds() {
    let flow = format!("a: {}\n", "[".repeat(10_000));
    let block: String = (0..350).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    let dashes = format!("a:\n{}\n", "- ".repeat(10_000));
    let keys: String = (0..10_000).map(|n| format!("k{n}: v\n")).collect();
    let broken: String = (0..10_000).map(|n| format!("k{n}: @\n")).collect();
    let lists: String = (0..9_000).map(|n| format!("k{n}:\n - @\n")).collect();
    let wanted = [
        (flow, "yaml-too-deep"),
        (block, "yaml-too-deep"),
        (dashes, "yaml-too-deep"),
        (keys, "yaml-too-many-nodes"),
        (broken, "yaml-too-many-nodes"),
        (lists, "yaml-too-many-nodes"),
        (
            format!("a: {}\n", "x".repeat(1 << 20)),
            "frontmatter-too-large",
        ),
    ];
    for (header, code) in wanted {
        let skill = skill(&header);
        assert_eq!(skill.status, ParseStatus::Unreadable, "{code}");
        assert!(
            codes(&skill).contains(&code),
            "{code}: {:?}",
            codes(&skill).first()
        );
    }
}
