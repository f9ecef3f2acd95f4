//! Owns the checks that edits of a settings text change our hooks and nothing else.

use super::*;

const COMMAND: &str = "skilldb hook claude-code";

const ENTRIES: [HookEntry<'static>; 2] = [
    HookEntry {
        event: "PostToolUse",
        matcher: Some("Skill"),
        command: COMMAND,
        timeout_seconds: 5,
    },
    HookEntry {
        event: "UserPromptExpansion",
        matcher: None,
        command: COMMAND,
        timeout_seconds: 5,
    },
];

/// Texts for the round trip: with `\n`, without byte order mark.
const SHAPES: [&str; 35] = [
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "{\n\n  \n}",
    "// head\n{}\n// tail\n",
    "{ /* inside */ }",
    "{\n  // inside\n}\n",
    "{\"a\":1}",
    "{ \"a\": 1 }\n",
    "{\"a\":1,}",
    "{\"a\": [1, 2,], }",
    "{\n  \"a\": 1\n}\n",
    "{\n    \"a\": 1,\n    \"b\": {\n        \"c\": []\n    }\n}\n",
    "{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"c\": {}\n\t}\n}",
    "{\n  \"a\": 1,\n}\n",
    "{\n  \"a\": 1 // note\n}\n",
    "{\n  \"a\": 1, // note\n}\n",
    "{\n  \"a\": 1 /* x */ , /* y */\n  // \"b\": 2\n}\n",
    "{\n  \"a\": 1\n  // \"b\": 2,\n\n}\n",
    "{\"a\":1 // note\n}",
    "{\n  \"a\": 1,\n  \"b\": 2}",
    "{\"a\": {\n  \"b\": 1\n}}",
    "\n\n  {\n    \"a\": 1\n  }\n\n",
    "{\n  \"hooks\": {},\n  \"a\": 1\n}\n",
    "{\"hooks\":{}}",
    "{ \"hooks\" : { } , \"a\": 1 }",
    "{\n  \"hooks\": {\n  }\n}\n",
    "{\n  \"hooks\": {\n    // none yet\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"PostToolUse\": [],\n    \"Stop\": []\n  }\n}\n",
    "{\"hooks\":{\"PostToolUse\":[],\"UserPromptExpansion\":[ ]}}",
    "{\n  \"hooks\": {\n    \"PostToolUse\": [\n      /* none */\n    ]\n  }\n}\n",
    "{\"hooks\":{\"PostToolUse\":[{\"matcher\":\"Skill\",\"hooks\":[{\"type\":\"command\",\"command\":\"other\"}]}]}}",
    "{\n  \"hooks\": {\n    \"PostToolUse\": [{\n      \"matcher\": \"Skill\",\n      \"hooks\": [\n        // theirs\n        {\"command\": \"other\"}, // yes\n      ]\n    }], // c\n  },\n}\n",
    "{\n  \"hooks\": {\n    \"PostToolUse\": [\n      { \"hooks\": [] }, 7, {\"hooks\": 1},\n      null // odd\n    ]\n  }, \"z\": \"\\u00e4\\ud83d\\ude00\"\n}",
];

fn ours(command: &str) -> bool {
    command.contains("skilldb hook")
}

fn install(text: &str) -> String {
    plan_install(text, &ENTRIES, &ours).unwrap()
}

fn uninstall(text: &str) -> String {
    plan_uninstall(text, &ours).unwrap()
}

fn our_hooks(text: &str) -> Vec<FoundHook> {
    let hooks = find_hooks(text).unwrap().into_iter();
    hooks.filter(|hook| ours(&hook.command)).collect()
}

fn error(text: &str) -> String {
    let error = plan_install(text, &ENTRIES, &ours).unwrap_err();
    assert_eq!(Err(&error), plan_uninstall(text, &ours).as_ref());
    assert_eq!(Err(&error), find_hooks(text).as_ref());
    error.to_string()
}

#[test]
fn uninstall_undoes_install() {
    for shape in SHAPES {
        for text in [
            shape.to_owned(),
            shape.replace('\n', "\r\n"),
            format!("{BOM}{shape}"),
        ] {
            let installed = install(&text);
            let found = our_hooks(&installed);
            assert!(
                found.len() == 2
                    && found[0].is_exactly(&ENTRIES[0])
                    && found[1].is_exactly(&ENTRIES[1]),
                "{installed}"
            );
            assert_eq!(install(&installed), installed, "not idempotent");
            assert_eq!(uninstall(&text), text, "nothing of ours in there");
            assert_eq!(uninstall(&installed), text, "via {installed}");
            let lines = installed.matches('\n').count();
            let expected = if text.contains('\r') { lines } else { 0 };
            assert_eq!(installed.matches("\r\n").count(), expected, "line ends");
        }
    }
}

