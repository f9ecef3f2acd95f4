//! The header reader against a table of hand-checked inputs and against the public libraries beside the checkout.
//! The values come from the rules of the format and a second YAML implementation, never from the reader itself; a row
//! that leaves a key out leaves that fact unchecked. Refuses to know how the reader works: bytes in, facts out.

use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use skilldb::skill::{self, Finding, RequirementKind, SkillText};

const TABLE: &str = include_str!("../fixtures/frontmatter/table.json");
const CORPORA: &str = include_str!("../fixtures/frontmatter/corpora.json");

/// What disagreed so far, one line each.
#[derive(Default)]
struct Mismatches(Vec<String>);

impl Mismatches {
    fn expect<T: PartialEq + Debug>(&mut self, id: &str, what: &str, wanted: &T, got: &T) {
        if wanted != got {
            let (wanted, got) = (shortened(wanted), shortened(got));
            self.0
                .push(format!("{id}: {what}: wanted {wanted}, got {got}"));
        }
    }

    fn assert_none(&self) {
        let Self(lines) = self;
        assert!(
            lines.is_empty(),
            "{} mismatches\n{}",
            lines.len(),
            lines.join("\n")
        );
    }

    fn note(&mut self, id: &str, what: &str) {
        self.0.push(format!("{id}: {what}"));
    }
}

#[test]
fn every_row_of_the_table_is_read_right() {
    let mut found = Mismatches::default();
    for row in rows(TABLE) {
        check_row(&row, &mut found);
    }
    found.assert_none();
}

#[test]
fn no_beginning_of_any_row_breaks_the_reader() {
    let mut found = Mismatches::default();
    for row in rows(TABLE) {
        let (id, bytes) = (text(&row, "id"), bytes_of(&row));
        for end in 0..bytes.len().min(240) {
            check_invariants(
                id,
                &bytes[..end],
                &skill::read(&bytes[..end], id),
                &mut found,
            );
        }
    }
    found.assert_none();
}

#[test]
fn every_header_of_the_real_libraries_is_read_right() {
    let root = shared().join("corpus/real");
    if !root.is_dir() {
        println!("skipped: no {} beside the checkout", root.display());
        return;
    }
    let mut found = Mismatches::default();
    check_corpus("real", &root, &mut found);
    found.assert_none();
}

