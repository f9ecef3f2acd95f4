//! The shared cases about usage as stories: many processes that record at once, and the sessions of Claude Code
//! taken over by the built binary, held against each case's `expected.json`.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod claude;
mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use claude::{Transcript, answer, call};
use common::{Case, Library, code, strings};
use serde_json::{Value, json};

// Case 25: many processes at once.

#[test]
fn case_25_every_use_that_was_recorded_counts() {
    let (library, case) = with_case(25);
    library.json(&["sync", case.root()]);
    let recorded = run_script(&library, &case);
    assert_eq!(json!(recorded), case.expected["total"]);
    assert_counted(&library, &case, recorded);
}

#[test]
fn case_25_every_use_counts_while_syncs_run_beside() {
    let (library, case) = with_case(25);
    library.json(&["sync", case.root()]);
    let mut syncs = 0;
    let recorded = std::thread::scope(|scope| {
        let script = scope.spawn(|| run_script(&library, &case));
        while !script.is_finished() {
            syncs += 1;
            // Each of them has something to write.
            let text = format!("---\nname: beside\ndescription: number {syncs}\n---\n");
            let place = case.skills.join("beside/SKILL.md");
            library.write(place.to_str().unwrap(), text.as_bytes());
            let output = library.process(&["sync"]).output().unwrap();
            assert_eq!(code(&output), 0, "{}", library.told(&output));
        }
        script.join().unwrap()
    });
    assert!(syncs > 1, "the script was over before anything was synced");
    assert_eq!(json!(recorded), case.expected["total"]);
    assert_counted(&library, &case, recorded);
}

#[test]
fn case_25_a_killed_worker_loses_at_most_what_it_had_in_hand_and_may_send_it_again() {
    const WORKERS: u64 = 8;
    let (library, case) = with_case(25);
    library.json(&["sync", case.root()]);
    let before = names_in(&library.path("data"));
    let each = case.expected["total"].as_u64().unwrap() / WORKERS;
    let start = |worker: u64, number: u64| {
        let id = format!("w{worker}-{number}");
        // The newest event is neither the first nor the last to be recorded.
        let at = format!("2026-01-01T00:{:02}:{worker:02}.000Z", (number + 20) % each);
        let mut record = library.process(&["record", "use", "hot-path"]);
        record.args(["--event-id", &id, "--at", &at]);
        record.spawn().unwrap()
    };
    let finish = |worker, number| {
        let output = start(worker, number).wait_with_output().unwrap();
        let told = library.told(&output);
        assert!(code(&output) == 0 && !told.contains("lock"), "{told}");
    };
    let mut in_doubt = Vec::new();
    std::thread::scope(|scope| {
        for worker in 1..WORKERS {
            scope.spawn(move || (0..each).for_each(|number| finish(worker, number)));
        }
        for number in 0..each {
            let mut child = start(0, number);
            std::thread::sleep(Duration::from_micros(number * 300));
            child.kill().unwrap();
            if child.wait().unwrap().code() != Some(0) {
                in_doubt.push(number);
            }
        }
    });
    assert!(!in_doubt.is_empty(), "nobody was killed in time");
    let total = WORKERS * each;
    let counted: u64 = library.sql(USES).parse().unwrap();
    let sure = total - in_doubt.len() as u64;
    assert!(
        (sure..=total).contains(&counted),
        "{sure}..{total}: {counted}"
    );
    in_doubt.into_iter().for_each(|number| finish(0, number));
    assert_counted(&library, &case, total);
    let newest = library.sql("SELECT last_use_at FROM v_skill");
    assert_eq!(newest, format!("2026-01-01T00:{:02}:07.000Z", each - 1));
    let mut left = names_in(&library.path("data"));
    left.retain(|name| !before.contains(name) && !name.starts_with("skilldb.db-"));
    assert!(left.is_empty(), "left behind: {left:?}");
}

const USES: &str = "SELECT use_count FROM v_skill WHERE name = 'hot-path'";