#[test]
fn entries_come_and_go_one_by_one() {
    for shape in SHAPES {
        let first = plan_install(shape, &ENTRIES[..1], &ours).unwrap();
        assert_eq!(our_hooks(&first).len(), 1);
        assert_eq!(uninstall(&first), shape, "via {first}");
        let both = install(&first);
        assert_eq!(both, install(shape));
        assert_eq!(
            plan_install(&both, &ENTRIES[..1], &ours).unwrap(),
            first,
            "via {both}"
        );
        assert_eq!(plan_install(&both, &[], &ours).unwrap(), shape);
    }
}

#[test]
fn empty_text_becomes_a_pretty_object() {
    let expected = r#"{
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "Skill",
        "hooks": [
          {
            "type": "command",
            "command": "skilldb hook claude-code",
            "timeout": 5
          }
        ]
      }
    ]
  }
}
"#;
    for blank in ["", " \t\r\n", "{}\n"] {
        assert_eq!(plan_install(blank, &ENTRIES[..1], &ours).unwrap(), expected);
        assert_eq!(uninstall(blank), blank);
        assert_eq!(plan_install(blank, &[], &ours).unwrap(), blank);
        assert_eq!(find_hooks(blank), Ok(Vec::new()));
    }
    assert_eq!(uninstall(expected), "{}\n");
    let marked = plan_install(BOM, &ENTRIES[..1], &ours).unwrap();
    assert_eq!(marked, format!("{BOM}{expected}"));
}

#[test]
fn new_text_follows_the_style_of_the_file() {
    let one = |text| plan_install(text, &ENTRIES[1..], &ours).unwrap();
    assert_eq!(
        one("{\"a\":1}"),
        r#"{"a":1,"hooks":{"UserPromptExpansion":[{"hooks":[{"type":"command","command":"skilldb hook claude-code","timeout":5}]}]}}"#
    );
    let tabs = "{\n\t\"hooks\": {\n\t\t\"Stop\": [] // s\n\t}, // h\n}";
    let expected = "{\n\t\"hooks\": {\n\t\t\"Stop\": [], // s\n\t\t\"UserPromptExpansion\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"type\": \"command\",\n\t\t\t\t\t\t\"command\": \"skilldb hook claude-code\",\n\t\t\t\t\t\t\"timeout\": 5\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}, // h\n}";
    assert_eq!(one(tabs), expected);
    let four = one("{\n    \"a\": 1, // x\n}");
    assert!(
        four.starts_with("{\n    \"a\": 1, // x\n    \"hooks\": {\n        \"User"),
        "{four}"
    );
    assert!(four.ends_with("\n        ]\n    },\n}"), "{four}");
}

#[test]
fn an_old_command_is_replaced_in_place() {
    let text = r#"{"hooks":{"PostToolUse":[{"matcher":"Skill","hooks":[{"command":"x"},{"command":"/old/skilldb hook", "timeout":9}]},{"matcher":"B"}],
        "UserPromptExpansion":[{"hooks":[{"command":"skilldb hook claude-code"}]}]}}"#;
    assert_eq!(install(text), text.replace("/old/skilldb hook", COMMAND));
    // With the wanted one there already, the old one goes; so does a copy.
    let all = install("{}");
    let old = all.replacen("skilldb hook claude-code\",\n            \"timeout\": 5\n          }", "skilldb hook claude-code\",\n            \"timeout\": 5\n          }, {\"command\": \"a skilldb hook\"}, {\"command\": \"skilldb hook claude-code\"}", 1);
    assert_eq!(our_hooks(&old).len(), 4);
    assert_eq!(install(&old), all);
}

#[test]
fn hooks_of_ours_nobody_asks_for_go() {
    let text = r#"{
  "hooks": {
    // about stop
    "Stop": [{"hooks": [{"command": "skilldb hook"}]}], // ours
    "PostToolUse": [
      {"matcher": "Skill", "hooks": [{"command": "other"}, {"command": "skilldb hook"}]},
      {"matcher": "Skill|Task", "hooks": [{"command": "skilldb hook"}]},
      {"matcher": "Bash", "hooks": []}
    ]
  }
}"#;
    let expected = r#"{
  "hooks": {
    // about stop
    // ours
    "PostToolUse": [
      {"matcher": "Skill", "hooks": [{"command": "other"}]},
      {"matcher": "Bash", "hooks": []}
    ]
  }
}"#;
    assert_eq!(uninstall(text), expected);
    let installed = install(text);
    assert_eq!(our_hooks(&installed).len(), 2);
    assert_eq!(uninstall(&installed), expected, "via {installed}");
}

