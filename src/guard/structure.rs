//! What a skill is made of: links, programs, archives, sizes, names. Nothing is passed over: what is not looked into is a
//! finding.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};

use super::archive::{self, Unpacked};
use super::bundle::{Bundle, Content, Entry};
use super::finding::{Class, Severity};
use super::kinds::{Magic, magic};
use super::troubles::{
    ARCHIVE_CUT, ARCHIVE_OUT, BOMB, BYTECODE, CASE_TWIN, CLOSED_ARCHIVE, CUT, DEAD_LINK,
    HIDDEN_FILE, LARGE, LARGE_FILE, LINK_OUT, LOCKED_ARCHIVE, MALWARE_TEST, MANY_FILES,
    MASKED_PROGRAM, NESTED_ARCHIVE, OPAQUE_EXECUTABLE, PACKED_CODE, PACKED_PROGRAM, PROGRAM,
    SCAN_IGNORE, SPECIAL_FILE, UNREADABLE,
};

/// More files than this are told.
const MANY: usize = 400;
/// More bytes than this are told.
const MUCH: u64 = 16 * 1024 * 1024;

/// What can be wrong with a file as a whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub rule: &'static str,
    pub class: Class,
    pub message: &'static str,
    pub fix: &'static str,
}

/// A finding about a file as a whole.
#[derive(Debug)]
pub(super) struct Mark {
    pub trouble: &'static Trouble,
    pub severity: Severity,
    pub path: String,
    pub evidence: String,
}

/// A member of an archive, to be looked at like a file.
pub(super) struct Member {
    pub path: String,
    pub bytes: Vec<u8>,
}

/// All marks of a skill, and what its archives hold.
pub(super) struct Structure {
    pub marks: Vec<Mark>,
    pub members: Vec<Member>,
    /// Bytes that may still be unpacked.
    left: u64,
}

/// Looks at a skill's entries. `named` says whether SKILL.md speaks of a path.
pub(super) fn look(bundle: &Bundle, named: &dyn Fn(&str) -> bool) -> Structure {
    let mut structure = Structure {
        marks: Vec::new(),
        members: Vec::new(),
        left: archive::MAX_TOTAL,
    };
    let mut places: HashSet<String> = HashSet::new();
    for entry in &bundle.entries {
        let mut path = entry.path.as_str();
        while places.insert(path.to_owned()) {
            match path.rsplit_once('/') {
                Some((above, _)) => path = above,
                None => break,
            }
        }
    }
    for entry in &bundle.entries {
        structure.entry(entry, bundle, &places, named);
    }
    structure.whole(bundle);
    structure
}

impl Structure {
    fn mark(
        &mut self,
        trouble: &'static Trouble,
        severity: Severity,
        path: &str,
        evidence: impl Into<String>,
    ) {
        self.marks.push(Mark {
            trouble,
            severity,
            path: path.to_owned(),
            evidence: evidence.into(),
        });
    }

    fn entry(
        &mut self,
        entry: &Entry,
        bundle: &Bundle,
        places: &HashSet<String>,
        named: &dyn Fn(&str) -> bool,
    ) {
        let path = entry.path.as_str();
        match &entry.content {
            Content::Bytes(bytes) => self.bytes(entry, bytes, bundle, named),
            Content::Link(target) => {
                let shown = target.display().to_string();
                if leads_out(path, target) {
                    self.mark(&LINK_OUT, Severity::Critical, path, shown);
                } else if !is_there(path, target, places) {
                    self.mark(&DEAD_LINK, Severity::Low, path, shown);
                }
            }
            Content::Large(size) => {
                let role = super::kinds::role(path, b"");
                let is_read = !matches!(role, super::kinds::Role::Data | super::kinds::Role::Lock)
                    || named(path);
                let severity = if is_read {
                    Severity::High
                } else {
                    Severity::Medium
                };
                self.mark(&LARGE_FILE, severity, path, format!("{size} bytes"));
            }

            Content::Unreadable(why) => self.mark(
                &UNREADABLE,
                if named(path) || path.eq_ignore_ascii_case("skill.md") {
                    Severity::High
                } else {
                    Severity::Medium
                },
                path,
                why.clone(),
            ),
            Content::Special => self.mark(&SPECIAL_FILE, Severity::High, path, ""),
        }
        if path.split('/').any(|part| {
            part.starts_with('.')
                && !matches!(
                    part,
                    ".gitignore"
                        | ".gitattributes"
                        | ".editorconfig"
                        | ".gitkeep"
                        | ".npmignore"
                        | ".prettierrc"
                        | ".nvmrc"
                        | ".python-version"
                )
        }) {
            self.mark(&HIDDEN_FILE, Severity::Info, path, "");
        }
        if path.ends_with(".skillignore") || path.ends_with(".clawhubignore") {
            self.mark(&SCAN_IGNORE, Severity::Low, path, "");
        }
    }

