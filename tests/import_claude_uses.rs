//! Importing Claude Code's transcripts: what counts as a use, and what only looks like one.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be arranged is a failed test"
)]

mod claude;
mod common;

use claude::{
    RESUMED, SESSION, Transcript, answer, assert_healthy, body, call, counters, events, expanded,
    failure, import, said, time, typed, uses, with_tea,
};
use serde_json::json;

#[test]
fn calls_and_typed_commands_are_uses() {
    let (library, transcript) = with_tea();
    transcript.add(&[
        call(1, "t1", "tea"),
        answer(2, "t1"),
        body(2, "t1", "/skills/tea"),
        typed(3, "u1", "tea"),
        expanded(3, "u1", "/skills/tea"),
    ]);
    assert_eq!(events(&import(&library, &[])), (2, 0));
    assert_eq!(uses(&library), "tea\tmodel\t1\ntea\tslash\t1");
    assert_eq!(counters(&library), "2\t0");
    assert_healthy(&library);
}

#[test]
fn subagents_and_those_of_workflows_are_read_with_their_session() {
    let (library, transcript) = with_tea();
    transcript.add(&[said(0, "look at it")]);
    for (rel, id) in [("agent-a9", "t1"), ("workflows/wf_x/agent-b7", "t2")] {
        let rel = format!("{SESSION}/subagents/{rel}");
        let agent = Transcript::at(&library, &format!("{rel}.jsonl"), SESSION);
        // Older versions do not name the agent in each line.
        agent.add(&[call(1, id, "tea"), answer(2, id)]);
        let meta = Transcript::at(&library, &format!("{rel}.meta.json"), SESSION);
        meta.add_text("{\"agentType\":\"reviewer\"}\n");
    }
    let report = import(&library, &[]);
    assert_eq!(
        (&report["sessions"], &report["subagents"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(
        (&report["warnings"], &report["files"]["seen"]),
        (&json!([]), &json!(3))
    );
    assert_eq!(
        library.sql("SELECT session_id, subagent, ok FROM v_usage ORDER BY subagent"),
        format!("{SESSION}\ta9\t1\n{SESSION}\tb7\t1")
    );
}

#[test]
fn what_a_compaction_quotes_counts_nothing() {
    let (library, transcript) = with_tea();
    let told = "This session is being continued. The user typed <command-name>/tea</command-name> and I used the \"Skill\" tool.";
    let mut summary = said(1, told);
    summary["isCompactSummary"] = json!(true);
    let content =
        "Base directory for this skill: /skills/tea\n\n# Steps\n<command-name>/tea</command-name>";
    let attachment = json!({"type": "invoked_skills", "skills": [{"name": "tea", "path": "/skills/tea", "content": content}]});
    let kept =
        json!({"type": "attachment", "uuid": "a1", "timestamp": time(2), "attachment": attachment});
    let listing = json!({"type": "skill_listing", "names": ["tea"], "skillCount": 1, "isInitial": true, "content": "\"Skill\" tea"});
    let listed =
        json!({"type": "attachment", "uuid": "a2", "timestamp": time(2), "attachment": listing});
    transcript.add(&[summary, kept, listed]);
    let mut note = said(3, "the skills of before");
    note["isMeta"] = json!(true);
    transcript.add(&[note, said(4, "go on")]);
    assert_eq!(events(&import(&library, &[])), (0, 0));
    // What was used before the compaction still counts, once.
    transcript.add(&[call(5, "t1", "tea"), answer(6, "t1")]);
    assert_eq!(events(&import(&library, &[])), (1, 0));
}

#[test]
fn text_that_quotes_a_command_or_a_call_is_no_use() {
    let (library, transcript) = with_tea();
    let tags = "<command-name>/tea</command-name>";
    let mut note = expanded(1, "said-1", "/skills/tea");
    let quoted = call(2, "t1", "tea")["message"]["content"].clone();
    let answered = json!([{"type": "tool_result", "tool_use_id": "other", "content": [{"type": "text", "text": quoted.to_string()}]}]);
    let mut read = said(2, "");
    read["message"]["content"] = answered;
    // A tool's own result may hold whole messages, and so does a note of how far a subagent is.
    read["toolUseResult"] = json!({"content": quoted});
    let progress = json!({"type": "progress", "uuid": "p1", "timestamp": time(3), "data": {"message": call(3, "t2", "tea")}});
    let mut spoken = call(4, "t3", "tea");
    spoken["message"]["content"] =
        json!([{"type": "text", "text": format!("{tags} calls \"Skill\"")}]);
    for text in [
        format!("why is {tags} in my log?"),
        format!("{tags} is what I typed"),
        format!("look:\n{tags}"),
    ] {
        transcript.add(&[said(1, &text), note.clone()]);
    }
    transcript.add(&[read, progress, spoken]);
    // A built-in command has no text that follows it.
    note["parentUuid"] = json!("another line");
    transcript.add(&[
        typed(5, "u1", "clear"),
        said(5, "<local-command-stdout></local-command-stdout>"),
        note,
    ]);
    let report = import(&library, &[]);
    assert_eq!(uses(&library), "", "{report}");
    assert_eq!(report["warnings"], json!([]));
}

#[test]
fn failed_calls_are_kept_as_failures() {
    let (library, transcript) = with_tea();
    let mut refused = answer(4, "t2");
    refused["toolUseResult"] = json!({"success": false, "commandName": "tea"});
    transcript.add(&[
        call(1, "t1", "tea"),
        failure(2, "t1"),
        call(3, "t2", "tea"),
        refused,
    ]);
    transcript.add(&[call(5, "t3", "coffee"), failure(6, "t3")]);
    let report = import(&library, &[]);
    assert_eq!(
        (events(&report), &report["events"]["failed"]),
        ((3, 0), &json!(3))
    );
    assert_eq!(counters(&library), "2\t2");
    let missing = "SELECT name, calls, failures, copies FROM v_not_installed";
    assert_eq!(library.sql(missing), "coffee\t1\t1\t0");
    let failed = "SELECT last_failure_at FROM skill_usage";
    assert_eq!(library.sql(failed), time(3));
}

#[test]
fn tokens_of_a_message_count_once_and_cache_reads_never() {
    let (library, transcript) = with_tea();
    let spent = |second, output| {
        let usage = json!({"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 9000, "output_tokens": output});
        json!({"type": "assistant", "timestamp": time(second), "attributionSkill": "tea", "message": {"id": "m1", "content": [], "usage": usage}})
    };
    transcript.add(&[
        call(1, "t1", "tea"),
        answer(2, "t1"),
        spent(3, 5),
        spent(3, 5),
    ]);
    import(&library, &[]);
    // A later line of the same message, read by a later import.
    transcript.add(&[spent(4, 30)]);
    import(&library, &[]);
    let cost = "SELECT tokens_in, tokens_out FROM v_usage";
    assert_eq!(library.sql(cost), "120\t30");
    let copy = Transcript::new(&library, RESUMED);
    copy.add(&[call(1, "t1", "tea"), answer(2, "t1"), spent(3, 30)]);
    import(&library, &[]);
    assert_eq!(library.sql(cost), "120\t30");
}
