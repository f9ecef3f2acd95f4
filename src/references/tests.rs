//! What counts as a reference, by example.

use super::*;

fn target() -> Target {
    Target {
        name: "lint-js".to_owned(),
        folder: "/home/skills/web/lint-js".into(),
        rel_path: "web/lint-js".to_owned(),
        root: "/home/skills".into(),
    }
}

fn kinds(text: &str, kind: Text) -> Vec<(u32, Kind)> {
    find(
        text,
        kind,
        Path::new("/home/skills/weather/SKILL.md"),
        &target(),
    )
    .iter()
    .map(|hit| (hit.line, hit.kind))
    .collect()
}

fn is_hit(line: &str) -> bool {
    !kinds(line, Text::Prose).is_empty()
}

#[test]
fn a_header_names_skills_as_values() {
    let text = "---\nname: weather\nrelated_skills: [lint-js, other]\nmore:\n  - lint-js\n  - \"lint-js\"\ndescription: Runs lint-js first\n---\nlint-js\n";
    assert_eq!(
        kinds(text, Text::Skill),
        [(3, Kind::Value), (5, Kind::Value), (6, Kind::Value)]
    );
}

#[test]
fn in_data_only_whole_values_count() {
    let text = "{\"skills\": [\"lint-js\", \"x\"],\n\"skill\": \"/lint-js\",\n\"text\": \"Says lint-js in its text only.\",\n\"script\": \"skills/web/lint-js/scripts/run.sh\"}";
    assert_eq!(
        kinds(text, Text::Data),
        [(1, Kind::Value), (2, Kind::Value), (4, Kind::Path)]
    );
}

#[test]
fn in_prose_a_name_counts_beside_the_word_skill() {
    for line in [
        "Use the lint-js skill.",
        "the skill `lint-js` does it",
        "skill_view(\"lint-js\")",
        "see [[lint-js]]",
        "Run /lint-js first.",
        "`/lint-js`",
        "load skill lint-js.",
    ] {
        assert!(is_hit(line), "{line}");
    }
    for line in [
        "Run lint-js on it.",
        "`lint-js`",
        "npm run lint-js",
        "/usr/lint-js",
        "/lint-js/x",
        "lint-js-2 skill",
        "my-lint-js skill",
        "skill lint-js.ts",
    ] {
        assert!(!is_hit(line), "{line}");
    }
}

#[test]
fn links_and_paths_that_lead_into_the_folder_count() {
    for line in [
        "[x](../web/lint-js/SKILL.md)",
        "sh /home/skills/web/lint-js/scripts/run.sh",
        "cat ~/skills/web/lint-js/SKILL.md",
        "uses web/lint-js",
    ] {
        assert!(is_hit(line), "{line}");
    }
    for line in [
        "[x](../other/lint-js/SKILL.md)",
        "/elsewhere/skills/web/lint-js/x",
    ] {
        assert!(!is_hit(line), "{line}");
    }
}

#[test]
fn only_the_name_is_rewritten() {
    let text = "skills: [a, lint-js] # lint-js\nsh skills/web/lint-js/run.sh\n";
    let hits = find(
        text,
        Text::Data,
        Path::new("/home/cron/jobs.yaml"),
        &target(),
    );
    assert_eq!(
        rewrite(text, &hits, "lint"),
        "skills: [a, lint] # lint-js\nsh skills/web/lint/run.sh\n"
    );
}

#[test]
fn the_declared_name_keeps_quotes_and_comment() {
    let renamed =
        |line: &str| rename_declared(&format!("---\n{line}\nx: y\n---\nname: z\n"), "new");
    assert_eq!(
        renamed("name: old  # why").unwrap(),
        "---\nname: new  # why\nx: y\n---\nname: z\n"
    );
    assert_eq!(
        renamed("name: \"old\"").unwrap(),
        "---\nname: \"new\"\nx: y\n---\nname: z\n"
    );
    assert_eq!(renamed("title: a"), None);
    assert_eq!(
        rename_declared("---\r\nname: old\r\n---\r\n", "new").unwrap(),
        "---\r\nname: new\r\n---\r\n"
    );
}