/// Runs the script of the case; returns how many of its commands ended well.
fn run_script(library: &Library, case: &Case) -> u64 {
    let model = library.process(&[]);
    let command = format!("{} record use hot-path", model.get_program().display());
    let mut script = Command::new("sh");
    script
        .args(["run.sh", &command])
        .current_dir(&case.dir)
        .stdin(Stdio::null());
    for (name, value) in model.get_envs() {
        script.env(name, value.unwrap());
    }
    let output = script.output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    told.trim()
        .strip_prefix("recorded ")
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

fn assert_counted(library: &Library, case: &Case, total: u64) {
    assert_eq!(library.sql(USES), total.to_string());
    assert_eq!(
        library.sql("SELECT count(*), count(DISTINCT event_id) FROM v_usage"),
        format!("{total}\t{total}")
    );
    assert_eq!(
        json!(library.sql("PRAGMA integrity_check")),
        case.expected["integrity"]
    );
    assert_eq!(library.json(&["doctor"])["healthy"], true);
    // What the commands of the script said to their user.
    let told = fs::read_to_string(case.dir.join("errors.log")).unwrap_or_default();
    let locks = told
        .lines()
        .filter(|line| line.to_lowercase().contains("lock"));
    assert_eq!(
        json!(locks.count()),
        case.expected["user_visible_lock_errors"],
        "{told}"
    );
}

// Case 26: sessions of Claude Code.

const PROJECTS: &str = "case/input/projects";
const SHOP: &str = "case/input/projects/-srv-shop";
const FIRST: &str = "11111111-1111-4111-8111-111111111111";
const RESUMED: &str = "22222222-2222-4222-8222-222222222222";

#[test]
fn case_26_uses_are_counted_by_calls_and_not_by_lines() {
    let (library, case) = with_case(26);
    library.json(&["import", "claude-code", PROJECTS]);
    let by_name = |what: &str, filter: &str| {
        library.object(&format!(
            "SELECT json_group_object(name, what) FROM (SELECT called_name AS name, {what} AS what FROM v_usage WHERE {filter} GROUP BY called_name)"
        ))
    };
    assert_eq!(by_name("count(*)", "ok = 1"), case.expected["uses"]);
    assert_eq!(by_name("count(*)", "ok = 0"), case.expected["failed"]);
    assert_eq!(by_name("count(*)", "ok IS NULL"), json!({}));
    let mut triggers = case.expected["trigger"].clone();
    for word in triggers.as_object_mut().unwrap().values_mut() {
        // Our word for a command that its user typed.
        if word == "user" {
            *word = json!("slash");
        }
    }
    let told = by_name(r#"group_concat(DISTINCT "trigger")"#, "ok = 1");
    assert_eq!(told, triggers);
    let args = by_name("group_concat(args)", "args IS NOT NULL");
    for (name, wanted) in case.expected["args"].as_object().unwrap() {
        assert_eq!(&args[name], wanted, "{name}");
    }
    let cost = by_name(
        "json_object('input', tokens_in, 'output', tokens_out)",
        "tokens_in IS NOT NULL",
    );
    let cost = cost.as_object().unwrap().iter();
    let cost: Value = cost
        .map(|(name, spent)| {
            let spent: Value = serde_json::from_str(spent.as_str().unwrap()).unwrap();
            (name.clone(), spent)
        })
        .collect();
    assert_eq!(cost, case.expected["tokens_attributed"]);
    let places = library.sql("SELECT DISTINCT project, client FROM v_usage");
    assert_eq!(places, "/srv/shop\tclaude-code");
    let subagents =
        library.sql("SELECT called_name, subagent FROM v_usage WHERE subagent IS NOT NULL");
    assert_eq!(subagents, "css-audit\ta9");
}

#[test]
fn case_26_the_line_that_is_cut_off_is_the_only_warning() {
    let (library, case) = with_case(26);
    let report = library.json(&["import", "claude-code", PROJECTS]);
    let warnings = report["warnings"].as_array().unwrap();
    assert_eq!(json!(warnings.len()), case.expected["warnings"]);
    let file = transcript(&library, FIRST);
    let lines = file.text().lines().count();
    assert_eq!(warnings[0]["path"], file.path.to_str().unwrap());
    assert_eq!(warnings[0]["line"], lines);
    // The same for people.
    let other = with_case(26).0;
    let output = other.skilldb(&["import", "claude-code", PROJECTS]).output();
    let told = other.told(&output.unwrap());
    let place = format!("[DIR]/{SHOP}/{FIRST}.jsonl:{lines} warning: ");
    assert_eq!(told.matches("warning").count(), 1, "{told}");
    assert!(told.contains(&place), "{told}");
}

#[test]
fn case_26_a_second_import_finds_nothing_new() {
    let (library, case) = with_case(26);
    let wanted = &case.expected["second_import_new"];
    library.json(&["import", "claude-code", PROJECTS]);
    let before = library.sql(ALL_EVENTS);
    let report = library.json(&["import", "claude-code", PROJECTS]);
    assert_eq!(&report["events"]["new"], wanted);
    // Touched and not changed: read again or not, it counts nothing twice.
    transcript(&library, FIRST).written(7);
    transcript(&library, RESUMED).written(7);
    let report = library.json(&["import", "claude-code", PROJECTS]);
    assert_eq!(&report["events"]["new"], wanted);
    assert_eq!(library.sql(ALL_EVENTS), before);
}

#[test]
fn case_26_each_session_has_its_own_use_whichever_file_was_written_last() {
    for (first, resumed) in [(1, 2), (2, 1), (1, 1)] {
        let (library, _) = with_case(26);
        transcript(&library, FIRST).written(first);
        transcript(&library, RESUMED).written(resumed);
        library.json(&["import", "claude-code", PROJECTS]);
        assert_eq!(
            library.sql(
                "SELECT session_id, args FROM v_usage WHERE called_name = 'changelog' ORDER BY at"
            ),
            format!("{FIRST}\t\n{RESUMED}\t2026-05"),
            "written {first} and {resumed}"
        );
    }
}

#[test]
fn case_26_only_what_is_not_installed_is_called_so() {
    let (library, case) = with_case(26);
    for name in ["changelog", "css-audit", "ship-it"] {
        library.skill(name, "there");
    }
    library.write(
        "plugins/pack/skills/lint-all/SKILL.md",
        b"---\nname: lint-all\ndescription: of a plugin\n---\n",
    );
    library.json(&["sync", "skills", "plugins/pack/skills"]);
    let report = library.json(&["import", "claude-code", PROJECTS]);
    let failed = &case.expected["failed"];
    let listed = "SELECT json_group_object(name, failures) FROM v_not_installed";
    assert_eq!(&library.object(listed), failed);
    let names: Vec<&String> = failed.as_object().unwrap().keys().collect();
    assert_eq!(
        json!(strings(&report["not_installed"], "name")),
        json!(names)
    );
    let uses: BTreeMap<String, Value> = case.expected["uses"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, uses)| (name.replace("pack:", ""), uses.clone()))
        .collect();
    let counted = "SELECT json_group_object(name, use_count) FROM v_skill";
    assert_eq!(library.object(counted), json!(uses));
}

#[test]
fn case_26_lines_that_are_appended_are_all_that_is_new() {
    let (library, _) = with_case(26);
    library.json(&["import", "claude-code", PROJECTS]);
    transcript(&library, RESUMED).add(&tea());
    let report = library.json(&["import", "claude-code", PROJECTS]);
    assert_eq!(
        (&report["lines"], &report["events"]["new"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(report["warnings"], json!([]));
    assert_eq!(
        library.sql("SELECT ok, session_id FROM v_usage WHERE called_name = 'tea'"),
        format!("1\t{RESUMED}")
    );
}

#[test]
fn case_26_the_line_that_was_cut_off_counts_once_it_is_whole() {
    let (library, _) = with_case(26);
    library.json(&["import", "claude-code", PROJECTS]);
    let file = transcript(&library, FIRST);
    file.add_text(r#"ut":{"skill":"tea"}}]}}"#);
    let report = library.json(&["import", "claude-code", PROJECTS]);
    assert_eq!(report["warnings"], json!([]));
    assert_eq!(
        (&report["lines"], &report["events"]["new"]),
        (&json!(1), &json!(1))
    );
    file.add_text("\n").add(&[answer(1, "toolu_9")]).add(&tea());
    let report = library.json(&["import", "claude-code", PROJECTS]);
    assert_eq!(report["events"]["new"], 1);
    assert_eq!(
        library.sql("SELECT event_id, ok FROM v_usage WHERE called_name = 'tea' ORDER BY event_id"),
        "claude-code:toolu_20\t1\nclaude-code:toolu_9\t1"
    );
}

#[test]
fn case_26_a_line_that_stays_cut_off_costs_none_of_those_after_it() {
    let (library, _) = with_case(26);
    library.json(&["import", "claude-code", PROJECTS]);
    transcript(&library, FIRST).add_text("\n").add(&tea());
    let report = library.json(&["import", "claude-code", PROJECTS]);
    assert_eq!(report["events"]["new"], 1);
    assert_eq!(report["warnings"][0]["line"], 17);
    assert_eq!(report["warnings"].as_array().unwrap().len(), 1);
    let report = library.json(&["import", "claude-code", PROJECTS]);
    assert_eq!(report["warnings"], json!([]), "told once");
}

const ALL_EVENTS: &str = "SELECT * FROM v_usage ORDER BY event_id";

/// A whole call, with its answer.
fn tea() -> [Value; 2] {
    [call(1, "toolu_20", "tea"), answer(2, "toolu_20")]
}

/// The transcript of a session of the case.
fn transcript(library: &Library, session: &'static str) -> Transcript {
    let path = library.path(SHOP).join(session).with_extension("jsonl");
    Transcript::of(path, session, "/srv/shop")
}

fn with_case(number: u32) -> (Library, Case) {
    let library = Library::new();
    let case = library.case(number);
    (library, case)
}

/// What a query that makes one JSON value says.
trait Ask {
    fn object(&self, query: &str) -> Value;
}

impl Ask for Library {
    fn object(&self, query: &str) -> Value {
        serde_json::from_str(&self.sql(query)).unwrap()
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}
