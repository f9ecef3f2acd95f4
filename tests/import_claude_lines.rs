//! Importing Claude Code's transcripts: what single lines hold is neither lost nor misread, however a crash, an
//! editor or another program left them.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod claude;
mod common;

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;

use claude::{
    SESSION, Transcript, answer, assert_healthy, body, call, counters, events, expanded, failure,
    import, said, time, typed, uses, with_tea,
};
use common::{Library, strings};
use serde_json::{Value, json};

const USED: &str = "tea\tmodel\t1";
const TYPED: &str = "tea\tslash\t1";

#[test]
fn what_since_left_out_of_a_file_that_was_read_whole_and_grew_comes_later() {
    let (library, transcript) = with_tea();
    transcript.add(&[call(10, "t1", "tea"), answer(11, "t1")]);
    assert_eq!(events(&import(&library, &[])), (1, 0));
    transcript.add(&[call(5, "t2", "tea"), answer(6, "t2")]);
    transcript.add(&[call(90, "t3", "tea"), answer(91, "t3")]);
    let report = import(&library, &["--since", &time(60)]);
    assert_eq!(
        (events(&report).0, &report["events"]["older"]),
        (1, &json!(1))
    );
    assert_eq!(events(&import(&library, &[])).0, 1);
    assert_eq!(counters(&library), "3\t0");
    assert_eq!(import(&library, &[])["files"]["unchanged"], 1);
    assert_healthy(&library);
}

/// The lines of a call as text, with this line end.
fn lines_of_a_call(library: &Library, end: &str) -> String {
    let scratch = Transcript::at(library, "../scratch", SESSION);
    scratch.add(&[call(1, "t1", "tea"), answer(2, "t1")]);
    let text = scratch.text().replace('\n', end);
    fs::remove_file(&scratch.path).unwrap();
    text
}

#[test]
fn a_first_line_behind_a_byte_order_mark_is_read() {
    for end in ["\n", "\r\n"] {
        let (library, transcript) = with_tea();
        let text = lines_of_a_call(&library, end);
        transcript.add_text(&format!("\u{feff}{text}"));
        let report = import(&library, &[]);
        assert_eq!((events(&report), &report["warnings"]), ((1, 0), &json!([])));
        assert_eq!(uses(&library), USED);
    }
}

#[test]
fn nuls_before_or_after_a_line_are_passed_over() {
    let nuls = "\0".repeat(600);
    for pieces in [
        [nuls.as_str(), "", ""],
        ["", nuls.as_str(), ""],
        ["", "", nuls.as_str()],
        ["\0\n", "\0\0\n", "\0"],
    ] {
        let (library, transcript) = with_tea();
        let text = lines_of_a_call(&library, "\n");
        let (call_line, answer_line) = text.split_once('\n').unwrap();
        let [before, between, after] = pieces;
        // Before the line end, and before the next line.
        transcript.add_text(&format!(
            "{before}{call_line}{between}\n{between}{}{after}\n",
            answer_line.trim_end()
        ));
        assert_eq!(events(&import(&library, &[])), (1, 0), "{pieces:?}");
        transcript.add(&[call(3, "t2", "tea"), failure(4, "t2")]);
        let report = import(&library, &[]);
        assert_eq!((events(&report), &report["warnings"]), ((1, 0), &json!([])));
        assert_eq!(counters(&library), "2\t1", "{pieces:?}");
    }
}

#[test]
fn a_file_of_another_encoding_is_told_once() {
    let (library, transcript) = with_tea();
    let text = lines_of_a_call(&library, "\n");
    let wide = text.encode_utf16().flat_map(u16::to_le_bytes);
    let bytes: Vec<u8> = [0xff, 0xfe].into_iter().chain(wide).collect();
    let mut file = fs::File::create(&transcript.path).unwrap();
    file.write_all(&bytes).unwrap();
    let report = import(&library, &[]);
    let words = strings(&report["warnings"], "message");
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(words[0].contains("UTF-16"), "{words:?}");
    assert_eq!(report["files"], json!({"seen": 1, "unchanged": 0}));
    let report = import(&library, &[]);
    assert_eq!(report["warnings"], json!([]));
    assert_eq!(report["files"], json!({"seen": 1, "unchanged": 1}));
    // Saved as UTF-8 it is another file.
    transcript.replace(&text);
    assert_eq!(events(&import(&library, &[])), (1, 0));
}

