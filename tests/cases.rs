//! The shared cases as stories: the built binary is run on the input of each case and held against its
//! `expected.json`.

#![expect(clippy::unwrap_used, reason = "what is not there is a failed test")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{Case, Library, NOW, code, copy_folder, strings};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

#[test]
fn case_01_unquoted_punctuation_does_not_lose_the_skill() {
    let (library, case) = synced(1);
    assert_skills(&library, &case);
    let repaired = library.sql("SELECT count(*) FROM v_skill WHERE parse_status = 'repaired'");
    assert_eq!(repaired, "4");
}

#[test]
fn case_01_strict_validation_prints_the_quoted_form_to_paste() {
    let library = Library::new();
    let case = library.case(1);
    let output = library
        .skilldb(&["validate", case.root()])
        .output()
        .unwrap();
    assert_eq!(json!(code(&output)), case.expected["strict_validate_exit"]);
    let told = String::from_utf8(output.stdout).unwrap();
    let pasted: Vec<&str> = told
        .lines()
        .filter_map(|line| line.strip_prefix("  paste: "))
        .collect();
    assert_eq!(
        pasted,
        [
            r#"description: "Turns issue #42 style mentions into full links""#,
            r#"description: "[beta] Finds dead links in a docs folder""#,
            r#"description: "@-mentions the owners of changed files. Use after opening a pull request.""#,
            r#"description: "`rg`-based report of comment-to-code ratio""#,
            r#"description: 'Drafts release notes: use when a version is tagged, or someone asks "what changed?"'"#,
        ]
    );
}

#[test]
fn case_01_pasting_the_quoted_form_makes_the_file_valid() {
    let library = Library::new();
    let case = library.case(1);
    let found = library.json_exit(&["validate", case.root()], 1);
    for finding in found["findings"].as_array().unwrap() {
        let path = Path::new(finding["path"].as_str().unwrap());
        let text = fs::read_to_string(path).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines[finding["line"].as_u64().unwrap() as usize - 1] =
            finding["suggestion"].as_str().unwrap();
        library.write(path.to_str().unwrap(), (lines.join("\n") + "\n").as_bytes());
    }
    let valid = library.json(&["validate", case.root()]);
    assert_eq!(
        valid["counts"],
        json!({"error": 0, "warning": 0, "note": 0})
    );
}

#[test]
fn case_02_files_of_windows_editors_are_read() {
    let (library, case) = synced(2);
    assert_skills(&library, &case);
    let odd = "SELECT count(*) FROM v_skill WHERE name || description GLOB '*[' || char(13, 65279) || ']*'";
    assert_eq!(library.sql(odd), "0");
}

#[test]
fn case_02_copies_that_differ_in_line_ends_have_the_same_text_hash() {
    let (library, case) = synced(2);
    let crlf = fs::read_to_string(case.skills.join("crlf-ledger/SKILL.md")).unwrap();
    assert!(crlf.contains("\r\n"));
    library.write(
        "skills/crlf-ledger/SKILL.md",
        crlf.replace("\r\n", "\n").as_bytes(),
    );
    library.sync();
    let hashes = library.sql(
        "SELECT count(*), count(DISTINCT text_hash), count(DISTINCT content_hash) FROM v_skill WHERE name = 'crlf-ledger'",
    );
    assert_eq!(hashes, "2\t1\t2");
}

#[test]
fn case_02_another_line_ending_is_a_change() {
    let (library, case) = synced(2);
    let path = case.skills.join("crlf-ledger/SKILL.md");
    let lf = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    library.write(path.to_str().unwrap(), lf.as_bytes());
    let report = library.json(&["sync"]);
    assert_eq!(strings(&report["changed"], "name"), ["crlf-ledger"]);
}

#[test]
fn case_03_fences_may_be_padded_late_or_last() {
    let (library, case) = synced(3);
    assert_skills(&library, &case);
}

