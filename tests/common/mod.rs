//! The builder of the story tests: a library of its own in a temporary folder, and the built binary run in an
//! environment that holds nothing else. Refuses to know what the commands print.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what cannot be arranged is a failed test"
)]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// What every test takes as the present moment.
pub(crate) const NOW: &str = "2026-01-02T03:04:05.000Z";

/// A user's machine in a temporary folder: `home/` is HOME, `data/` is SKILLDB_HOME, `skills/` a folder of skills,
/// and the folder itself is where commands run.
pub(crate) struct Library {
    _temp: TempDir,
    dir: PathBuf,
}

/// One of the shared cases, copied into the library's folder.
pub(crate) struct Case {
    /// The copy.
    pub(crate) dir: PathBuf,
    /// The skills of the copy: `input/skills`.
    pub(crate) skills: PathBuf,
    /// What the case says must come out.
    pub(crate) expected: Value,
}

impl Library {
    pub(crate) fn new() -> Self {
        let temp = TempDir::with_prefix("skilldb-").unwrap();
        let dir = temp.path().canonicalize().unwrap();
        for folder in ["home", "data", "skills"] {
            fs::create_dir(dir.join(folder)).unwrap();
        }
        Self { _temp: temp, dir }
    }

    /// The folder all others are in.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// A path below it.
    pub(crate) fn path(&self, rel: &str) -> PathBuf {
        self.dir.join(rel)
    }

    /// Writes a file, with the folders it needs.
    pub(crate) fn write(&self, rel: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(rel);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(&path).unwrap().write_all(bytes).unwrap();
        // Whatever the umask of the machine is: modes are part of what is printed.
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        path
    }

    /// Removes a folder with all that is in it.
    pub(crate) fn remove(&self, rel: &str) {
        fs::remove_dir_all(self.path(rel)).unwrap();
    }

    /// Moves a file or folder.
    pub(crate) fn rename(&self, from: &str, to: &str) {
        fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// Writes `skills/NAME/SKILL.md`; the name may hold a category.
    pub(crate) fn skill(&self, name: &str, description: &str) -> PathBuf {
        let declared = name.rsplit('/').next().unwrap();
        let text = format!("---\nname: {declared}\ndescription: {description}\n---\n\n# Steps\n");
        self.write(&format!("skills/{name}/SKILL.md"), text.as_bytes())
    }

    /// The command, not yet run.
    pub(crate) fn skilldb(&self, args: &[&str]) -> Command {
        Command::from_std(self.process(args))
    }

    /// The command as a process to be spawned: for tests in which several run at once, one is killed, or a stream
    /// is closed.
    pub(crate) fn process(&self, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("skilldb"));
        command
            .current_dir(&self.dir)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("SKILLDB_HOME", self.path("data"))
            .env("SKILLDB_NOW", NOW)
            .env("NO_COLOR", "1")
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// All that a command says, ready for a snapshot: exit code, stdout, stderr.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        self.told(&self.skilldb(args).output().unwrap())
    }

    /// What [`Library::run`] makes of an output.
    pub(crate) fn told(&self, output: &Output) -> String {
        let mut told = format!("exit {}\n", code(output));
        for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            if !bytes.is_empty() {
                let text = String::from_utf8(bytes.clone()).unwrap();
                told.extend(["--- ", name, "\n", &self.normal(&text)]);
            }
        }
        told
    }

    /// Text with the library's folder as `[DIR]`.
    pub(crate) fn normal(&self, text: &str) -> String {
        text.replace(self.dir.to_str().unwrap(), "[DIR]")
    }

    /// Runs a command with `--json` that must succeed, and returns its object.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.json_exit(args, 0)
    }

    /// Runs a command with `--json` that must end with this exit code, and returns its object.
    pub(crate) fn json_exit(&self, args: &[&str], exit: i32) -> Value {
        let output = self.skilldb(args).arg("--json").output().unwrap();
        let told = self.told(&output);
        assert_eq!(code(&output), exit, "{args:?}\n{told}");
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{args:?}: {error}\n{told}"))
    }

    /// Syncs `skills/` and returns the report.
    pub(crate) fn sync(&self) -> Value {
        self.json(&["sync", "skills"])
    }

    /// Asks the database; rows are lines, cells are separated by tabs.
    pub(crate) fn sql(&self, query: &str) -> String {
        let output = self.skilldb(&["sql", query]).output().unwrap();
        assert_eq!(code(&output), 0, "{query}\n{}", self.told(&output));
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    /// The names `skilldb list` prints, in its order.
    pub(crate) fn listed(&self, flags: &[&str]) -> Vec<String> {
        let object = self.json(&[&["list"], flags].concat());
        strings(&object["skills"], "name")
    }

    /// Copies the shared case whose folder starts with this number.
    pub(crate) fn case(&self, number: u32) -> Case {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
        let prefix = format!("{number:02}-");
        let from = fs::read_dir(cases)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| {
                path.file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .starts_with(&prefix)
            })
            .unwrap();
        let dir = self.path("case");
        copy_folder(&from, &dir);
        let expected =
            serde_json::from_slice(&fs::read(dir.join("expected.json")).unwrap()).unwrap();
        Case {
            skills: dir.join("input/skills"),
            expected,
            dir,
        }
    }
}

impl Case {
    /// Runs the `setup.sh` of the case in its folder.
    pub(crate) fn set_up(&self) {
        let status = std::process::Command::new("sh")
            .arg("setup.sh")
            .current_dir(&self.dir)
            .status();
        assert!(status.unwrap().success());
    }

    /// The skills folder as an argument.
    pub(crate) fn root(&self) -> &str {
        self.skills.to_str().unwrap()
    }
}

/// The exit code of a process that was not killed.
pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

/// One text field of each object of a list.
pub(crate) fn strings(list: &Value, key: &str) -> Vec<String> {
    let objects = list.as_array().unwrap();
    objects
        .iter()
        .map(|object| object[key].as_str().unwrap().to_owned())
        .collect()
}

/// Copies a folder with all that is in it, byte for byte.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// Each test crate uses part of the builder. Naming all of it keeps the rest from counting as dead code.
const _: () = {
    _ = (
        NOW,
        Library::new,
        Library::dir,
        Library::path,
        Library::write,
        Library::skill,
        Library::remove,
        Library::rename,
    );
    _ = (
        Library::skilldb,
        Library::process,
        Library::run,
        Library::told,
        Library::normal,
        Library::json,
        Library::json_exit,
    );
    _ = (
        Library::sync,
        Library::sql,
        Library::listed,
        Library::case,
        Case::set_up,
        Case::root,
    );
    _ = (code, strings, copy_folder);
    _ = |case: Case| (case.dir, case.skills, case.expected);
};
