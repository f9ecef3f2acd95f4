//! `search` as people and programs use it, and an index that is right after whatever happens to the files.

mod common;
#[path = "common/dice.rs"]
mod dice;

use common::{Library, strings};
use serde_json::Value;

const SKILLS: [(&str, &str, &str); 7] = [
    (
        "pdf-tables",
        "Reads tables out of PDF files",
        "Rows and columns become CSV.",
    ),
    (
        "release-notes",
        "Writes release notes from merged changes",
        "Group them by area.",
    ),
    (
        "kubernetes-rollout",
        "Rolls a service out to a cluster and back",
        "Deploy with kubectl, wait for pods.",
    ),
    (
        "code-review",
        "Reviews changes for bugs before they are merged",
        "Read the diff twice.",
    ),
    (
        "meeting-notes",
        "Turns a recording into minutes",
        "Name who does what until when.",
    ),
    (
        "invoice",
        "Fills an invoice from an order",
        "Compute the tax.",
    ),
    (
        "会议纪要",
        "把会议录音整理成纪要，提取待办事项",
        "先转写录音，再按部门分组。",
    ),
];

fn text(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n{body}\n")
}

fn put(library: &Library, name: &str, description: &str, body: &str) {
    let path = format!("skills/{name}/SKILL.md");
    library.write(&path, text(name, description, body).as_bytes());
}

fn library() -> Library {
    let library = Library::new();
    for (name, description, body) in SKILLS {
        put(&library, name, description, body);
    }
    library.sync();
    library
}

fn found(library: &Library, query: &str) -> Vec<String> {
    strings(&library.json(&["search", query])["results"], "name")
}

fn first(library: &Library, query: &str) -> String {
    found(library, query).first().cloned().unwrap_or_default()
}

#[test]
fn a_skill_is_found_by_its_words_wherever_they_stand() {
    let library = library();
    assert_eq!(first(&library, "extract tables from a pdf"), "pdf-tables");
    assert_eq!(
        first(&library, "deploying pods"),
        "kubernetes-rollout",
        "in the body, in another form"
    );
    assert_eq!(first(&library, "minutes of a recording"), "meeting-notes");
    let told = library.run(&["search", "merged", "changes", "--limit", "1"]);
    assert!(told.contains("\nrelease-notes\t"), "{told}");
    assert!(
        told.contains("\t[DIR]/skills/release-notes\tWrites release notes from merged changes\n"),
        "{told}"
    );
}

#[test]
fn a_name_is_found_as_people_type_it() {
    let library = library();
    for query in [
        "code-review",
        "/code-review",
        "Code Review",
        "code_review",
        "code-reveiw",
        "code-re",
    ] {
        assert_eq!(first(&library, query), "code-review", "{query}");
    }
    let told = library.json(&["search", "code-reveiw"]);
    assert_eq!(told["results"][0]["why"], "name is near");
}

#[test]
fn a_question_in_chinese_finds_skills_of_both_languages() {
    let library = library();
    assert_eq!(first(&library, "整理会议录音"), "会议纪要");
    let told = library.json(&["search", "帮我审查代码里的错误"]);
    assert_eq!(told["results"][0]["name"], "code-review", "{told}");
    assert_eq!(told["results"][0]["why"], "words, translated");
    assert_eq!(
        first(&library, "把服务部署到 Kubernetes 集群"),
        "kubernetes-rollout"
    );
}

#[test]
fn what_does_not_fit_is_said_to_be_unsure() {
    let library = library();
    assert_eq!(
        library.json(&["search", "tables of a pdf"])["confident"],
        true
    );
    let told = library.json(&[
        "search",
        "translate a poem about changes in the weather into Latin hexameters",
    ]);
    assert_eq!(told["confident"], false, "{told}");
    let told = library.json(&["search", "zzzz"]);
    assert_eq!(
        (
            told["results"].as_array().unwrap().len(),
            &told["confident"]
        ),
        (0, &false.into())
    );
    library.json_exit(&["search", "  "], 2);
}