#[test]
fn case_03_a_header_without_end_is_refused_alone() {
    let (library, case) = synced(3);
    let rejected: Vec<Value> = library.json(&["list"])["rejected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| json!({"path": below(&case.dir, &file["path"]), "diagnostic": file["code"]}))
        .collect();
    assert_eq!(Value::Array(rejected), case.expected["rejected"]);
    let message = library.sql("SELECT message FROM v_refused");
    assert_eq!(message, "the header starts here and no later line is `---`");
}

#[test]
fn case_03_late_headers_fail_strict_validation() {
    let library = Library::new();
    let case = library.case(3);
    for skill in ["licensed", "blank-first"] {
        let path = case.skills.join(skill);
        let found = library.json_exit(&["validate", path.to_str().unwrap()], 1);
        assert_eq!(strings(&errors(&found), "code"), ["frontmatter-not-first"]);
    }
}

#[test]
fn case_05_headers_of_formatters_are_read() {
    let (library, case) = synced(5);
    assert_skills(&library, &case);
    let found = library.json_exit(&["validate", case.root()], 1);
    assert_eq!(strings(&errors(&found), "code"), ["yaml-tab-indent"]);
}

#[test]
fn case_06_scalars_stay_text() {
    let (library, case) = synced(6);
    assert_skills(&library, &case);
    let owner = library.sql(
        "SELECT frontmatter ->> '$.metadata.owner' IS NULL FROM v_skill WHERE name = 'scalar-zoo'",
    );
    assert_eq!(owner, "1");
}

#[test]
fn case_07_argument_hints_are_text_and_tools_a_list() {
    let (library, case) = synced(7);
    assert_skills(&library, &case);
    let object = library.json(&["list"]);
    let codes: BTreeMap<&str, &Value> = object["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| (skill["name"].as_str().unwrap(), &skill["diagnostics"]))
        .collect();
    assert_eq!(codes["rename-symbol"], &json!(["yaml-repaired"]));
    assert_eq!(codes["fix-issue"], &json!(["argument-hint-not-text"]));
    assert_eq!(codes["roll-out"], &json!([]));
}

#[test]
fn case_11_all_names_load_with_a_warning_each() {
    let (library, case) = synced(11);
    let object = library.json(&["list"]);
    let skills = object["skills"].as_array().unwrap();
    assert_eq!(json!(skills.len()), case.expected["rows"]);
    for skill in skills {
        assert!(
            !skill["diagnostics"].as_array().unwrap().is_empty(),
            "{skill}"
        );
    }
}

#[test]
fn case_11_declared_name_and_folder_find_the_same_row() {
    let (library, case) = synced(11);
    let ids: Vec<Value> = case.expected["same_row"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| library.json(&["show", name.as_str().unwrap()])["skill"]["id"].clone())
        .collect();
    assert!(ids.iter().all(|id| id.is_i64() && *id == ids[0]), "{ids:?}");
}

#[test]
fn case_11_strict_validation_names_each_rule() {
    let library = Library::new();
    let case = library.case(11);
    let exit = case.expected["strict_exit"].as_i64().unwrap();
    let found = library.json_exit(&["validate", case.root()], i32::try_from(exit).unwrap());
    let mut codes = BTreeMap::new();
    for folder in case.expected["strict"].as_object().unwrap().keys() {
        codes.insert(folder.clone(), Vec::new());
    }
    for error in errors(&found).as_array().unwrap() {
        let folder = below(&case.skills, &error["path"]).replace("/SKILL.md", "");
        codes.entry(folder).or_default().push(error["code"].clone());
    }
    assert_eq!(json!(codes), case.expected["strict"]);
    let warned = found["findings"].as_array().unwrap().iter().any(|finding| {
        finding["code"] == "name-not-plain"
            && finding["path"].as_str().unwrap().contains("/file-sort/")
    });
    assert!(warned, "the ligature is legal and still worth a warning");
}

#[test]
fn case_12_no_row_overwrites_another_of_its_name() {
    let (library, case) = many_roots();
    assert_eq!(json!(library.listed(&[]).len()), case.expected["rows"]);
    let object = library.json(&["list", "--duplicates"]);
    let groups: BTreeMap<&str, usize> = object["duplicates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| {
            (
                group["name"].as_str().unwrap(),
                group["copies"].as_array().unwrap().len(),
            )
        })
        .collect();
    assert_eq!(json!(groups), case.expected["duplicate_groups"]);
}

#[test]
fn case_12_the_winner_is_named_per_client() {
    let (library, case) = many_roots();
    let output = at_home(&library, &case, &["list", "--duplicates", "--json"]);
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    let deploy = object["duplicates"]
        .as_array()
        .unwrap()
        .iter()
        .find(|group| group["name"] == "deploy")
        .unwrap();
    for (client, winner) in case.expected["winner"].as_object().unwrap() {
        let winners = deploy["winners"][client].as_array().unwrap();
        let winners: Vec<String> = winners.iter().map(|path| below(&case.dir, path)).collect();
        assert_eq!(json!(winners), json!([winner]), "{client}");
    }
}

#[test]
fn case_12_an_ambiguous_name_lists_its_candidates() {
    let (library, case) = many_roots();
    let ambiguous = &case.expected["ambiguous"];
    let name = ambiguous["name"].as_str().unwrap();
    let output = library.skilldb(&["show", name]).output().unwrap();
    assert_eq!(json!(code(&output)), ambiguous["exit"]);
    assert!(output.stdout.is_empty());
    let told = String::from_utf8(output.stderr).unwrap();
    let error = &library.json_exit(&["show", name], 2)["error"];
    assert_eq!(
        json!(strings(&error["candidates"], "address")),
        ambiguous["candidates"]
    );
    for candidate in ambiguous["candidates"].as_array().unwrap() {
        let candidate = candidate.as_str().unwrap();
        assert!(told.contains(candidate), "{told}");
        let shown = library.json(&["show", candidate]);
        assert_eq!(shown["skill"]["rel_path"], candidate);
    }
}

#[test]
fn case_13_the_walk_stops_where_it_should() {
    let library = Library::new();
    let case = library.case(13);
    case.set_up();
    library.json(&["sync", case.root()]);
    assert_eq!(json!(library.listed(&[])), case.expected["live"]);
    assert_eq!(
        json!(library.listed(&["--archived"])),
        case.expected["archived"]
    );
    for name in case.expected["absent"].as_array().unwrap() {
        library.json_exit(&["show", name.as_str().unwrap()], 1);
    }
    for (name, rel_path) in case.expected["paths"].as_object().unwrap() {
        assert_eq!(
            &library.json(&["show", name])["skill"]["rel_path"],
            rel_path
        );
    }
}

#[test]
fn case_13_category_notes_and_empty_folders_are_silent() {
    let library = Library::new();
    let case = library.case(13);
    case.set_up();
    let report = library.json(&["sync", case.root()]);
    let told = [
        report["diagnostics"].as_array().unwrap(),
        report["walk"].as_array().unwrap(),
    ];
    let paths: Vec<String> = told
        .into_iter()
        .flatten()
        .map(|finding| below(&case.skills, &finding["path"]))
        .collect();
    assert!(
        paths.iter().any(|path| path == "lower/skill.md"),
        "{paths:?}"
    );
    assert!(
        !paths
            .iter()
            .any(|path| path.contains("DESCRIPTION.md") || path.contains("empty-idea")),
        "{paths:?}"
    );
}

#[test]
fn case_16_a_vanished_skill_leaves_the_listings_and_keeps_its_row() {
    let (library, case) = synced(16);
    fs::remove_dir_all(case.skills.join("tea-timer")).unwrap();
    let output = library.skilldb(&["sync"]).output().unwrap();
    assert_eq!(code(&output), 0);
    let line = String::from_utf8(output.stdout).unwrap();
    assert!(line.contains("1 missing"), "{line}");
    let expected = &case.expected["after_delete"];
    assert_eq!(json!(library.listed(&[])), expected["listed"]);
    let missing = library.json(&["list", "--missing"]);
    assert_eq!(
        json!(strings(&missing["missing"], "name")),
        expected["missing"]
    );
    assert_eq!(missing["missing"][0]["missing_since"], NOW);
    library.json_exit(&["show", "tea-timer"], 1);
}

#[test]
fn case_16_the_skill_that_comes_back_is_the_same_one() {
    let (library, case) = synced(16);
    let id = |library: &Library| library.json(&["show", "tea-timer"])["skill"]["id"].clone();
    let before = id(&library);
    let (place, aside) = (case.skills.join("tea-timer"), library.path("aside"));
    copy_folder(&place, &aside);
    fs::remove_dir_all(&place).unwrap();
    library.json(&["sync"]);
    copy_folder(&aside, &place);
    let report = library.json(&["sync"]);
    assert_eq!(strings(&report["back"], "name"), ["tea-timer"]);
    assert_eq!(report["added"], json!([]));
    assert_eq!(id(&library), before);
    assert_eq!(
        json!(library.listed(&[])),
        case.expected["after_restore"]["listed"]
    );
    assert_eq!(
        library.sql("SELECT name, from_state, to_state, actor FROM v_transition ORDER BY id"),
        "tea-timer\tactive\tmissing\tsync\ntea-timer\tmissing\tactive\tsync"
    );
    assert_eq!(library.sql("SELECT count(*) FROM v_missing"), "0");
}

#[test]
fn case_16_a_library_that_vanishes_at_once_is_held_back() {
    let (library, case) = synced(16);
    let exit = i32::try_from(case.expected["mass_delete_exit"].as_i64().unwrap()).unwrap();
    for name in ["bread-log", "rain-check", "tea-timer"] {
        fs::remove_dir_all(case.skills.join(name)).unwrap();
    }
    let report = library.json_exit(&["sync"], exit);
    assert_eq!(report["held_back"][0]["lost"], 3);
    assert_eq!(library.listed(&[]).len(), 3);
}

#[test]
fn case_16_a_larger_library_that_vanishes_at_once_is_held_back() {
    let (library, case) = synced(16);
    for number in 1..=6 {
        copy_folder(
            &case.skills.join("tea-timer"),
            &case.skills.join(format!("timer-{number}")),
        );
    }
    library.json(&["sync"]);
    fs::remove_dir_all(&case.skills).unwrap();
    fs::create_dir(&case.skills).unwrap();
    let report = library.json_exit(&["sync"], 1);
    assert_eq!(report["held_back"][0]["lost"], 9);
    assert_eq!(report["missing"], json!([]));
    assert_eq!(library.json(&["list", "--missing"])["missing"], json!([]));
    assert_eq!(library.listed(&[]).len(), 9);
    let report = library.json(&["sync", "--allow-mass-delete"]);
    assert_eq!(report["missing"].as_array().unwrap().len(), 9);
    assert!(library.listed(&[]).is_empty());
}

#[test]
fn case_16_an_unmounted_root_is_held_back() {
    let (library, case) = synced(16);
    fs::rename(&case.skills, library.path("unmounted")).unwrap();
    let report = library.json_exit(&["sync"], 1);
    assert_eq!(report["held_back"][0]["root_missing"], true);
    assert_eq!(library.listed(&[]).len(), 3);
}

#[test]
fn case_16_a_new_place_with_other_bytes_brings_a_relink_hint() {
    let (library, case) = synced(16);
    fs::remove_dir_all(case.skills.join("tea-timer")).unwrap();
    library.json(&["sync"]);
    let place = case.skills.join("kitchen/tea-timer/SKILL.md");
    library.write(
        place.to_str().unwrap(),
        b"---\nname: tea-timer\ndescription: Times two pots\n---\n",
    );
    let report = library.json(&["sync"]);
    let hint = &report["relink"][0];
    let (old, new) = (hint["old"].as_str().unwrap(), hint["new"].as_str().unwrap());
    let relinked = library.json(&["relink", old, new]);
    assert_eq!(format!("#{}", relinked["relinked"]["id"]), old);
    let shown = library.json(&["show", "tea-timer"]);
    assert_eq!(format!("#{}", shown["skill"]["id"]), old);
    assert_eq!(shown["skill"]["description"], "Times two pots");
}

#[test]
fn case_19_an_edit_of_the_same_size_and_time_is_seen() {
    let (library, case) = synced(19);
    assert_eq!(described(&library), case.expected["before"]["description"]);
    case.set_up();
    let report = library.json(&["sync"]);
    assert_eq!(strings(&report["changed"], "name"), ["port-check"]);
    assert_eq!(described(&library), case.expected["after"]["description"]);
}

#[test]
fn case_19_checksum_finds_the_edit_too() {
    let (library, case) = synced(19);
    case.set_up();
    let report = library.json(&["sync", "--checksum"]);
    assert_eq!(strings(&report["changed"], "name"), ["port-check"]);
    assert_eq!(described(&library), case.expected["after"]["description"]);
}

#[test]
fn case_19_the_stored_hash_is_that_of_the_file() {
    let (library, case) = synced(19);
    case.set_up();
    library.json(&["sync"]);
    let bytes = fs::read(case.skills.join("port-check/SKILL.md")).unwrap();
    let wanted: String = Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(library.sql("SELECT content_hash FROM v_skill"), wanted);
}

#[test]
fn case_19_a_sync_without_change_writes_nothing() {
    let (library, case) = synced(19);
    // The first sync after a write may note that the stamps have settled.
    library.json(&["sync"]);
    let history = library.sql("SELECT count(*) FROM change");
    let before = database(&library);
    let report = library.json(&["sync"]);
    assert_eq!(report["wrote"], false);
    assert!(
        database(&library) == before,
        "a byte or stamp of the database changed"
    );
    assert_eq!(
        json!(library.sql("SELECT count(*) FROM change")),
        json!(history)
    );
    assert_eq!(case.expected["noop_sync_new_rows"], 0);
}

fn synced(number: u32) -> (Library, Case) {
    let library = Library::new();
    let case = library.case(number);
    library.json(&["sync", case.root()]);
    (library, case)
}

/// Case 12, synced as its user would: from the project, with the home of the case.
fn many_roots() -> (Library, Case) {
    let library = Library::new();
    let case = library.case(12);
    let output = at_home(
        &library,
        &case,
        &[
            "sync",
            "--root=project=.claude/skills",
            "--root=user=../home/.claude/skills",
            "--root=agents=../home/.agents/skills",
            "--root=hermes=../home/.hermes/skills",
        ],
    );
    assert_eq!(code(&output), 0, "{}", library.told(&output));
    (library, case)
}

fn at_home(library: &Library, case: &Case, args: &[&str]) -> std::process::Output {
    library
        .skilldb(args)
        .env("HOME", case.dir.join("input/home"))
        .current_dir(case.dir.join("input/proj"))
        .output()
        .unwrap()
}

/// Holds what `list` and `show` say against the `skills` of a case, key by key.
fn assert_skills(library: &Library, case: &Case) {
    let wanted = case.expected["skills"].as_array().unwrap();
    let mut names = strings(&case.expected["skills"], "name");
    names.sort();
    assert_eq!(library.listed(&[]), names);
    for skill in wanted {
        let name = skill["name"].as_str().unwrap();
        let shown = library.json(&["show", name])["skill"].clone();
        for (key, value) in skill.as_object().unwrap() {
            match key.as_str() {
                "or_diagnostic" => {}
                "diagnostics" => assert_eq!(&found(&shown, value), value, "{name}"),
                _ => assert_covers(&shown[key], value, &format!("{name}: {key}")),
            }
        }
    }
}

/// An object must hold at least the wanted keys; everything else must be equal.
fn assert_covers(got: &Value, wanted: &Value, what: &str) {
    match wanted {
        Value::Object(map) => {
            for (key, value) in map {
                assert_covers(&got[key], value, &format!("{what}.{key}"));
            }
        }
        _ => assert_eq!(got, wanted, "{what}"),
    }
}

/// Warnings and errors of a skill in the form the case uses: `code` or `code@line`.
fn found(shown: &Value, wanted: &Value) -> Value {
    let with_line = wanted
        .as_array()
        .unwrap()
        .iter()
        .any(|code| code.as_str().unwrap().contains('@'));
    let diagnostics = shown["diagnostics"].as_array().unwrap().iter();
    let told = diagnostics
        .filter(|finding| finding["severity"] == "warning" || finding["severity"] == "error");
    told.map(|finding| {
        let code = finding["code"].as_str().unwrap();
        if with_line {
            format!("{code}@{}", finding["line"]).into()
        } else {
            Value::from(code)
        }
    })
    .collect()
}

fn errors(report: &Value) -> Value {
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["severity"] == "error")
        .cloned()
        .collect()
}

fn below(folder: &Path, path: &Value) -> String {
    let path = Path::new(path.as_str().unwrap());
    path.strip_prefix(folder)
        .unwrap_or(path)
        .to_str()
        .unwrap()
        .to_owned()
}

fn described(library: &Library) -> String {
    library.sql("SELECT description FROM v_skill")
}

/// Bytes and stamps of the database, and of its log when that holds something: readers leave an empty one behind.
fn database(library: &Library) -> Vec<(Vec<u8>, std::time::SystemTime)> {
    let files = ["data/skilldb.db", "data/skilldb.db-wal"].map(|rel| library.path(rel));
    let there = files.iter().filter(|path| path.exists());
    there
        .map(|path| {
            (
                fs::read(path).unwrap(),
                fs::metadata(path).unwrap().modified().unwrap(),
            )
        })
        .filter(|(bytes, _)| !bytes.is_empty())
        .collect()
}
