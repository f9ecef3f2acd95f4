//! `skilldb stats` and `skilldb export usage`.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod common;

use std::process::Command;

use common::{Library, code};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Runs a command as if it were that day.
fn on(library: &Library, day: &str, line: &str) {
    let args: Vec<&str> = line.split_whitespace().collect();
    let now = format!("{day}T12:00:00.000Z");
    let mut command = library.skilldb(&args);
    command.env("SKILLDB_NOW", now).assert().success();
}

/// Two months of use: a skill that rises, one that falls, one that only a curator looks at, two of one name, one
/// that is archived, and a name that is not there.
fn two_months() -> Library {
    let library = Library::new();
    for name in [
        "rising",
        "falling",
        "looked-at",
        "a/twin",
        "b/twin",
        ".archive/put-away",
    ] {
        library.skill(name, "Does something");
    }
    on(&library, "2025-11-01", "sync skills -q");
    for (day, words) in [
        // A span of 28 days begins on 2025-12-06, the one before it on 2025-11-08.
        (
            "2026-01-02",
            "rising --client codex --trigger model --tokens-in 100 --tokens-out 20",
        ),
        (
            "2026-01-01",
            "rising --client codex --trigger model --failed --tokens-in 50",
        ),
        ("2025-12-06", "rising --client claude-code --trigger slash"),
        ("2025-12-05", "rising --client claude-code --trigger slash"),
        ("2025-12-05", "falling"),
        ("2025-11-08", "falling --tokens-in 7"),
        ("2025-11-07", "falling"),
        ("2025-12-30", "looked-at --actor curator"),
        ("2025-12-31", "twin --best-effort"),
        ("2025-12-20", "ghost --client codex --failed"),
        ("2025-12-21", "ghost --client claude-code"),
    ] {
        on(&library, day, &format!("record use {words} -q"));
    }
    on(&library, "2025-12-30", "record view falling -q");
    on(
        &library,
        "2025-12-30",
        "record file rising --file notes.md -q",
    );
    library
}

/// What is told off a terminal, but for the days and weeks.
fn records(library: &Library, args: &[&str]) -> String {
    let told = library.run(&[&["stats"], args].concat());
    let is_span = |line: &&str| line.starts_with("day\t") || line.starts_with("week\t");
    let lines: Vec<&str> = told.lines().filter(|line| !is_span(line)).collect();
    lines.join("\n")
}

