//! The peer's actions on skills, replayed through the binary on the same files: what succeeds, what is refused, and
//! what the files say after.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "what cannot be arranged is a failed test, and a table is written when asked for"
)]

mod common;
#[path = "common/vectors.rs"]
mod vectors;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::Library;
use serde_json::{Value, json};

/// Text as the cases write it: plain, repeated, or as base64.
fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    if let Some(text) = value.as_str() {
        return Some(text.as_bytes().to_vec());
    }
    if let Some(text) = value["b64"].as_str() {
        return Some(STANDARD.decode(text).unwrap());
    }
    let text = value["text"].as_str()?;
    let times = value["repeat"].as_u64().unwrap_or(1);
    let prefix = value["prefix"].as_str().unwrap_or_default();
    let suffix = value["suffix"].as_str().unwrap_or_default();
    let count = usize::try_from(times).unwrap();
    Some(format!("{prefix}{}{suffix}", text.repeat(count)).into_bytes())
}

/// A machine with the files of a case: the peer's home is `data/`, which is skilldb's home as well.
struct Machine {
    library: Library,
    roots: Vec<String>,
    serial: usize,
}

impl Machine {
    fn new(case: &Value) -> Self {
        let library = Library::new();
        library.write("data/skills/.keep", b"");
        let mut roots = vec!["data/skills".to_owned()];
        let config = case["setup"]["config"].as_str().unwrap_or_default();
        let mut settings = String::new();
        if config.contains("$ROOT/ext") {
            roots.push("ext".to_owned());
        }
        if config.contains("venv/ext") {
            roots.push("data/venv/ext".to_owned());
        }
        if config.contains("write_approval: true") {
            settings.push_str("write_policy:\n  user: ask\n  background_review: ask\n");
        }
        library.write("data/config.yaml", settings.as_bytes());
        let mut machine = Self {
            library,
            roots,
            serial: 0,
        };
        if let Some(files) = case["setup"]["files"].as_object() {
            for (path, spec) in files {
                machine.put(path, spec);
            }
        }
        for root in machine.roots.clone() {
            let path = machine.library.path(&root);
            fs::create_dir_all(&path).unwrap();
            let label = if root == "data/skills" {
                root
            } else {
                format!("external={root}")
            };
            machine.run(&[
                "sync",
                "--root",
                &label.replace("data/skills", "local=data/skills"),
            ]);
        }
        machine
    }

    fn home(&self) -> String {
        self.library.path("data").display().to_string()
    }