    fn bytes(
        &mut self,
        entry: &Entry,
        bytes: &[u8],
        bundle: &Bundle,
        named: &dyn Fn(&str) -> bool,
    ) {
        let path = entry.path.as_str();
        let Some(kind) = magic(bytes) else {
            if bytes.len() > 64 && super::text::read(bytes).is_none() && entry.is_executable {
                self.mark(&OPAQUE_EXECUTABLE, Severity::High, path, "");
            }
            return;
        };
        let extension = path.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
        match kind {
            Magic::Eicar => self.mark(&MALWARE_TEST, Severity::Critical, path, "EICAR"),
            Magic::Program => {
                let is_masked = matches!(
                    extension.as_str(),
                    "png"
                        | "jpg"
                        | "jpeg"
                        | "gif"
                        | "txt"
                        | "md"
                        | "json"
                        | "svg"
                        | "webp"
                        | "ico"
                        | "pdf"
                        | "csv"
                        | "ttf"
                        | "woff"
                );
                let severity = if is_masked {
                    Severity::Critical
                } else {
                    Severity::High
                };
                self.mark(
                    if is_masked { &MASKED_PROGRAM } else { &PROGRAM },
                    severity,
                    path,
                    kind.as_str(),
                );
            }
            Magic::Bytecode => {
                let source = path.trim_end_matches('c').trim_end_matches('o');
                let has_source = extension != "wasm"
                    && bundle.entries.iter().any(|other| {
                        let stem = source
                            .rsplit('/')
                            .next()
                            .unwrap_or(source)
                            .split('.')
                            .next()
                            .unwrap_or("");
                        other.path.ends_with(".py")
                            && other
                                .path
                                .rsplit('/')
                                .next()
                                .and_then(|name| name.strip_suffix(".py"))
                                == Some(stem)
                    });
                let severity = match (has_source, extension.as_str()) {
                    (_, "wasm") => Severity::Low,
                    (true, _) => Severity::Medium,
                    (false, _) if named(path) => Severity::Critical,
                    (false, _) => Severity::High,
                };
                self.mark(&BYTECODE, severity, path, kind.as_str());
            }
            Magic::Zip | Magic::Gzip | Magic::Tar => {
                self.archive(path, &extension, kind, bytes, named);
            }
            Magic::Archive => self.mark(
                &CLOSED_ARCHIVE,
                if named(path) {
                    Severity::High
                } else {
                    Severity::Medium
                },
                path,
                kind.as_str(),
            ),
            Magic::Media => {}
        }
    }

    fn archive(
        &mut self,
        path: &str,
        extension: &str,
        kind: Magic,
        bytes: &[u8],
        named: &dyn Fn(&str) -> bool,
    ) {
        let Unpacked {
            members,
            escapes,
            locked,
            is_nested,
            is_bomb,
            is_cut,
            ..
        } = archive::unpack(kind, bytes, &mut self.left);
        for name in escapes {
            self.mark(&ARCHIVE_OUT, Severity::Critical, path, name);
        }
        if let Some(name) = locked.first() {
            self.mark(&LOCKED_ARCHIVE, Severity::High, path, name);
        }
        if is_bomb {
            self.mark(&BOMB, Severity::High, path, "");
        } else if is_cut {
            self.mark(
                &ARCHIVE_CUT,
                if named(path) {
                    Severity::High
                } else {
                    Severity::Medium
                },
                path,
                "",
            );
        }
        let is_document = matches!(
            extension,
            "docx"
                | "xlsx"
                | "pptx"
                | "odt"
                | "ods"
                | "epub"
                | "whl"
                | "jar"
                | "xlsm"
                | "dotx"
                | "potx"
                | "xpi"
                | "vsix"
                | "skill"
                | "3mf"
                | "kmz"
                | "sketch"
                | "apk"
        );
        if is_nested && !is_document {
            self.mark(&NESTED_ARCHIVE, Severity::Low, path, "");
        }
        let program = members
            .iter()
            .find(|(_, bytes)| matches!(magic(bytes), Some(Magic::Program | Magic::Eicar)));
        if let Some((name, _)) = program {
            // Wheels and the like carry libraries; a program in a plain archive is there to be started.
            let severity = if is_document {
                Severity::Medium
            } else {
                Severity::High
            };
            self.mark(&PACKED_PROGRAM, severity, path, name);
        }
        let has_code = members.iter().any(|(name, bytes)| {
            matches!(magic(bytes), Some(Magic::Program | Magic::Bytecode))
                || (super::kinds::role(name, bytes) == super::kinds::Role::Script
                    && bytes.starts_with(b"#!"))
        });
        if has_code && !is_document {
            let severity = if named(path) {
                Severity::Medium
            } else {
                Severity::Low
            };
            self.mark(&PACKED_CODE, severity, path, "");
        }
        self.members
            .extend(members.into_iter().map(|(name, bytes)| Member {
                path: format!("{path}!/{name}"),
                bytes,
            }));
    }

