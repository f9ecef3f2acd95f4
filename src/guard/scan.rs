//! The scan of one skill: each file in all its forms, matches weighed by what stands around them, put together, and
//! judged.

mod matched;

use std::borrow::Cow;

use super::bundle::{Bundle, Content};
use super::context::Setting;
use super::finding::{Class, Finding, Severity};
use super::flow::{self, Sign};
use super::host::{self, Host};
use super::kinds::{Magic, Role, magic, role};
use super::markdown;
use super::ruleset::RuleSet;
use super::scan_parts::{
    Budget, cut, has_slash_comments, is_markdown, is_packed_xml, sight, threads, unique, whole,
};
use super::structure::{self, Structure, Trouble};
use super::text::{self, Note};
use super::threads::Threads;
use super::topic::Topic;
use super::troubles::{LOCK_HOST, UNREADABLE_TEXT};
use super::view::{self, View, decode};
use super::{download, hidden};

/// All that a scan finds, worst first.
pub(super) fn scan(rules: &RuleSet, bundle: &Bundle) -> Vec<Finding> {
    let topic = Topic::of(bundle);
    let named = |path: &str| topic.names(path);
    let Structure { marks, members, .. } = structure::look(bundle, &named);
    let mut pass = Pass {
        rules,
        topic: &topic,
        findings: Vec::new(),
        signs: Vec::new(),
        files: Vec::new(),
    };
    for entry in &bundle.entries {
        pass.path(&entry.path);
        if let Content::Bytes(bytes) = &entry.content {
            pass.file(&entry.path, bytes);
        }
    }
    for member in &members {
        pass.file(&member.path, &member.bytes);
    }
    pass.join();
    for mark in marks {
        pass.findings
            .push(whole(mark.trouble, mark.severity, mark.path, mark.evidence));
    }
    unique(pass.findings)
}

/// A file while it is looked at.
struct Looked {
    path: String,
    role: Role,
    threads: Threads,
}

struct Pass<'p> {
    rules: &'p RuleSet,
    topic: &'p Topic,
    findings: Vec<Finding>,
    signs: Vec<Sign>,
    files: Vec<Looked>,
}

