//! What one match becomes: a finding weighed by its surroundings, and a sign to be joined with others.

use std::borrow::Cow;
use std::ops::Range;

use super::Pass;
use crate::guard::context::{self, Setting};
use crate::guard::finding::{Class, Finding, Severity};
use crate::guard::flow::Sign;
use crate::guard::host::Host;
use crate::guard::kinds::{Magic, Role, magic};
use crate::guard::markdown::Kind;
use crate::guard::rule::{Rule, Sort};
use crate::guard::ruleset::Match;
use crate::guard::scan_parts::{cut, excerpt, on_boundaries, weigh_host, words, worst_host};
use crate::guard::threads;
use crate::guard::view::View;

impl Pass<'_> {
    /// Weighs one match of a rule by its host, by what stands around it and by how it is laid out.
    pub(super) fn matched(&mut self, setting: &Setting<'_>, view: &View, found: &Match) {
        let rule = self.rules.rule(found.rule);
        let origin =
            view.origin(found.range.start)..view.origin(found.range.end.saturating_sub(1)) + 1;
        let origin = origin.start
            ..origin
                .end
                .max(origin.start + 1)
                .min(setting.text.text.len());
        let origin = on_boundaries(&setting.text.text, origin);
        let context = context::weigh(setting, rule.sort, &origin, view.is_decoded);
        let host = worst_host(view, &found.range, &self.topic.words);
        let mut severity = rule.severity.step(context.steps);
        let mut why = context.why.clone();
        let source = setting.text.text.get(origin.clone()).unwrap_or("");
        if rule.sort == Sort::Phrase
            && !view.is_decoded
            && source.len() * 10 > found.range.len() * 13
            && source.len() > found.range.len() + 8
        {
            severity = severity.step(1);
            why.push("it is laid out so that it does not read as a sentence");
        }
        if rule.weighs_host {
            severity = weigh_host(severity, host, &mut why);
        }
        let evidence = excerpt(&view.text, &found.range);
        self.sign(
            setting,
            view,
            found,
            &origin,
            rule,
            &evidence,
            host,
            context.is_talk,
        );
        self.findings.push(Finding {
            rule: rule.id.clone(),
            class: rule.class,
            severity,
            stated: rule.severity,
            full: view
                .text
                .get(on_boundaries(&view.text, found.range.clone()))
                .unwrap_or("")
                .to_owned(),
            evidence,
            // A form that changed nothing here is not how it was seen.
            seen: if source.eq_ignore_ascii_case(view.text.get(found.range.clone()).unwrap_or("")) {
                Vec::new()
            } else {
                words(&view.seen)
            },
            context: words(&why),
            message: rule.say.clone(),
            fix: rule.fix.clone(),
            ..self.finding(setting, origin.start)
        });
    }

    /// Keeps what a match is good for together with others, unless it is only talked about.
    #[expect(
        clippy::too_many_arguments,
        reason = "all of them are parts of the one match"
    )]
    fn sign(
        &mut self,
        setting: &Setting<'_>,
        view: &View,
        found: &Match,
        origin: &Range<usize>,
        rule: &Rule,
        evidence: &str,
        host: Option<Host>,
        is_talk: bool,
    ) {
        if rule.facts.is_empty() || is_talk {
            return;
        }
        let part = setting.outline.and_then(|outline| outline.at(origin.start));
        let is_code = view.is_decoded
            || setting.outline.is_none()
            || part.is_some_and(|part| matches!(part.kind, Kind::Fence | Kind::Header));
        let names = if is_code {
            threads::names(&view.lower, &found.range)
        } else {
            Vec::new()
        };
        let names = self
            .files
            .last()
            .map_or_else(Vec::new, |file| file.threads.marks(&names));
        for fact in rule.facts {
            self.signs.push(Sign {
                fact: *fact,
                file: self.files.len() - 1,
                at: origin.start,
                line: setting.text.line(origin.start),
                unit: setting
                    .outline
                    .map_or(0, |outline| outline.number(origin.start)),
                section: part.map_or(0, |part| part.section),
                is_code,
                names: names.clone(),
                host,
                evidence: evidence.to_owned(),
                rule: rule.id.clone(),
            });
        }
    }

    /// A file that is fetched and run, by where it comes from.
    pub(super) fn downloaded(&mut self, setting: &Setting<'_>, view: &View, range: &Range<usize>) {
        let origin = on_boundaries(
            &setting.text.text,
            view.origin(range.start)..view.origin(range.end.saturating_sub(1)) + 1,
        );
        let context = context::weigh(setting, Sort::Command, &origin, view.is_decoded);
        let line_end = view.lower[range.start..]
            .find('\n')
            .map_or(view.lower.len(), |at| range.start + at);
        let host = worst_host(
            view,
            &(range.start..line_end.min(range.end)),
            &self.topic.words,
        );
        let stated = match host {
            None => Severity::Medium,
            Some(Host::Unknown | Host::Throwaway | Host::Address) => Severity::Critical,
            Some(Host::Related | Host::Example) => Severity::Medium,
            // A script out of a branch is what anybody may write there at any time; a release is not.
            Some(Host::Code) if is_branch(&view.lower[range.clone()]) => Severity::High,
            Some(Host::Code) => Severity::Low,
            Some(_) => Severity::Info,
        };
        self.findings.push(Finding {
            rule: Cow::Borrowed("supply.download-and-run"),
            class: Class::SupplyChain,
            severity: stated.step(context.steps),
            stated,
            evidence: excerpt(&view.text, range),
            seen: words(&view.seen),
            context: words(&context.why),
            message: Cow::Borrowed("Fetches a file and runs it."),
            fix: Cow::Borrowed(
                "Install from a registry, or check the file against a known hash first.",
            ),
            ..self.finding(setting, origin.start)
        });
    }

    /// A long run of code words that decodes to no text: a program, something packed or locked, or a picture.
    pub(super) fn opaque(&mut self, setting: &Setting<'_>, at: usize, bytes: &[u8]) {
        let is_read = matches!(
            setting.role,
            Role::Skill | Role::Script | Role::Manifest | Role::Reference
        );
        let line = setting.text.line_around(at);
        let before = &setting.text.text[..at.min(setting.text.text.len())];
        let is_key = line.contains("ssh-")
            || before.trim_end().ends_with("-----")
            || line.starts_with("eyJ")
            || line.contains("integrity");
        let (severity, message) = match magic(bytes) {
            Some(Magic::Media) => return,
            Some(Magic::Program | Magic::Bytecode | Magic::Eicar) => (
                Severity::High,
                "A program is written as text: nobody can read what it does.",
            ),
            Some(Magic::Zip | Magic::Gzip | Magic::Tar | Magic::Archive) => (
                Severity::High,
                "An archive is written as text: nobody can read what is in it.",
            ),
            None if is_key || !is_read => return,
            None => (
                Severity::Medium,
                "A long code that holds no text: nobody can read what it is for.",
            ),
        };
        self.findings.push(Finding {
            rule: Cow::Borrowed("obfuscation.opaque"),
            class: Class::Obfuscation,
            severity,
            stated: severity,
            evidence: cut(line),
            message: Cow::Borrowed(message),
            fix: Cow::Borrowed("Ship it as a file, or as the text it stands for."),
            ..self.finding(setting, at)
        });
    }
}

/// Whether a file is fetched out of a branch of a repository, not out of a release.
fn is_branch(fetch: &str) -> bool {
    [
        "raw.githubusercontent.com/",
        "gist.githubusercontent.com/",
        "cdn.jsdelivr.net/gh/",
        "/-/raw/",
        "/raw/refs/heads/",
    ]
    .iter()
    .any(|place| fetch.contains(place))
}