#[test]
fn half_a_surrogate_pair_in_arguments_or_text_loses_nothing() {
    let (library, transcript) = with_tea();
    let mut asked = call(1, "t1", "tea");
    asked["message"]["content"][0]["input"]["args"] = json!("green HALF leaves");
    let mut failed = failure(4, "t2");
    failed["message"]["content"][0]["content"] = json!("no water HALF");
    let mut command = typed(5, "u1", "tea");
    command["message"]["content"] =
        json!("<command-name>/tea</command-name>\n<command-args>HALF cups</command-args>");
    let mut text = expanded(6, "u1", "/skills/tea");
    text["message"]["content"][0]["text"] =
        json!("Base directory for this skill: /skills/tea\n\nHALF");
    transcript.add(&[
        asked,
        answer(2, "t1"),
        call(3, "t2", "tea"),
        failed,
        command,
        text,
    ]);
    for (number, half) in ["\\ud83d", "\\uDE00", "\\ud83d\\n", "\\ud83d\\ud83d"]
        .iter()
        .enumerate()
    {
        let text = transcript.text().replace("HALF", half);
        let text = text.replace("\"t1", &format!("\"{number}t1"));
        let text = text.replace("\"t2", &format!("\"{number}t2"));
        let text = text.replace("\"u1", &format!("\"{number}u1"));
        let own = Transcript::at(&library, &format!("half-{number}.jsonl"), SESSION);
        own.add_text(&text);
        let file = own.path.to_str().unwrap();
        let report = import(&library, &[file]);
        assert_eq!(
            (events(&report), &report["warnings"]),
            ((3, 0), &json!([])),
            "{half}"
        );
    }
    assert_eq!(counters(&library), "12\t4");
    let args = library
        .sql("SELECT count(*) FROM v_usage WHERE args LIKE '%green%leaves%' OR args LIKE '%cups%'");
    assert_eq!(args, "8");
    // A whole pair stays what it is.
    let whole = Transcript::at(&library, "whole.jsonl", SESSION);
    let mut asked = call(9, "t9", "tea");
    asked["message"]["content"][0]["input"]["args"] = json!("PAIR");
    whole.add(&[asked, answer(10, "t9")]);
    whole.replace(&whole.text().replace("PAIR", "\\ud83d\\ude00"));
    import(&library, &[whole.path.to_str().unwrap()]);
    assert_eq!(
        library.sql("SELECT args FROM v_usage WHERE event_id LIKE '%:t9'"),
        "\u{1f600}"
    );
}

/// What is said while a call is at work.
fn talk(lines: u32) -> Vec<Value> {
    (0..lines)
        .map(|number| said(2 + number, "so it goes"))
        .collect()
}

#[test]
fn an_outcome_and_a_folder_far_away_are_found() {
    for kind in ["failed", "well"] {
        let (library, transcript) = with_tea();
        let folder = library.path("skills/tea");
        let folder = folder.to_str().unwrap();
        transcript.add(&[call(1, "t1", "tea")]).add(&talk(600));
        if kind == "failed" {
            transcript.add(&[failure(700, "t1")]);
        } else {
            transcript.add(&[answer(700, "t1"), body(701, "t1", folder)]);
        }
        assert_eq!(events(&import(&library, &[])).0, 1, "{kind}");
        let told = library.sql("SELECT ok, coalesce(called_path, 'none') FROM v_usage");
        let is_failed = kind == "failed";
        let (ok, path) = if is_failed { (0, "none") } else { (1, folder) };
        assert_eq!(told, format!("{ok}\t{path}"));
        let failures = u8::from(is_failed);
        assert_eq!(counters(&library), format!("1\t{failures}"));
        assert_healthy(&library);
    }
}