#[test]
fn what_is_put_away_is_found_on_request() {
    let library = library();
    library.run(&["archive", "invoice"]);
    assert!(!found(&library, "invoice").contains(&"invoice".to_owned()));
    let told = library.json(&["search", "invoice", "--archived"]);
    assert_eq!(
        (&told["results"][0]["name"], &told["results"][0]["state"]),
        (&"invoice".into(), &"archived".into())
    );
    library.run(&["restore", "invoice"]);
    assert_eq!(first(&library, "invoice"), "invoice");
}

#[test]
fn nothing_is_indexed_before_somebody_searches_and_then_only_what_changed() {
    let library = library();
    let documents = "SELECT count(*), coalesce(max(document), 0) FROM search_document";
    assert_eq!(library.sql(documents), "0\t0");
    found(&library, "pdf");
    assert_eq!(library.sql(documents), "7\t7");
    put(
        &library,
        "invoice",
        "Fills an invoice from an order",
        "Mind the hippopotamus.",
    );
    library.sync();
    assert_eq!(first(&library, "hippopotamus"), "invoice");
    assert_eq!(library.sql(documents), "7\t8", "one skill was taken apart");
    library.remove("skills/invoice");
    library.sync();
    assert!(found(&library, "hippopotamus").is_empty());
    assert_eq!(library.sql(documents), "6\t7");
}

#[test]
fn an_index_that_grew_says_what_a_new_one_says() {
    let library = library();
    let mut dice = dice::Dice(11);
    let words = [
        "tables", "release", "cluster", "merged", "minutes", "tax", "录音", "orders", "weather",
    ];
    for round in 0..24 {
        let name = SKILLS[usize::try_from(dice.roll(6)).unwrap()].0;
        if dice.roll(4) == 0 {
            let path = format!("skills/{name}");
            if library.path(&path).exists() {
                library.remove(&path);
            }
        } else {
            let mut word = || words[usize::try_from(dice.roll(words.len() as u64)).unwrap()];
            let description = format!("Does {} with {}", word(), word());
            let body = format!("Round {round}: {} {}", word(), word());
            put(&library, name, &description, &body);
        }
        library.sync();
        found(&library, "tables");
    }
    let ask = |library: &Library| -> Vec<Value> {
        words
            .iter()
            .map(|word| {
                let mut results = library.json(&["search", word, "--archived"])["results"].clone();
                for hit in results.as_array_mut().unwrap() {
                    hit.as_object_mut().unwrap().remove("verdict");
                }
                results
            })
            .collect()
    };
    let grown = ask(&library);
    let segments = library.sql("SELECT count(*) FROM search_segment");
    assert!(segments.parse::<u32>().unwrap() <= 7, "{segments} parts");
    // A purge leaves no index behind.
    library.run(&["purge", "--containing", "no such words anywhere", "--yes"]);
    assert_eq!(library.sql("SELECT count(*) FROM search_term"), "0");
    assert_eq!(ask(&library), grown);
}

#[test]
fn many_who_search_at_once_make_one_index() {
    let library = library();
    let children: Vec<_> = (0..6)
        .map(|_| {
            library
                .process(&["search", "pdf tables", "--json"])
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(told["results"][0]["name"], "pdf-tables");
    }
    assert_eq!(
        library.sql("SELECT count(*), count(DISTINCT skill_id) FROM search_document"),
        "7\t7"
    );
}

#[test]
fn what_speaks_for_a_skill_is_told() {
    let library = library();
    let told = library.run(&["search", "merged changes", "--limit", "1", "--explain"]);
    assert!(told.contains("100 % of the question"), "{told}");
    let told = library.json(&["search", "merged changes", "--explain"]);
    assert!(
        told["results"][0]["explain"]["description"].is_number(),
        "{told}"
    );
}