#[test]
fn every_header_of_the_retrieval_tree_is_read_right() {
    let bench = shared().join("bench/retrieval");
    if !shared().join("corpus/real").is_dir() || !bench.join("export_store.py").is_file() {
        println!("skipped: no {} beside the checkout", bench.display());
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let export = Command::new("python3")
        .arg("export_store.py")
        .arg(out.path())
        .args(["--n", "0"])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(&bench)
        .output();
    let Ok(export) = export else {
        println!("skipped: no python3 to write the retrieval tree");
        return;
    };
    assert!(
        export.status.success(),
        "{}",
        String::from_utf8_lossy(&export.stderr)
    );
    let mut found = Mismatches::default();
    check_corpus("retrieval", &out.path().join("skills"), &mut found);
    found.assert_none();
}

#[test]
fn the_table_holds_sixty_rows_of_its_own_and_no_id_twice() {
    let mut ids: Vec<String> = rows(TABLE)
        .iter()
        .map(|row| text(row, "id").to_owned())
        .collect();
    ids.sort();
    let count = ids.len();
    ids.dedup();
    assert!(
        ids.len() == count && count >= 60,
        "{count} rows, {} different ids",
        ids.len()
    );
}

fn check_row(row: &Value, found: &mut Mismatches) {
    let (id, folder, bytes) = (text(row, "id"), text(row, "folder"), bytes_of(row));
    let got = skill::read(&bytes, folder);
    check_invariants(id, &bytes, &got, found);
    check_status(id, row, &got, found);
    if let Some(wanted) = row.get("name") {
        found.expect(id, "name", &wanted.as_str(), &got.declared_name.as_deref());
    }
    if let Some(wanted) = row.get("description") {
        found.expect(
            id,
            "description",
            &wanted.as_str(),
            &got.description.as_deref(),
        );
    }
    if let Some(wanted) = row.get("body").and_then(Value::as_str) {
        let body = bytes
            .get(got.body_offset..)
            .map(String::from_utf8_lossy)
            .unwrap_or_default();
        found.expect(id, "body", &wanted, &&*body);
    }
    if let Some(wanted) = row.get("header_text").and_then(Value::as_str) {
        let header = bytes
            .get(got.header_span.clone())
            .map(String::from_utf8_lossy)
            .unwrap_or_default();
        found.expect(id, "header text", &wanted, &&*header);
    }
    check_codes(id, row, &got.findings, found);
    check_header(id, row, &got.header, found);
    check_fields(id, row, &got, found);
}

/// What holds for every input, whatever its row says.
fn check_invariants(id: &str, bytes: &[u8], got: &SkillText, found: &mut Mismatches) {
    let places: Vec<_> = got.findings.iter().map(|f| (f.line, f.column)).collect();
    if !places.is_sorted()
        || places
            .iter()
            .any(|(line, column)| *line == 0 || *column == 0)
    {
        found.note(
            id,
            &format!("findings out of order or not counted from 1: {places:?}"),
        );
    }
    let mut seen: Vec<_> = got
        .findings
        .iter()
        .map(|f| (f.line, f.column, f.code.as_str()))
        .collect();
    seen.sort_unstable();
    if seen.windows(2).any(|pair| pair[0] == pair[1]) {
        found.note(id, &format!("a code twice at one place: {seen:?}"));
    }
    if got.header_span.end > bytes.len()
        || got.body_offset > bytes.len()
        || got.header_span.start > got.header_span.end
    {
        found.note(
            id,
            &format!(
                "offsets outside the file: {:?}, {}",
                got.header_span, got.body_offset
            ),
        );
    }
    let mut values = got.declared_name.iter().chain(&got.description);
    if values.any(|value| value.contains('\r')) {
        found.note(id, "a carriage return in a value");
    }
    if got.status.as_str() == "unreadable"
        && (got.declared_name.is_some() || got.description.is_some())
    {
        found.note(id, "a refused file with a name or a description");
    }
}

fn check_status(id: &str, row: &Value, got: &SkillText, found: &mut Mismatches) {
    let status = got.status.as_str();
    let agrees = match &row["status"] {
        Value::String(wanted) => wanted == status,
        Value::Array(either) => either.iter().any(|one| one == status),
        _ => true,
    };
    if !agrees {
        found.note(
            id,
            &format!(
                "status: wanted {}, got {status} {}",
                row["status"],
                codes(&got.findings)
            ),
        );
    }
}

/// A wanted code is `code`, `code@line` or `code@line:column`.
fn check_codes(id: &str, row: &Value, findings: &[Finding], found: &mut Mismatches) {
    let spellings: Vec<[String; 3]> = findings
        .iter()
        .map(|f| {
            let code = f.code.as_str();
            [
                code.to_owned(),
                format!("{code}@{}", f.line),
                format!("{code}@{}:{}", f.line, f.column),
            ]
        })
        .collect();
    let has = |code: &str| spellings.iter().flatten().any(|spelling| spelling == code);
    for code in strings(&row["codes"]).iter().filter(|code| !has(code)) {
        found.note(
            id,
            &format!("codes: wanted {code}, got {}", codes(findings)),
        );
    }
    for code in strings(&row["not_codes"]).iter().filter(|code| has(code)) {
        found.note(id, &format!("codes: {code} must not be reported"));
    }
    if let [code, words] = strings(&row["message"]).as_slice() {
        let mut messages = findings
            .iter()
            .filter(|f| f.code.as_str() == code)
            .map(|f| &f.message);
        if !messages.any(|message| message.contains(words)) {
            found.note(id, &format!("messages: no {code} names `{words}`"));
        }
    }
    if let [code, line] = strings(&row["suggestion"]).as_slice() {
        let offered = findings
            .iter()
            .find(|f| f.code.as_str() == code)
            .and_then(|f| f.suggestion.clone());
        found.expect(id, "suggestion", &Some(line.clone()), &offered);
    }
}

fn check_header(id: &str, row: &Value, header: &Map<String, Value>, found: &mut Mismatches) {
    let Some(wanted) = row.get("header").and_then(Value::as_object) else {
        return;
    };
    if wanted.is_empty() {
        found.expect(id, "header", wanted, header);
    }
    for (key, value) in wanted {
        found.expect(
            id,
            &format!("header `{key}`"),
            &Some(value),
            &header.get(key),
        );
    }
    for key in strings(&row["header_absent"]) {
        if header.get(&key).is_some_and(|value| !value.is_null()) {
            found.note(
                id,
                &format!("header `{key}` must be absent, got {}", header[&key]),
            );
        }
    }
}

fn check_fields(id: &str, row: &Value, got: &SkillText, found: &mut Mismatches) {
    let Some(wanted) = row.get("fields").and_then(Value::as_object) else {
        return;
    };
    let fields = fields_as_json(got);
    for (name, value) in wanted {
        let (mut value, mut got) = (value.clone(), fields[name].clone());
        // The rules give these no order.
        if name == "conditions" || name == "requirements" {
            sort(&mut value);
            sort(&mut got);
        }
        found.expect(id, &format!("field `{name}`"), &value, &got);
    }
}

fn fields_as_json(got: &SkillText) -> Value {
    let fields = &got.fields;
    let requirement_kind = |kind: &RequirementKind| match kind {
        RequirementKind::Env => "env",
        RequirementKind::CredentialFile => "credential_file",
        RequirementKind::Command => "command",
    };
    json!({
        "license": fields.license,
        "compatibility": fields.compatibility,
        "version": fields.version,
        "author": fields.author,
        "argument_hint": fields.argument_hint,
        "when_to_use": fields.when_to_use,
        "allowed_tools": fields.allowed_tools,
        "disable_model_invocation": fields.disable_model_invocation,
        "user_invocable": fields.user_invocable,
        "category": fields.category,
        "tags": fields.tags,
        "related": fields.related,
        "conditions": fields.conditions.iter().map(|c| json!([c.kind.as_str(), c.value])).collect::<Vec<_>>(),
        "requirements": fields
            .requirements
            .iter()
            .map(|r| json!([requirement_kind(&r.kind), r.name, r.required]))
            .collect::<Vec<_>>(),
        "config": fields
            .config
            .iter()
            .map(|c| json!([c.key, c.description, c.default, c.prompt]))
            .collect::<Vec<_>>(),
    })
}

/// Reads every `SKILL.md` below `root` and compares counts, the listed rows, and one digest over all names and descriptions.
fn check_corpus(corpus: &str, root: &Path, found: &mut Mismatches) {
    let wanted = rows(CORPORA)
        .into_iter()
        .find(|row| row["corpus"] == corpus)
        .expect("the corpus is in the fixture");
    let mut files = Vec::new();
    collect_skill_files(root, &mut files);
    let mut read: Vec<(String, SkillText)> =
        files.iter().map(|path| read_below(root, path)).collect();
    read.sort_by(|a, b| a.0.cmp(&b.0));

    let count = |status: &str| {
        read.iter()
            .filter(|(_, got)| got.status.as_str() == status)
            .count() as u64
    };
    let (ok, repaired, unreadable) = (count("ok"), count("repaired"), count("unreadable"));
    let number = |key: &str| wanted[key].as_u64().expect("the totals are numbers");
    found.expect(corpus, "files", &number("files"), &(read.len() as u64));
    found.expect(corpus, "unreadable", &number("unreadable"), &unreadable);
    // Files whose verdict the rules leave open may fall on either side.
    let open = number("ok_or_repaired");
    if ok < number("ok") || repaired < number("repaired") || repaired > number("repaired") + open {
        found.note(
            corpus,
            &format!("totals: {ok} ok, {repaired} repaired, {unreadable} unreadable"),
        );
    }
    for row in wanted["rows"].as_array().expect("the rows are a list") {
        let path = text(row, "path");
        let Some((_, got)) = read.iter().find(|(name, _)| name == path) else {
            found.note(path, "not in the corpus");
            continue;
        };
        check_status(path, row, got, found);
        found.expect(
            path,
            "name",
            &row["name"].as_str(),
            &got.declared_name.as_deref(),
        );
        let hash = got
            .description
            .as_deref()
            .map(|text| sha256(text.as_bytes()));
        found.expect(
            path,
            "description",
            &row["description_sha256"].as_str(),
            &hash.as_deref(),
        );
    }
    let lines: Vec<String> = read
        .iter()
        .map(|(path, got)| digest_line(path, got))
        .collect();
    found.expect(
        corpus,
        "digest",
        &text(&wanted, "digest"),
        &sha256(lines.concat().as_bytes()).as_str(),
    );
}

/// One line of the digest: path, name, SHA-256 of the description, with tabs between.
fn digest_line(path: &str, got: &SkillText) -> String {
    let name = got.declared_name.as_deref().unwrap_or_default();
    let hash = got
        .description
        .as_deref()
        .map(|text| sha256(text.as_bytes()))
        .unwrap_or_default();
    format!("{path}\t{name}\t{hash}\n")
}

fn read_below(root: &Path, path: &Path) -> (String, SkillText) {
    let folder = path
        .parent()
        .and_then(Path::file_name)
        .expect("a skill file has a folder")
        .to_string_lossy();
    let name = path
        .strip_prefix(root)
        .expect("the walk stays below its root")
        .to_string_lossy()
        .into_owned();
    (
        name,
        skill::read(&fs::read(path).expect("the corpus is readable"), &folder),
    )
}

fn collect_skill_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the corpus is readable") {
        let path = entry.expect("the corpus is readable").path();
        if path.is_dir() {
            collect_skill_files(&path, files);
        } else if path.file_name().is_some_and(|name| name == "SKILL.md") {
            files.push(path);
        }
    }
}

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared")
}

