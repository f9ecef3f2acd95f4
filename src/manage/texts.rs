//! Changes to the files of one skill: edit, patch, write, remove.

use std::path::{Path, PathBuf};

use super::draft::{Draft, Side, check_base, content_of, read_entry, read_file, real_folder};
use super::gate;
use super::ownership::Reach;
use super::request::Bytes;
use crate::error::{Error, Result};
use crate::patch;
use crate::store::SkillFacts;

/// A file that is about to change.
struct Target {
    folder: PathBuf,
    path: String,
    before: Side,
}

impl Target {
    /// Finds it, to be written. `None` names the skill file.
    fn find(facts: &SkillFacts, typed: Option<&str>, base: Option<&str>) -> Result<Self> {
        Self::find_with(facts, typed, base, read_file)
    }

    fn find_with(
        facts: &SkillFacts,
        typed: Option<&str>,
        base: Option<&str>,
        read: fn(&Path, &str) -> Result<Side>,
    ) -> Result<Self> {
        let folder = real_folder(facts)?;
        let path = match typed {
            None => facts.file_name.clone(),
            Some(typed) => {
                let path = gate::file_path(typed, |path| {
                    folder
                        .join(path)
                        .symlink_metadata()
                        .is_ok_and(|found| !found.is_dir())
                })?;
                // However it is spelt: there is one skill file.
                if path.eq_ignore_ascii_case("SKILL.md") {
                    facts.file_name.clone()
                } else {
                    path
                }
            }
        };
        let before = read(&folder, &path)?;
        if before.is_none()
            && let Some(twin) = twin_of(&folder, &path)
        {
            return Err(Error::Denied {
                code: "name-taken",
                message: format!("`{path}` differs only in case from `{twin}`"),
                hint: Some(
                    "on many systems both are one file: name the one that is there".to_owned(),
                ),
            });
        }
        check_base(
            &folder.join(&path),
            base,
            before.as_ref().map(|(content, _)| content),
        )?;
        Ok(Self {
            folder,
            path,
            before,
        })
    }

    fn is_skill_file(&self, facts: &SkillFacts) -> bool {
        self.path == facts.file_name
    }

    fn whole(&self) -> PathBuf {
        self.folder.join(&self.path)
    }

    /// What the file says, as text.
    fn text(&self, facts: &SkillFacts) -> Result<&str> {
        let Some((_, bytes)) = &self.before else {
            return Err(not_there(facts, &self.folder, &self.path));
        };
        std::str::from_utf8(bytes).map_err(|_| Error::Denied {
            code: "not-text",
            message: format!("`{}` is not UTF-8 text", self.path),
            hint: Some("`skilldb write` replaces the whole file".to_owned()),
        })
    }

    /// The gates a new text has to pass.
    fn check(&self, facts: &SkillFacts, text: &str) -> Result<()> {
        let before = self
            .before
            .as_ref()
            .and_then(|(_, bytes)| std::str::from_utf8(bytes).ok());
        if self.is_skill_file(facts) {
            gate::frontmatter(text, folder_name(facts), before)?;
        }
        gate::size(&self.path, text, before)
    }

    fn write(
        self,
        mut draft: Draft,
        facts: &SkillFacts,
        title: String,
        bytes: Vec<u8>,
        executable: Option<bool>,
    ) -> Result<Draft> {
        let after = content_of(
            &bytes,
            self.before.as_ref().map(|(content, _)| content),
            executable,
        );
        if self
            .before
            .as_ref()
            .is_some_and(|(before, _)| *before == after)
        {
            return Err(Error::Denied {
                code: "no-change",
                message: format!("`{}` says that already: nothing to change", self.path),
                hint: None,
            });
        }
        let part = draft.add_skill(facts, title, Reach::Write);
        draft.add_file(
            part,
            &self.folder,
            &self.path,
            self.before,
            Some((after, bytes)),
        );
        draft.add_mirror(part, facts.root_id, &facts.rel_path);
        Ok(draft)
    }
}

/// The name a skill's header has to agree with.
pub(super) fn folder_name(facts: &SkillFacts) -> &str {
    match facts.rel_path.as_str() {
        "." => facts
            .root
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default(),
        path => path.rsplit('/').next().unwrap_or(path),
    }
}

/// A path that is there and differs only in case.
fn twin_of(folder: &Path, path: &str) -> Option<String> {
    let mut found = PathBuf::new();
    let mut differs = false;
    for part in path.split('/') {
        let names = std::fs::read_dir(folder.join(&found)).ok()?;
        let names: Vec<String> = names
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        let lower = part.to_lowercase();
        let same = names.iter().find(|name| *name == part);
        let twin = same.or_else(|| names.iter().find(|name| name.to_lowercase() == lower))?;
        differs |= twin != part;
        found.push(twin);
    }
    differs.then(|| found.to_string_lossy().into_owned())
}