#[test]
fn an_outcome_far_away_is_found_by_a_later_import() {
    let (library, transcript) = with_tea();
    transcript.add(&[call(1, "t1", "tea")]).add(&talk(600));
    import(&library, &[]);
    assert_eq!(uses(&library), "tea\tmodel\topen");
    let folder = library.path("skills/tea");
    transcript.add(&talk(600)).add(&[
        answer(1_400, "t1"),
        body(1_401, "t1", folder.to_str().unwrap()),
    ]);
    assert_eq!(events(&import(&library, &[])).0, 0);
    assert_eq!(
        library.sql("SELECT ok, called_path FROM v_usage"),
        format!("1\t{}", folder.display())
    );
    assert_eq!(counters(&library), "1\t0");
}

fn sidechain(mut line: Value) -> Value {
    line["isSidechain"] = json!(true);
    line
}

#[test]
fn a_typed_command_counts_although_a_subagent_speaks_before_its_body() {
    let (library, transcript) = with_tea();
    let words = json!({"type": "assistant", "uuid": "s1", "timestamp": time(2), "message": {"id": "sm", "role": "assistant", "content": [{"type": "text", "text": "working"}]}});
    transcript.add(&[
        typed(1, "u1", "tea"),
        sidechain(words),
        expanded(3, "u1", "/skills/tea"),
    ]);
    assert_eq!(events(&import(&library, &[])), (1, 0));
    assert_eq!(uses(&library), TYPED);
}

#[test]
fn a_typed_command_counts_although_an_attachment_is_the_parent_of_its_body() {
    for names_parent in [true, false] {
        let (library, transcript) = with_tea();
        let attachment = json!({"type": "attachment", "uuid": "a1", "parentUuid": "u1", "timestamp": time(2), "attachment": {"type": "todo_reminder", "content": []}});
        let parent = if names_parent { "a1" } else { "u1" };
        let mut body = expanded(3, "u1", "/skills/tea");
        body["parentUuid"] = json!(parent);
        transcript.add(&[typed(1, "u1", "tea"), attachment, body]);
        assert_eq!(events(&import(&library, &[])), (1, 0), "{parent}");
        assert_eq!(uses(&library), TYPED);
    }
}

#[test]
fn a_command_of_the_client_itself_counts_nothing() {
    for has_parent in [true, false] {
        let (library, transcript) = with_tea();
        let mut caveat = expanded(2, "u1", "");
        caveat["message"]["content"] = json!(
            "Caveat: The messages below were generated by the user while running local commands."
        );
        if !has_parent {
            caveat.as_object_mut().unwrap().remove("parentUuid");
        }
        transcript.add(&[typed(1, "u1", "model"), caveat, said(3, "go on")]);
        assert_eq!(events(&import(&library, &[])), (0, 0));
        assert_eq!(uses(&library), "");
        assert_eq!(import(&library, &[])["not_installed"], json!([]));
    }
}

#[test]
fn a_sidechain_that_names_no_agent_is_a_subagent() {
    let (library, transcript) = with_tea();
    transcript.add(&[
        sidechain(call(1, "t1", "tea")),
        sidechain(answer(2, "t1")),
        call(3, "t2", "tea"),
        answer(4, "t2"),
    ]);
    assert_eq!(events(&import(&library, &[])), (2, 0));
    let subagents = "SELECT subagent IS NOT NULL FROM v_usage ORDER BY at";
    assert_eq!(library.sql(subagents), "1\n0");
}

/// A message that the client credits to `tea`: 120 tokens read, these written.
fn spent(second: u32, message: &str, written: u32) -> Value {
    let usage =
        json!({"input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": written});
    json!({"type": "assistant", "uuid": format!("{message}-line"), "timestamp": time(second), "attributionSkill": "tea",
        "message": {"id": message, "role": "assistant", "content": [], "usage": usage}})
}

/// What the named query says: tokens read and written, and uses.
fn tokens(library: &Library) -> String {
    let told = library.sql("tokens");
    let cells: Vec<&str> = told.split('\t').collect();
    cells[..4].join(" ")
}