    fn put(&mut self, path: &str, spec: &Value) {
        let path = match path.strip_prefix("../") {
            Some(outside) => outside.to_owned(),
            None => format!("data/{path}"),
        };
        if let Some(target) = spec["symlink"].as_str() {
            let target = target.replace("$HERMES_HOME", &self.home());
            let place = self.library.path(&path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            symlink(target, place).unwrap();
            return;
        }
        let place = self.library.write(&path, &bytes_of(spec).unwrap());
        if let Some(mode) = spec["mode"].as_str() {
            let mode = u32::from_str_radix(mode, 8).unwrap();
            fs::set_permissions(place, fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    /// The word for how a command ended: ok, proposed, or the error's code.
    fn run(&self, args: &[&str]) -> String {
        let args = [args, &["--json"]].concat();
        let output = self.library.skilldb(&args).output().unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        match (
            output.status.code(),
            told["outcome"].as_str(),
            told["error"]["code"].as_str(),
        ) {
            (_, _, Some(code)) => code.to_owned(),
            (Some(0), Some("proposed"), _) => "proposed".to_owned(),
            (Some(0), ..) => "ok".to_owned(),
            (code, ..) => format!("exit {code:?}: {}", String::from_utf8_lossy(&output.stderr)),
        }
    }

    /// A file with these bytes, for `--from`.
    fn given(&mut self, value: &Value) -> String {
        self.serial += 1;
        let path = format!("given/{}", self.serial);
        self.library
            .write(&path, &bytes_of(value).unwrap_or_default());
        path
    }

    fn manage(&mut self, args: &Value) -> String {
        let text = |key: &str| args[key].as_str().unwrap_or_default().to_owned();
        let name = text("name");
        let actor = args["_origin"].as_str().unwrap_or("user").replace('_', "-");
        let who = ["--actor", actor.as_str()];
        let file = |key: &str| match args["file_path"].as_str() {
            Some(path) => format!("{name}/{path}"),
            None if key == "required" => name.clone(),
            None => name.clone(),
        };
        match text("action").as_str() {
            "create" => {
                let from = self.given(&args["content"]);
                let mut words = vec!["create", &name, "--from", &from];
                if let Some(category) = args["category"].as_str() {
                    words.extend(["--category", category]);
                }
                self.run(&[&words[..], &who].concat())
            }
            "edit" => {
                let from = self.given(&args["content"]);
                self.run(&[&["edit", &name, "--from", &from][..], &who].concat())
            }
            "patch" => {
                let (old, new) = (
                    self.given(&args["old_string"]),
                    self.given(&args["new_string"]),
                );
                let target = file("");
                let mut words = vec!["patch", &target];
                if !args["old_string"].is_null() {
                    words.extend(["--old-from", &old]);
                }
                if !args["new_string"].is_null() {
                    words.extend(["--new-from", &new]);
                }
                if args["replace_all"] == true {
                    words.push("--all");
                }
                self.run(&[&words[..], &who].concat())
            }
            "write_file" => {
                if args["file_content"].is_null() {
                    return self.run(&[&["write", &file("")][..], &who].concat());
                }
                let from = self.given(&args["file_content"]);
                self.run(&[&["write", &file(""), "--from", &from][..], &who].concat())
            }
            "remove_file" => self.run(&[&["rm-file", &file("")][..], &who].concat()),
            // What a skill was absorbed into is said by a merge.
            "delete" => self.run(&[&["delete", &name][..], &who].concat()),
            other => self.run(&[other, &name]),
        }
    }

    /// Live files below the peer's skills folder, as text.
    fn tree(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let root = self.library.path("data/skills");
        collect(&root, "skills", &mut files);
        files
    }
}

fn is_counted(path: &str) -> bool {
    path.starts_with("skills/")
        && path != "skills/"
        && !path.split('/').any(|part| {
            [
                ".archive",
                ".hub",
                ".keep",
                ".bundled_manifest",
                ".usage.json",
                ".usage.json.lock",
                ".curator_suppressed",
            ]
            .contains(&part)
        })
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            collect(&entry.path(), &path, files);
        } else if is_counted(&path) && kind.is_file() {
            files.insert(
                path,
                String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned(),
            );
        }
    }
}

/// The same of what the peer observed.
fn their_tree(observed: &Value) -> BTreeMap<String, String> {
    let text = |file: &Value| match bytes_of(file) {
        Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        None => String::new(),
    };
    observed
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(path, file)| is_counted(path) && file["symlink"].is_null())
        .map(|(path, file)| (path.clone(), text(file)))
        .collect()
}

/// Replays a case. Steps about other things (lists, the index, counts) are left to their own tests.
fn replay(case: &Value) -> Option<(Value, Value)> {
    let mut machine = Machine::new(case);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for step in case["steps"].as_array().unwrap() {
        let args = &step["call"]["args"];
        let observed = &step["observed"];
        match step["call"]["fn"].as_str().unwrap() {
            "skill_manage" => {
                let word = machine.manage(args);
                let is_fine = observed["success"] == true;
                let their_word = match (is_fine, word.as_str()) {
                    (true, "proposed") if observed["staged"] == true => "proposed",
                    (true, _) => "ok",
                    (false, "ok" | "proposed") => "refused",
                    // How the refusal is worded is ours; that there is one has to agree.
                    (false, word) => word,
                };
                theirs.push(json!(their_word));
                ours.push(json!(word));
            }
            "tree" => {
                ours.push(json!(machine.tree()));
                theirs.push(json!(their_tree(observed)));
            }
            "read" => {
                let path = format!("data/{}", args["path"].as_str().unwrap());
                let text = fs::read(machine.library.path(&path)).unwrap();
                ours.push(json!(String::from_utf8_lossy(&text)));
                theirs.push(observed.clone());
            }
            "write" => machine.put(args["path"].as_str().unwrap(), &args["spec"]),
            "mark_agent" => {
                machine.run(&["adopt", args["name"].as_str().unwrap(), "--as", "agent"]);
            }
            "pin" => drop(machine.run(&["pin", args["name"].as_str().unwrap()])),
            "archive" => drop(machine.run(&["archive", args["name"].as_str().unwrap()])),
            "restore" => drop(machine.run(&["restore", args["name"].as_str().unwrap()])),
            "pending_cmd" if args["args"][0] == "approve" => {
                let word = machine.run(&["proposals", "approve", "1"]);
                let is_fine = observed.as_str().unwrap().starts_with("Approved 1");
                let their_word = match (is_fine, word.as_str()) {
                    (true, _) => "ok",
                    (false, "ok") => "refused",
                    (false, word) => word,
                };
                theirs.push(json!(their_word));
                ours.push(json!(word));
            }
            _ => {}
        }
    }
    (!ours.is_empty()).then(|| (json!(ours), json!(theirs)))
}

#[test]
fn every_action_of_the_peer_ends_the_same_or_is_a_departure_with_a_reason() {
    let cases = vectors::read("skill_manage.json");
    let mut outcomes = Vec::new();
    let mut elsewhere = 0;
    for case in cases.as_array().unwrap() {
        let name = case["name"].as_str().unwrap().to_owned();
        match replay(case) {
            Some((ours, theirs)) => outcomes.push((name, ours, theirs)),
            None => elsewhere += 1,
        }
    }
    println!(
        "skill_manage: {elsewhere} cases about lists and the index only, which have tests of their own"
    );
    vectors::compare("skill_manage_departures.json", &outcomes);
}
