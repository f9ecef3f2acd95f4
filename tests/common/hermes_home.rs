//! A Hermes home as the peer's cases describe it, and what the binary makes of it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use skilldb::time::Timestamp;

use crate::common::Library;

/// A Hermes home at `hermes/`, as a case describes it.
pub(crate) struct Home {
    pub(crate) library: Library,
    pub(crate) now: Timestamp,
}

impl Home {
    pub(crate) fn new(case: &Value) -> Self {
        let library = Library::new();
        let setup = &case["setup"];
        library.write("hermes/skills/.keep", b"");
        let absolute = library.path("hermes").display().to_string();
        for (path, text) in setup["files"].as_object().into_iter().flatten() {
            let text = text.as_str().unwrap().replace("$HERMES_HOME", &absolute);
            library.write(&format!("hermes/{path}"), text.as_bytes());
        }
        if let Some(usage) = setup["usage"].as_object() {
            library.write(
                "hermes/skills/.usage.json",
                json!(usage).to_string().as_bytes(),
            );
        }
        if let Some(names) = setup["bundled"].as_array() {
            let lines: String = names
                .iter()
                .map(|name| format!("{}:0123\n", name.as_str().unwrap()))
                .collect();
            library.write("hermes/skills/.bundled_manifest", lines.as_bytes());
        }
        if let Some(jobs) = setup["cron_jobs"].as_array() {
            library.write(
                "hermes/cron/jobs.json",
                json!({"jobs": jobs}).to_string().as_bytes(),
            );
        }
        let config = &setup["config"]["curator"];
        let mut lines = format!(
            "curator:\n  bundled: {}\n",
            config["prune_builtins"] != json!(false)
        );
        for key in ["stale_after_days", "archive_after_days"] {
            if let Some(value) = config.get(key) {
                writeln!(lines, "  {key}: {value}").unwrap();
            }
        }
        library.write("data/config.yaml", lines.as_bytes());
        if let Some(folders) = setup["config"]["skills"]["external_dirs"].as_array() {
            let folders = json!(folders)
                .to_string()
                .replace("$HERMES_HOME", &absolute);
            let config = format!("skills:\n  external_dirs: {folders}\n");
            library.write("hermes/config.yaml", config.as_bytes());
        }
        let now = setup["now"]
            .as_str()
            .and_then(Timestamp::parse_lenient)
            .unwrap();
        Self { library, now }
    }

    /// Runs a command so many days later; its object, or the code of its error.
    pub(crate) fn run(&self, days: i64, args: &[&str]) -> Value {
        let args = [args, &["--json"]].concat();
        let mut command = self.library.skilldb(&args);
        let output = command
            .env("SKILLDB_NOW", self.now.days_before(-days).to_string())
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| json!({"error": {"code": self.library.told(&output)}}))
    }

    pub(crate) fn import(&self) {
        self.run(0, &["import", "hermes", "hermes"]);
    }

    /// What a run of the curator does: how many skills, in the peer's words.
    pub(crate) fn pass(&self, days: i64) -> Value {
        let ran = self.run(days, &["curate", "--force"]);
        match ran["error"]["code"].as_str() {
            Some(code) => json!(code),
            None => {
                json!({"archived": ran["totals"]["archive"], "marked_stale": ran["totals"]["stale"],
                           "reactivated": ran["totals"]["reactivate"]})
            }
        }
    }

    /// `ok`, or the code of the error.
    pub(crate) fn word(&self, args: &[&str]) -> String {
        let told = self.run(0, args);
        let inner = told["results"].get(0).unwrap_or(&told);
        inner["error"]["code"].as_str().unwrap_or("ok").to_owned()
    }

    /// Every file of skills below the home's folder of skills, archived ones included.
    pub(crate) fn tree(&self) -> Vec<String> {
        let mut files = Vec::new();
        let root = self.library.path("hermes/skills");
        collect(&root, "", &mut files);
        files.sort();
        files
    }

    pub(crate) fn body(&self, path: &str) -> String {
        let text = fs::read_to_string(self.library.path(&format!("hermes/skills/{path}")))
            .unwrap_or_default();
        text.lines().last().unwrap_or_default().to_owned()
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{path}/"), files);
        } else if is_of_skills(&path) {
            files.push(path);
        }
    }
}

/// Not what the peer keeps beside its skills.
pub(crate) fn is_of_skills(path: &str) -> bool {
    let name = path.split('/').next().unwrap();
    name == ".archive" || !name.starts_with('.')
}