fn rows(fixture: &str) -> Vec<Value> {
    serde_json::from_str(fixture).expect("the fixture is a JSON list")
}

/// The file of a row: `text` as it is, `hex` for bytes that are no text, `parts` for text with repeated pieces.
fn bytes_of(row: &Value) -> Vec<u8> {
    if let Some(hex) = row["hex"].as_str() {
        let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex digits");
        return (0..hex.len()).step_by(2).map(digits).collect();
    }
    let Some(parts) = row["parts"].as_array() else {
        return text(row, "text").as_bytes().to_vec();
    };
    let piece = |part: &Value| match part.as_str() {
        Some(plain) => plain.to_owned(),
        None => text(part, "repeat").repeat(part["times"].as_u64().expect("a count") as usize),
    };
    parts.iter().map(piece).collect::<String>().into_bytes()
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().expect("the fixture has this text")
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn sort(list: &mut Value) {
    if let Some(items) = list.as_array_mut() {
        items.sort_by_key(Value::to_string);
    }
}

fn codes(findings: &[Finding]) -> String {
    let all: Vec<String> = findings
        .iter()
        .map(|f| format!("{}@{}:{}", f.code.as_str(), f.line, f.column))
        .collect();
    format!("[{}]", all.join(" "))
}

fn shortened(value: &impl Debug) -> String {
    let all = format!("{value:?}");
    if all.chars().count() <= 300 {
        return all;
    }
    format!(
        "{}… ({} characters)",
        all.chars().take(300).collect::<String>(),
        all.chars().count()
    )
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