#[test]
fn tokens_told_before_the_answer_are_the_skills() {
    let (library, transcript) = with_tea();
    transcript.add(&[call(1, "t1", "tea"), spent(2, "m1", 5), answer(3, "t1")]);
    import(&library, &[]);
    assert_eq!(tokens(&library), "tea 120 5 1");
    assert_eq!(
        library.sql("SELECT tokens_in, tokens_out FROM v_usage"),
        "120\t5"
    );
    assert_eq!(
        library.sql("SELECT name, tokens_in, tokens_out FROM v_usage_cost c JOIN v_skill s ON s.id = c.skill_id"),
        "tea\t120\t5"
    );
}

#[test]
fn tokens_of_a_subagent_are_those_of_the_skill_its_session_called() {
    // The file that ends first is read first.
    for subagent_ends in [2, 50] {
        for is_apart in [false, true] {
            let (library, transcript) = with_tea();
            transcript.add(&[call(1, "t1", "tea"), answer(20, "t1"), said(30, "well")]);
            let rel = format!("{SESSION}/subagents/agent-x.jsonl");
            let subagent = Transcript::at(&library, &rel, SESSION);
            let mut line = sidechain(spent(subagent_ends, "m9", 7));
            line["agentId"] = json!("x");
            subagent.add(&[line]);
            if is_apart {
                let (first, second) = if subagent_ends < 30 {
                    (&subagent, &transcript)
                } else {
                    (&transcript, &subagent)
                };
                import(&library, &[first.path.to_str().unwrap()]);
                import(&library, &[second.path.to_str().unwrap()]);
            } else {
                import(&library, &[]);
            }
            assert_eq!(
                tokens(&library),
                "tea 120 7 1",
                "{subagent_ends} {is_apart}"
            );
            let skills = "SELECT s.name FROM v_usage_cost c JOIN v_skill s ON s.id = c.skill_id";
            assert_eq!(library.sql(skills), "tea", "{subagent_ends} {is_apart}");
            import(&library, &[]);
            assert_eq!(tokens(&library), "tea 120 7 1");
            assert_healthy(&library);
        }
    }
}

#[test]
fn a_linked_folder_is_read_and_a_loop_of_links_ends() {
    let library = with_tea().0;
    let project = library.path("elsewhere/-other");
    fs::create_dir_all(&project).unwrap();
    let file = project.join(format!("{SESSION}.jsonl"));
    Transcript::of(file, SESSION, "/srv/other").add(&[call(1, "t1", "tea"), answer(2, "t1")]);
    let projects = library.path("home/.claude/projects");
    symlink(&project, projects.join("-other")).unwrap();
    symlink(&projects, projects.join("-proj/up")).unwrap();
    symlink(&project, project.join("self")).unwrap();
    let report = import(&library, &[]);
    assert_eq!(
        (&report["files"]["seen"], events(&report)),
        (&json!(1), (1, 0))
    );
    assert_eq!(
        import(&library, &[])["files"],
        json!({"seen": 1, "unchanged": 1})
    );
    assert_eq!(counters(&library), "1\t0");
}

#[test]
fn content_replaced_with_equal_size_and_time_is_read_anew() {
    let (library, transcript) = with_tea();
    transcript.add(&[call(1, "t1", "tea"), answer(2, "t1")]);
    transcript.written(1);
    let before = fs::metadata(&transcript.path).unwrap();
    import(&library, &[]);
    let other = transcript.text().replace("\"t1", "\"t9");
    transcript.replace(&other);
    let file = File::options().append(true).open(&transcript.path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    let after = fs::metadata(&transcript.path).unwrap();
    assert_eq!(
        (after.len(), after.modified().unwrap()),
        (before.len(), before.modified().unwrap())
    );
    assert_eq!(events(&import(&library, &[])), (1, 0));
    assert_eq!(counters(&library), "2\t0");
    assert_eq!(import(&library, &[])["files"]["unchanged"], 1);
}