    /// What concerns all of it.
    fn whole(&mut self, bundle: &Bundle) {
        let count = bundle.entries.len();
        if bundle.is_cut {
            self.mark(&CUT, Severity::High, "", format!("{count} entries"));
        } else if count > MANY {
            self.mark(&MANY_FILES, Severity::Low, "", format!("{count} entries"));
        }
        if bundle.size() > MUCH {
            self.mark(
                &LARGE,
                Severity::Low,
                "",
                format!("{} bytes", bundle.size()),
            );
        }
        let mut seen: HashMap<String, &str> = HashMap::new();
        for entry in &bundle.entries {
            if let Some(other) = seen.insert(entry.path.to_lowercase(), &entry.path) {
                self.mark(&CASE_TWIN, Severity::Medium, &entry.path, other);
            }
        }
    }
}

/// Whether a link leads out of the skill it lies in.
pub(super) fn leads_out(path: &str, target: &Path) -> bool {
    let parent = Path::new(path).parent().unwrap_or(Path::new(""));
    let mut depth = 0_usize;
    for part in parent.join(target).components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return true,
            },
            Component::RootDir | Component::Prefix(_) => return true,
            Component::CurDir => {}
        }
    }
    false
}

/// Whether a link leads to an entry, or to a folder of some.
fn is_there(path: &str, target: &Path, places: &HashSet<String>) -> bool {
    let mut resolved: Vec<String> = Vec::new();
    let parent = Path::new(path).parent().unwrap_or(Path::new(""));
    for part in parent.join(target).components() {
        match part {
            Component::Normal(name) => resolved.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => {
                resolved.pop();
            }
            _ => {}
        }
    }
    resolved.is_empty() || places.contains(&resolved.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(entries: Vec<(&str, Content)>) -> Vec<&'static str> {
        let entries = entries
            .into_iter()
            .map(|(path, content)| Entry {
                path: path.to_owned(),
                content,
                is_executable: false,
            })
            .collect();
        let bundle = Bundle {
            entries,
            ..Bundle::default()
        };
        look(&bundle, &|_| false)
            .marks
            .iter()
            .map(|mark| mark.trouble.rule)
            .collect()
    }

    #[test]
    fn links_programs_and_twins_are_told() {
        let link = |target: &str| Content::Link(target.into());
        assert_eq!(
            rules(vec![("a", link("/etc/passwd"))]),
            ["traversal.link-out"]
        );
        assert_eq!(
            rules(vec![("d/a", link("../../x"))]),
            ["traversal.link-out"]
        );
        assert_eq!(rules(vec![("d/a", link("../b"))]), ["structure.dead-link"]);
        assert!(
            rules(vec![
                ("b", Content::Bytes(b"x".to_vec())),
                ("d/a", link("../b"))
            ])
            .is_empty()
        );
        assert_eq!(
            rules(vec![(
                "logo.png",
                Content::Bytes(b"\x7fELF\x02\x01\x01".to_vec())
            )]),
            ["structure.program"]
        );
        assert_eq!(
            rules(vec![
                ("A.md", Content::Bytes(b"x".to_vec())),
                ("a.md", Content::Bytes(b"y".to_vec()))
            ]),
            ["structure.case-twin"]
        );
        assert_eq!(
            rules(vec![("p", Content::Special)]),
            ["structure.special-file"]
        );
        assert_eq!(
            rules(vec![("p", Content::Large(9))]),
            ["structure.large-file"]
        );
        assert_eq!(
            rules(vec![("p", Content::Unreadable("no".to_owned()))]),
            ["structure.unreadable"]
        );
    }
}