fn not_there(facts: &SkillFacts, folder: &Path, path: &str) -> Error {
    let mut files = Vec::new();
    collect(folder, "", &mut files);
    files.sort();
    Error::FileNotFound {
        name: facts.name.clone(),
        file: path.to_owned(),
        files,
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = format!("{prefix}{name}");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&entry.path(), &format!("{path}/"), files),
            Ok(_) if !name.eq_ignore_ascii_case("SKILL.md") => files.push(path),
            Ok(_) | Err(_) => {}
        }
    }
}

/// Rewrites the skill file.
pub(super) fn edit(
    draft: Draft,
    facts: &SkillFacts,
    text: &str,
    base: Option<&str>,
) -> Result<Draft> {
    let target = Target::find(facts, None, base)?;
    target.check(facts, text)?;
    let title = format!("{} rewritten", target.path);
    target.write(draft, facts, title, text.as_bytes().to_vec(), None)
}

/// What a patch asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patching<'a> {
    pub(super) file: Option<&'a str>,
    pub(super) find: &'a str,
    pub(super) replace: &'a str,
    pub(super) reach: patch::Reach,
    pub(super) base: Option<&'a str>,
}

/// Replaces a text in a file.
pub(super) fn patch(mut draft: Draft, facts: &SkillFacts, asked: Patching<'_>) -> Result<Draft> {
    let target = Target::find(facts, asked.file, asked.base)?;
    let text = target.text(facts)?;
    let patched = patch::apply(text, asked.find, asked.replace, asked.reach).map_err(|miss| {
        Error::Patch {
            path: target.whole(),
            miss,
        }
    })?;
    draft.plan.strategy = Some(patched.strategy.as_str().to_owned());
    draft.places.clone_from(&patched.places);
    target.check(facts, &patched.text)?;
    let lines = match patched.places.as_slice() {
        [(first, last)] if first == last => format!("line {first}"),
        [(first, last)] => format!("lines {first} to {last}"),
        places => format!("{} places", places.len()),
    };
    let title = format!("{}: {lines} replaced", target.path);
    target.write(draft, facts, title, patched.text.into_bytes(), None)
}

/// Makes or rewrites a supporting file; the skill file, too, with its gates.
pub(super) fn write(
    draft: Draft,
    facts: &SkillFacts,
    (file, content): (&str, &Bytes),
    executable: Option<bool>,
    base: Option<&str>,
) -> Result<Draft> {
    let target = Target::find(facts, Some(file), base)?;
    match content {
        Bytes::Text(text) => target.check(facts, text)?,
        Bytes::Raw(_) if target.is_skill_file(facts) => {
            return Err(Error::Denied {
                code: "not-text",
                message: format!("`{}` has to be UTF-8 text", target.path),
                hint: None,
            });
        }
        Bytes::Raw(bytes) => gate::file_size(&target.path, bytes)?,
    }
    let done = if target.before.is_some() {
        "rewritten"
    } else {
        "written"
    };
    let title = format!("{} {done}", target.path);
    target.write(draft, facts, title, content.as_bytes().to_vec(), executable)
}

/// Removes a supporting file.
pub(super) fn remove(
    mut draft: Draft,
    facts: &SkillFacts,
    file: &str,
    base: Option<&str>,
) -> Result<Draft> {
    // What is asked to go may lie anywhere in the skill, so a path elsewhere is no fault of its form.
    let target = match Target::find_with(facts, Some(file), base, read_entry) {
        Err(Error::Denied {
            code: "path-elsewhere",
            ..
        }) => return Err(not_there(facts, &real_folder(facts)?, file)),
        found => found?,
    };
    if target.is_skill_file(facts) {
        return Err(Error::Denied {
            code: "skill-file",
            message: format!(
                "without {} `{}` would be no skill any more",
                target.path, facts.name
            ),
            hint: Some(format!(
                "`skilldb archive {}` puts the whole skill away",
                facts.name
            )),
        });
    }
    if target.before.is_none() {
        return Err(not_there(facts, &target.folder, &target.path));
    }
    let part = draft.add_skill(facts, format!("{} removed", target.path), Reach::Write);
    draft.add_file(part, &target.folder, &target.path, target.before, None);
    draft.add_mirror(part, facts.root_id, &facts.rel_path);
    Ok(draft)
}