/// Texts with a group of ours at each `@`, and what uninstall leaves of them.
const EMPTIED: &[(&str, &str)] = &[
    (r#"{"hooks": {"A": [@], "B": [@, @]}}"#, "{}"),
    (r#"{ "hooks": {"A": [ @ ]}, "z": 1 }"#, r#"{ "z": 1 }"#),
    (
        r#"{"hooks": {"A": [@], "B": []}}"#,
        r#"{"hooks": {"B": []}}"#,
    ),
    (
        r#"{"hooks": {"A": [@, {"hooks": []}]}}"#,
        r#"{"hooks": {"A": [{"hooks": []}]}}"#,
    ),
    (
        "{\n  \"a\": 1,\n  \"hooks\": {\"A\": [@]} // h\n}",
        "{\n  \"a\": 1\n  // h\n}",
    ),
    ("{ // c\n  \"hooks\": {\"A\": [@]}}", "{ // c\n  }"),
    (
        "{\"hooks\": {\"A\": [ // mine\n@ ]}}",
        "{\"hooks\": {\"A\": [ // mine\n ]}}",
    ),
    (
        "{\"hooks\": {\"A\": /* k */ [@]}}",
        "{\"hooks\": {\"A\": /* k */ []}}",
    ),
    (
        "{\n  \"a\": 1\n  , \"hooks\": {\"A\": [@]}\n  , \"z\": 2\n}",
        "{\n  \"a\": 1\n  ,\n   \"z\": 2\n}",
    ),
];

#[test]
fn containers_emptied_by_the_removal_go_and_comments_stay() {
    for (shape, expected) in EMPTIED {
        let text = shape.replace('@', r#"{"hooks": [{"command": "skilldb hook"}, ]}"#);
        assert_eq!(&uninstall(&text), expected, "from {text}");
    }
}

#[test]
fn what_is_not_ours_is_found_but_never_touched() {
    let text = r#"{"hooks": {"Stop": [3, {"matcher": 1, "hooks": [{"command": "a\tb\"\u0063"}, {"command": 1}, []]}, {"hooks": {}}]}}"#;
    let hook = FoundHook {
        event: "Stop".into(),
        matcher: None,
        command: "a\tb\"c".into(),
    };
    assert_eq!(find_hooks(text), Ok(vec![hook]));
    assert_eq!(plan_install(text, &[], &|_| false).unwrap(), text);
    assert_eq!(plan_uninstall(text, &|_| false).unwrap(), text);
    assert_eq!(uninstall(&install(text)), text);
}

#[test]
fn commands_are_escaped() {
    let command = "\"C:\\Program Files\\skilldb.exe\" skilldb hook\t\u{1}\u{8}\n\r\u{7f}ä😀</x>";
    let entry = HookEntry {
        event: "a\"b",
        matcher: Some("\\d"),
        command,
        timeout_seconds: u32::MAX,
    };
    for text in ["{}", "{\"a\":1}"] {
        let installed = plan_install(text, std::slice::from_ref(&entry), &ours).unwrap();
        let found = FoundHook {
            event: "a\"b".into(),
            matcher: Some("\\d".into()),
            command: command.into(),
        };
        assert_eq!(find_hooks(&installed), Ok(vec![found]));
        assert!(
            installed
                .contains(r#"\"C:\\Program Files\\skilldb.exe\" skilldb hook\t\u0001\u0008\n\r"#)
        );
        assert_eq!(uninstall(&installed), text);
    }
}

/// Texts of the wrong shape, each with what is said of it.
const UNFIT: &[(&str, &str)] = &[
    (
        "[]",
        "line 1, column 1: the outermost value must be an object",
    ),
    ("// only\n", "there are comments but no object"),
    (
        "{\n  \"hooks\": []\n}",
        "line 2, column 12: `hooks` must be an object",
    ),
    (
        "\u{feff}{\"ä\": 1, \"hooks\": null}",
        "line 1, column 19: `hooks` must be an object",
    ),
    (
        "{\"hooks\":\r\n{\"Stop\": {}}}",
        "line 2, column 10: `hooks.Stop` must be an array",
    ),
    (
        "{\"hooks\": {}, \"h\\u006foks\": {}}",
        "line 1, column 15: the key `hooks` is there twice",
    ),
    (
        "{\"hooks\": {\"S\": [], \"S\": []}}",
        "line 1, column 21: the key `S` is there twice",
    ),
    (
        "{\"hooks\": {\"S\": [{\"hooks\": [], \"hooks\": []}]}}",
        "line 1, column 32: the key `hooks` is there twice",
    ),
];

const NO_JSON: &[&str] = &[
    "{",
    "{\"a\" 1}",
    "{\"a\": 1 \"b\": 2}",
    "{\"a\": 1,,}",
    "{,}",
    "{'a': 1}",
    "{a: 1}",
    "{\"a\": 'b'}",
    "{\"a\": \"b\nc\"}",
    "{} {}",
    "{\"a\": 01}",
    "{\"a\": +1}",
    "{\"a\": .5}",
    "{\"a\": NaN}",
    "{\"a\": \"\\x41\"}",
    "/* {}",
    "{\"a\": /1}",
];

#[test]
fn unfit_texts_are_refused_with_their_position() {
    for (text, message) in UNFIT {
        assert_eq!(&error(text), message, "for {text}");
    }
    for text in NO_JSON {
        let error = error(text);
        assert!(error.starts_with("line 1, column "), "{text}: {error}");
        assert!(
            error.contains(": this is not valid JSON: "),
            "{text}: {error}"
        );
    }
}
