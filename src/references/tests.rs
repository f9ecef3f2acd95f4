//! What counts as a reference, by example.

use super::*;

fn target() -> Target {
    Target {
        name: "lint-js".to_owned(),
        folder: "/u/skills/web/lint-js".into(),
        rel_path: "web/lint-js".to_owned(),
        root: "/u/skills".into(),
        is_path: false,
    }
}

fn kinds(text: &str, kind: Text) -> Vec<(u32, Kind)> {
    find(
        text,
        kind,
        Path::new("/u/skills/weather/SKILL.md"),
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
    let text = "---\nname: weather\nrelated_skills: [lint-js, other]\nmore_skills:\n  - lint-js\n  - \"lint-js\"\ndescription: Runs lint-js first\n---\nlint-js\n";
    assert_eq!(
        kinds(text, Text::Skill),
        [(3, Kind::Value), (5, Kind::Value), (6, Kind::Value)]
    );
}

#[test]
fn in_data_only_whole_values_count() {
    let text = "{\"skills\": [\"lint-js\", \"x\"],\n\"skill\": \"/lint-js\",\n\"text\": \"Says lint-js in its text only.\",\n\"script\": \"skills/web/lint-js/scripts/run.sh\"}";
    assert_eq!(
        kinds(text, Text::Automation),
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
        "Then: web:lint-js",
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
        "npm:lint-js",
    ] {
        assert!(!is_hit(line), "{line}");
    }
}

#[test]
fn links_and_paths_that_lead_into_the_folder_count() {
    for line in [
        "[x](../web/lint-js/SKILL.md)",
        "sh /u/skills/web/lint-js/scripts/run.sh",
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
fn other_keys_and_other_data_hold_other_things() {
    let text = "---\nname: x\ntags: [lint-js, a]\ncategory: lint-js\nmetadata:\n  hermes:\n    tags:\n      - lint-js\n    related_skills:\n      - lint-js\n---\n";
    assert_eq!(kinds(text, Text::Skill), [(10, Kind::Value)]);
    let package = "{\"scripts\": {\"lint-js\": \"make\", \"x\": \"lint-js\"}}";
    assert_eq!(kinds(package, Text::Data), []);
    assert_eq!(kinds("{\"lint-js\": 1}", Text::Automation), []);
}

#[test]
fn a_name_that_is_a_path_of_the_machine_is_no_command() {
    let mut target = target();
    target.is_path = true;
    let hits = find("cd /lint-js", Text::Prose, Path::new("/u/a.md"), &target);
    assert_eq!(hits, []);
}

fn rewritten(text: &str, kind: Text, path: &str, rel_path: &str) -> String {
    let hits = find(text, kind, Path::new(path), &target());
    let folder = Path::new("/u/skills").join(rel_path);
    let to = Moved {
        name: "lint",
        folder: &folder,
        rel_path,
    };
    rewrite(text, &hits, &target(), &to)
}

#[test]
fn only_the_name_is_rewritten() {
    let text = "skills: [a, lint-js] # lint-js\nsh skills/web/lint-js/run.sh\n";
    let after = rewritten(text, Text::Automation, "/u/cron/jobs.yaml", "web/lint");
    assert_eq!(
        after,
        "skills: [a, lint] # lint-js\nsh skills/web/lint/run.sh\n"
    );
}

#[test]
fn a_path_leads_to_where_the_skill_lies_now() {
    let rewritten = |text: &str, path: &str| rewritten(text, Text::Prose, path, "ops/lint");
    assert_eq!(
        rewritten("[x](../web/lint-js/SKILL.md)", "/u/skills/weather/SKILL.md"),
        "[x](../ops/lint/SKILL.md)"
    );
    assert_eq!(
        rewritten("[x](../lint-js/a.md)", "/u/skills/web/other/SKILL.md"),
        "[x](../../ops/lint/a.md)"
    );
    assert_eq!(
        rewritten("sh ~/skills/web/lint-js/a.sh", "/u/x.md"),
        "sh ~/skills/ops/lint/a.sh"
    );
    assert_eq!(
        rewritten("sh /u/skills/web/lint-js/a.sh", "/x.md"),
        "sh /u/skills/ops/lint/a.sh"
    );
    assert_eq!(rewritten("see web/lint-js", "/x.md"), "see ops/lint");
    assert_eq!(
        rewritten(
            "[x](../../lint-js/a.md)",
            "/u/skills/web/lint-js/references/b.md"
        ),
        "[x](../a.md)"
    );
    assert_eq!(
        rewritten("[x](../lint-js/a.md)", "/u/skills/web/lint-js/SKILL.md"),
        "[x](./a.md)"
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