impl Pass<'_> {
    /// A name is text that is listed, and read.
    fn path(&mut self, path: &str) {
        if path.len() < 24 || !path.contains(' ') {
            return;
        }
        let read = text::read(path.as_bytes());
        let Some(read) = read else { return };
        self.files.push(Looked {
            path: path.to_owned(),
            role: Role::Skill,
            threads: Threads::default(),
        });
        let setting = Setting {
            role: Role::Reference,
            text: &read,
            outline: None,
            is_security: false,
            is_named: true,
            has_slash_comments: false,
        };
        let first = self.findings.len();
        self.view(
            &setting,
            &view::flat::flat(&View::plain(path.to_owned())),
            true,
        );
        for finding in &mut self.findings[first..] {
            finding.line = None;
            finding.severity = finding.severity.step(1);
            finding
                .context
                .push(Cow::Borrowed("it is the name of a file"));
        }
    }

    fn file(&mut self, path: &str, bytes: &[u8]) {
        let role = role(path, &bytes[..bytes.len().min(64)]);
        let kind = magic(bytes);
        let text = match text::read(bytes) {
            Some(text) => text,
            // What a machine runs or an archive packs was told already; of anything else the words in it are read.
            None if matches!(kind, None | Some(Magic::Media)) => {
                let is_read = matches!(role, Role::Skill | Role::Script | Role::Manifest)
                    || self.topic.names(path);
                if kind.is_none() && is_read {
                    self.mark(path, &UNREADABLE_TEXT, Severity::High);
                }
                text::strings(bytes)
            }
            None => return,
        };
        let text = match is_packed_xml(path) {
            true => text::without_tags(&text),
            false => text,
        };
        let outline = is_markdown(path, role).then(|| markdown::outline(&text.text));
        let threads = outline
            .as_ref()
            .map_or_else(Threads::default, |outline| threads(&text.text, outline));
        self.files.push(Looked {
            path: path.to_owned(),
            role,
            threads,
        });
        let is_named = role == Role::Skill || self.topic.names(path);
        let setting = Setting {
            role,
            text: &text,
            outline: outline.as_ref(),
            is_security: self.topic.is_security,
            is_named,
            has_slash_comments: has_slash_comments(path),
        };
        if role != Role::Lock {
            self.notes(&setting);
        }
        self.views(&setting);
    }

    /// How the text was written, and what nobody sees in it.
    fn notes(&mut self, setting: &Setting<'_>) {
        let broken = |rule, severity, message| {
            sight(
                rule,
                Class::Obfuscation,
                severity,
                0,
                String::new(),
                message,
            )
        };
        let note = match setting.text.note {
            Some(Note::Broken) if setting.role == Role::Skill => Some(broken(
                "structure.broken-text",
                Severity::Medium,
                "Some bytes are no UTF-8: readers may stop there, models may not.",
            )),
            Some(Note::Broken) => Some(broken(
                "structure.broken-text",
                Severity::Low,
                "Some bytes are no UTF-8.",
            )),
            Some(Note::Utf16) => Some(broken(
                "structure.utf-16",
                Severity::Low,
                "The text is UTF-16, which many tools do not read.",
            )),
            None => None,
        };
        let hidden::Hidden { findings, texts } = hidden::look(setting.text);
        for seen in note.into_iter().chain(findings) {
            let found = self.finding(setting, seen.at);
            self.findings.push(Finding {
                rule: Cow::Borrowed(seen.rule),
                class: seen.class,
                severity: seen.severity,
                stated: seen.severity,
                evidence: seen.evidence,
                message: Cow::Borrowed(seen.message),
                ..found
            });
        }
        // All of one kind are one text: each by itself would take a whole file to look at.
        let mut kinds: Vec<&'static str> = texts.iter().map(|(_, how, _)| *how).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let base = View::plain(setting.text.text.clone());
            let mut weaver = view::Weaver::new(&base);
            for (at, _, read) in texts.iter().filter(|(_, how, _)| *how == kind) {
                weaver.put(*at, read);
                weaver.put(*at, "\n");
            }
            let view = weaver.finish(Some(kind), true);
            self.forms(setting, &view, &mut Budget::new(), 0);
        }
    }

    fn views(&mut self, setting: &Setting<'_>) {
        let base = View::plain(setting.text.text.clone());
        let mut budget = Budget::new();
        if setting.role == Role::Lock {
            self.lock(&base);
            return;
        }
        match view::fold::fold(&base) {
            Some(folded) => {
                self.view(setting, &base, false);
                self.forms(setting, &folded, &mut budget, 0);
            }
            None => self.forms(setting, &base, &mut budget, 0),
        }
        for (is_so, severity, message) in [
            (
                budget.is_cut,
                Severity::Medium,
                "More of the file is encoded than is decoded here: not all of it was looked at.",
            ),
            (
                budget.is_deep,
                Severity::High,
                "Something is encoded over and over, deeper than is decoded here.",
            ),
        ] {
            if is_so {
                self.findings.push(Finding {
                    rule: Cow::Borrowed("obfuscation.too-much-encoded"),
                    class: Class::Obfuscation,
                    severity,
                    stated: severity,
                    line: None,
                    message: Cow::Borrowed(message),
                    ..self.finding(setting, 0)
                });
            }
        }
    }

    /// A lock file says where packages come from, in thousands of lines: only the hosts are looked at.
    fn lock(&mut self, base: &View) {
        let strange = host::hosts(&base.lower, &[])
            .into_iter()
            .find(|found| matches!(found.kind, Host::Unknown | Host::Throwaway | Host::Address));
        let path = self
            .files
            .last()
            .map_or_else(String::new, |file| file.path.clone());
        if let Some(found) = strange {
            self.findings
                .push(whole(&LOCK_HOST, Severity::High, path, found.name));
        }
    }

    /// A text as it stands, as running text, as a shell and as a program read it, and what is encoded in it.
    fn forms(&mut self, setting: &Setting<'_>, view: &View, budget: &mut Budget, depth: usize) {
        if budget.views == 0 {
            budget.is_cut = true;
            return;
        }
        budget.views -= 1;
        self.view(setting, view, false);
        self.view(setting, &view::flat::flat(view), true);
        let shell = view::shell::shell(view);
        if let Some(shell) = &shell {
            budget.is_cut |= shell.is_cut;
            self.view(setting, shell, false);
        }
        let code = view::code::code(shell.as_ref().unwrap_or(view));
        if let Some(code) = &code {
            self.view(setting, code, false);
        }
        if depth >= decode::MAX_DEPTH {
            budget.is_deep |= !decode::decode(view, &mut budget.bytes).views.is_empty();
            return;
        }
        for form in [Some(view), shell.as_ref(), code.as_ref()]
            .into_iter()
            .flatten()
        {
            let decoded = decode::decode(form, &mut budget.bytes);
            budget.is_cut |= decoded.is_cut;
            for (at, bytes) in decoded.opaque {
                self.opaque(setting, form.origin(at), &bytes);
            }
            for inner in decoded.views {
                if budget.known.insert(inner.text.clone()) {
                    self.forms(setting, &inner, budget, depth + 1);
                }
            }
        }
    }

    /// Looks for the rules of one kind in one form of a text.
    fn view(&mut self, setting: &Setting<'_>, view: &View, is_flat: bool) {
        let matches = if is_flat {
            self.rules.phrases(view)
        } else {
            self.rules.commands(view)
        };
        for found in &matches.found {
            self.matched(setting, view, found);
        }
        for rule in matches.flooded {
            self.flooded(setting, rule);
        }
        if !is_flat {
            for range in download::runs(&view.lower) {
                self.downloaded(setting, view, &range);
            }
        }
    }

    fn flooded(&mut self, setting: &Setting<'_>, rule: usize) {
        let id = self.rules.rule(rule).id.clone();
        let found = self.finding(setting, 0);
        self.findings.push(Finding {
            rule: Cow::Borrowed("obfuscation.flood"),
            class: Class::Obfuscation,
            severity: Severity::High,
            stated: Severity::High,
            line: None,
            evidence: id.into_owned(),
            message: Cow::Borrowed(
                "The words of one rule stand in so many places that not all were looked at.",
            ),
            ..found
        });
    }

    /// A finding about a file as a whole.
    fn mark(&mut self, path: &str, trouble: &'static Trouble, severity: Severity) {
        self.findings
            .push(whole(trouble, severity, path.to_owned(), String::new()));
    }

    fn join(&mut self) {
        let is_script =
            |file: usize| !matches!(self.files[file].role, Role::Skill | Role::Reference);
        for joined in flow::join(&self.signs, &is_script) {
            self.findings.push(Finding {
                rule: Cow::Borrowed(joined.rule),
                class: joined.class,
                severity: joined.severity,
                stated: joined.severity,
                path: self.files[joined.file].path.clone(),
                line: Some(joined.line),
                evidence: cut(&joined.evidence),
                seen: Vec::new(),
                context: Vec::new(),
                message: Cow::Borrowed(joined.message),
                fix: Cow::Borrowed(joined.fix),
                is_joined: true,
                fingerprint: String::new(),
                full: String::new(),
                accepted: None,
            });
        }
    }

    /// A finding with its place, all else empty.
    fn finding(&self, setting: &Setting<'_>, at: usize) -> Finding {
        Finding {
            rule: Cow::Borrowed(""),
            class: Class::Structure,
            severity: Severity::Info,
            stated: Severity::Info,
            path: self
                .files
                .last()
                .map_or_else(String::new, |file| file.path.clone()),
            line: Some(setting.text.line(at)),
            evidence: String::new(),
            seen: Vec::new(),
            context: Vec::new(),
            message: Cow::Borrowed(""),
            fix: Cow::Borrowed("Take it out, or say plainly in SKILL.md what it is for."),
            is_joined: false,
            fingerprint: String::new(),
            full: String::new(),
            accepted: None,
        }
    }
}