#[test]
fn off_a_terminal_each_record_is_a_line_with_its_kind_first() {
    let library = two_months();
    assert_snapshot!(records(&library, &[]), @"
    exit 0
    --- stdout
    total	skills	5
    total	used	2
    total	never-used	3
    total	uses	7
    total	views	1
    total	file-reads	1
    total	failures	1
    total	background	1
    total	events	13
    total	not-installed	3
    total	caution	0
    total	dangerous	0
    total	not-scanned	0
    most-used	rising	4	0	1	2026-01-02T12:00:00.000Z	[DIR]/skills/rising
    most-used	falling	3	1	0	2025-12-30T12:00:00.000Z	[DIR]/skills/falling
    never-used	looked-at	0	[DIR]/skills/looked-at
    never-used	twin	0	[DIR]/skills/a/twin
    never-used	twin	0	[DIR]/skills/b/twin
    rising	rising	3	1	[DIR]/skills/rising
    falling	falling	1	2	[DIR]/skills/falling
    stale	looked-at	2025-11-01T12:00:00.000Z	[DIR]/skills/looked-at
    stale	twin	2025-11-01T12:00:00.000Z	[DIR]/skills/a/twin
    stale	twin	2025-11-01T12:00:00.000Z	[DIR]/skills/b/twin
    not-installed	ghost	2	1	2025-12-21T12:00:00.000Z	codex,claude-code
    unclear	twin	1	0	2025-12-31T12:00:00.000Z	
    client		cli	6	0
    client	claude-code	slash	2	0
    client	codex	model	2	1
    client	claude-code	cli	1	0
    client	codex	cli	1	1
    tokens	rising	150	20	2
    tokens	falling	7	0	1
    ");
}

#[test]
fn days_and_weeks_have_no_gaps_and_hold_uses_and_views_at_work() {
    let library = two_months();
    let told = library.run(&["stats"]);
    let counts = |kind: &str| -> Vec<(String, u64)> {
        let lines = told.lines().filter_map(|line| line.strip_prefix(kind));
        let cells = lines.map(|line| line.split_once('\t').unwrap());
        cells
            .map(|(day, count)| (day.to_owned(), count.parse().unwrap()))
            .collect()
    };
    let (days, weeks) = (counts("day\t"), counts("week\t"));
    assert_eq!((days.len(), weeks.len()), (30, 26));
    let busy = |counts: &[(String, u64)]| -> Vec<String> {
        let busy = counts.iter().filter(|(_, count)| *count > 0);
        busy.map(|(day, count)| format!("{day} {count}")).collect()
    };
    let wanted = "2025-12-05 2;2025-12-06 1;2025-12-20 1;2025-12-21 1;2025-12-30 1;2025-12-31 1;2026-01-01 1;2026-01-02 1";
    assert_eq!(busy(&days), wanted.split(';').collect::<Vec<_>>());
    let wanted = "2025-11-03 2;2025-12-01 3;2025-12-15 2;2025-12-29 4";
    assert_eq!(
        busy(&weeks),
        wanted.split(';').collect::<Vec<_>>(),
        "weeks begin on Mondays"
    );
}

#[test]
fn json_has_the_same_numbers_by_name() {
    let library = two_months();
    let told = library.json(&["stats", "--limit", "1"]);
    let totals = json!({
        "skills": 5, "used": 2, "never_used": 3, "use_count": 7, "view_count": 1, "file_count": 1,
        "failure_count": 1, "background_count": 1, "events": 13, "not_installed_events": 3, "stale_candidates": 3,
        "safe": 5, "caution": 0, "dangerous": 0, "not_scanned": 0,
    });
    assert_eq!(told["totals"], totals);
    let names = |key: &str| common::strings(&told[key], "name");
    assert_eq!(names("most_used"), ["rising"], "as many as were asked for");
    assert_eq!(
        names("never_used"),
        ["looked-at"],
        "as many as were asked for; the totals count all"
    );
    let rising = json!([{"id": told["most_used"][0]["id"], "name": "rising", "path": library.path("skills/rising"), "last_28_days": 3, "28_days_before": 1}]);
    assert_eq!(told["rising"], rising);
    assert_eq!(told["falling"][0]["28_days_before"], 2);
    let ghost = json!([{
        "name": "ghost", "calls": 2, "failures": 1, "last_at": "2025-12-21T12:00:00.000Z",
        "clients": "codex,claude-code", "copies": 0,
    }]);
    assert_eq!(told["not_installed"], ghost);
    let nobody = json!({"client": null, "trigger": "cli", "events": 6, "failures": 0});
    assert_eq!(told["by_client"][0], nobody);
    assert_eq!(names("stale_candidates"), ["looked-at"]);
    assert_eq!(
        told["tokens"],
        json!([{"name": "rising", "tokens_in": 150, "tokens_out": 20, "uses": 2}])
    );
    assert_eq!(
        (
            told["days"].as_array().unwrap().len(),
            told["weeks"].as_array().unwrap().len()
        ),
        (30, 26)
    );
}

#[test]
fn an_archived_skill_is_in_no_list() {
    let library = two_months();
    on(&library, "2025-12-31", "record use put-away -q");
    let told = library.json(&["stats"]);
    for list in [
        "most_used",
        "never_used",
        "rising",
        "falling",
        "stale_candidates",
    ] {
        let names = common::strings(&told[list], "name");
        assert!(!names.contains(&"put-away".to_owned()), "{list}");
    }
    assert_eq!(library.json(&["stats", "put-away"])["state"], "archived");
}

#[test]
fn a_skill_is_stale_from_thirty_days_on_and_only_work_with_it_wakes_it() {
    let library = Library::new();
    for name in ["a-day-less", "thirty-days", "never"] {
        library.skill(name, "Does something");
    }
    on(&library, "2025-11-01", "sync skills -q");
    library.run(&[
        "record",
        "use",
        "thirty-days",
        "--at",
        "2025-12-03T03:04:05.000Z",
    ]);
    library.run(&[
        "record",
        "view",
        "a-day-less",
        "--at",
        "2025-12-03T03:04:05.001Z",
    ]);
    let stale = || library.json(&["stats"])["stale_candidates"].clone();
    let told = json!([
        {"id": 2, "name": "never", "path": library.path("skills/never"), "since": "2025-11-01T12:00:00.000Z", "was_used": false},
        {"id": 3, "name": "thirty-days", "path": library.path("skills/thirty-days"), "since": "2025-12-03T03:04:05.000Z", "was_used": true},
    ]);
    assert_eq!(stale(), told);
    library.run(&["record", "view", "thirty-days", "--actor", "curator"]);
    assert_eq!(stale(), told, "a curator's look wakes nobody");
    library.run(&["record", "file", "thirty-days"]);
    assert_eq!(common::strings(&stale(), "name"), ["never"]);
}

#[test]
fn the_counts_of_used_and_never_used_skills_are_those_of_the_lists_also_after_a_relink() {
    let library = Library::new();
    library.skill("old", "Does something");
    library.sync();
    library.remove("skills/old");
    library.skill("new", "Does something else");
    library.sync();
    library.run(&["record", "use", "new"]);
    library.json(&["relink", "#1", "new"]);
    let told = library.json(&["stats"]);
    assert_eq!(told["never_used"], json!([]));
    assert_eq!(told["totals"]["never_used"], 0);
}

#[test]
fn one_skill_tells_its_life() {
    let library = two_months();
    library.skill("rising", "Does something new");
    library.json(&["sync"]);
    assert_snapshot!(records(&library, &["rising"]), @"
    exit 0
    --- stdout
    skill	rising	#6	[DIR]/skills/rising
    state	active
    origin	unknown
    created	2025-11-01T12:00:00.000Z
    total	uses	4
    total	views	0
    total	file-reads	1
    total	failures	1
    total	background	0
    total	edits	0
    total	inherited-uses	0
    last-use	2026-01-02T12:00:00.000Z
    last-file-read	2025-12-30T12:00:00.000Z
    last-failure	2026-01-01T12:00:00.000Z
    history	2026-01-02T03:04:05.000Z	sync	SKILL.md edited outside skilldb
    history	2025-11-01T12:00:00.000Z	sync	first seen
    ");
    let told = library.json(&["stats", "rising"]);
    let failure = json!({"at": "2026-01-01T12:00:00.000Z", "client": "codex", "session_id": null, "args": null});
    assert_eq!(told["last_failure"], failure);
    let weeks = told["weeks"].as_array().unwrap().iter();
    let busy: Vec<&Value> = weeks.filter(|week| week["events"] != 0).collect();
    assert_eq!(
        json!(busy),
        json!([{"from": "2025-12-01", "events": 2}, {"from": "2025-12-29", "events": 2}])
    );
}

#[test]
fn an_unknown_name_gets_a_suggestion_and_an_ambiguous_one_its_candidates() {
    let library = two_months();
    assert_snapshot!(library.run(&["stats", "risin"]), @"
    exit 1
    --- stderr
    error: no skill named `risin`
    hint: did you mean `rising`?
    ");
    assert_eq!(
        library.json_exit(&["stats", "twin"], 2)["error"]["candidates"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn a_skill_that_cannot_be_loaded_tells_its_life_all_the_same() {
    let library = Library::new();
    library.skill("broken", "Soon");
    library.sync();
    library.run(&["record", "use", "broken"]);
    library.write("skills/broken/SKILL.md", b"---\nname: broken\n");
    library.json(&["sync"]);
    assert_eq!(library.json(&["stats", "broken"])["use_count"], 1);
}

#[test]
fn without_a_library_the_hint_says_how_to_make_one() {
    assert_snapshot!(Library::new().run(&["stats"]), @"
    exit 1
    --- stderr
    error: no library at [DIR]/data/skilldb.db yet
    hint: `skilldb sync FOLDER` or `skilldb sync --client claude-code` makes one
    ");
}

/// What a command prints on a terminal, if there is a program that makes one.
fn on_a_terminal(library: &Library, line: &str) -> Option<String> {
    let process = library.process(&[]);
    let mut command = Command::new("script");
    let typed = format!("'{}' {line}", process.get_program().display());
    command
        .args(["-qec", &typed, "/dev/null"])
        .current_dir(library.dir());
    command.envs(
        process
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let output = command.output().ok()?;
    Some(
        library
            .normal(&String::from_utf8(output.stdout).unwrap())
            .replace('\r', ""),
    )
}

#[test]
fn on_a_terminal_there_are_headings_and_a_hint_while_nothing_was_recorded() {
    let Some(told) = on_a_terminal(&two_months(), "stats") else {
        return;
    };
    let headings = "Most used;Rising (last 28 days, and the 28 before);Falling (;Called but not installed;\
        Called, and several skills have the name;By client and trigger;Never used (3);\
        Untouched for 30 days or more (3);Tokens, where the client says";
    for heading in headings.split(';') {
        assert!(
            told.contains(&format!("\n\n{heading}")),
            "{heading}\n{told}"
        );
    }
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.sync();
    let told = on_a_terminal(&library, "stats").unwrap();
    let sums = "1 skill: 0 used, 1 never. 0 uses, 0 views, 0 file reads; 0 failed.\n";
    let hint = told.strip_prefix(sums).unwrap_or_default();
    assert!(
        hint.starts_with("Nothing was recorded yet. `skilldb import"),
        "{told}"
    );
}

fn export(library: &Library) -> String {
    let output = library
        .skilldb(&["export", "usage", "--format", "hermes"])
        .output()
        .unwrap();
    assert_eq!(code(&output), 0, "{}", library.told(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_export_for_hermes_has_its_keys_sorted_its_indent_and_its_times() {
    let library = Library::new();
    library.skill("ops/deploy", "Ships it");
    library.skill(".archive/old", "Was there");
    on(&library, "2025-11-01", "sync skills -q");
    for line in [
        "use deploy",
        "use deploy --failed",
        "view deploy",
        "file deploy",
        "view deploy --actor curator",
    ] {
        on(&library, "2025-12-01", &format!("record {line} -q"));
    }
    library.run(&["record", "use", "not-there"]);
    // Machine and home, as the machine has them.
    let text = export(&library);
    let (before, rest) = text.split_once("\"library\": \"").unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    assert_snapshot!(format!("{before}\"library\": \"[LIBRARY]\"{after}"), @r#"
    {
      "deploy": {
        "archived_at": null,
        "created_at": "2025-11-01T12:00:00.000+00:00",
        "created_by": null,
        "last_patched_at": null,
        "last_used_at": "2025-12-01T12:00:00.000+00:00",
        "last_viewed_at": "2025-12-01T12:00:00.000+00:00",
        "patch_count": 0,
        "pinned": false,
        "skilldb": {
          "library": "[LIBRARY]",
          "patch_count": 0,
          "use_count": 2,
          "view_count": 2
        },
        "state": "active",
        "use_count": 2,
        "view_count": 2
      },
      "old": {
        "archived_at": null,
        "created_at": "2025-11-01T12:00:00.000+00:00",
        "created_by": null,
        "last_patched_at": null,
        "last_used_at": null,
        "last_viewed_at": null,
        "patch_count": 0,
        "pinned": false,
        "state": "archived",
        "use_count": 0,
        "view_count": 0
      }
    }
    "#);
}

#[test]
fn what_was_handed_to_hermes_is_not_counted_again_when_it_comes_back() {
    let library = Library::new();
    library.skill("deploy", "Ships it");
    library.rename("skills", "hermes/skills");
    let sidecar = "hermes/skills/.usage.json";
    library.write(sidecar, br#"{"deploy": {"use_count": 5}}"#);
    library.json(&["import", "hermes", "hermes"]);
    for _ in 0..2 {
        library.json(&["record", "use", "deploy"]);
    }
    library.write(sidecar, export(&library).as_bytes());
    library.json(&["import", "hermes", "hermes"]);
    assert_eq!(library.sql("SELECT use_count FROM v_skill"), "7");
    // Hermes counts on and keeps the note.
    let text = export(&library).replace("\"use_count\": 7", "\"use_count\": 8");
    library.write(sidecar, text.as_bytes());
    library.json(&["import", "hermes", "hermes"]);
    assert_eq!(library.sql("SELECT use_count FROM v_skill"), "8");
}

#[test]
fn a_hermes_home_with_an_exported_file_gives_equal_counts() {
    let library = two_months();
    let exported = export(&library);
    common::copy_folder(&library.path("skills"), &library.path("hermes/skills"));
    library.write("hermes/skills/.usage.json", exported.as_bytes());
    let hermes = |line: &str| -> String {
        let args: Vec<&str> = line.split(' ').collect();
        let output = library
            .skilldb(&[&["--home", "other"], &args[..]].concat())
            .output()
            .unwrap();
        assert_eq!(code(&output), 0, "{}", library.told(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    for _ in 0..2 {
        hermes("import hermes hermes");
        let again: Value = serde_json::from_str(&hermes("export usage --format hermes")).unwrap();
        let mut before: Value = serde_json::from_str(&exported).unwrap();
        // The note which counts are the library's own: the other one has none of its own.
        for record in before.as_object_mut().unwrap().values_mut() {
            record.as_object_mut().unwrap().shift_remove("skilldb");
        }
        assert_eq!(again, before, "also when it is imported again");
    }
}
