//! `guard` in a configuration file: who is trusted, what follows from a verdict, which rules are in force.

use std::path::{Path, PathBuf};

use super::file::{FileGuard, FileOwnRule, FileReason, FileTrust};
use super::{Config, Origin, Setting};
use crate::error::{Error, Result};
use crate::guard::{
    self, Answer, Class, OwnRule, RuleSettings, Severity, Trust, TrustPolicy, Verdict,
};

/// What the configuration says about the guard.
#[derive(Debug, Clone, Default)]
pub struct GuardConfig {
    /// The table of answers.
    pub policy: TrustPolicy,
    /// Cells that differ from the built-in table, as written: trust, verdict, answer.
    pub policy_lines: Vec<Setting<(String, String, String)>>,
    /// How far the skills below a folder are trusted, whoever made them; the nearest folder counts.
    pub trust: Vec<Setting<(PathBuf, Trust)>>,
    /// Own rules, rules that are off, accepted findings.
    pub rules: RuleSettings,
    /// Where the rules were set; `None` where nothing is said.
    pub rules_origin: Option<Origin>,
}

impl Config {
    /// Takes over what is said about the guard: the library's affair, never that of a project, which may come from a
    /// stranger.
    ///
    /// # Errors
    /// [`Error::Config`] for an unknown word, a rule that is none, a missing reason.
    pub(super) fn add_guard(&mut self, (path, text): (&Path, &str), file: FileGuard) -> Result<()> {
        let origin = Origin::File(path.to_path_buf());
        let folder = path.parent().unwrap_or(Path::new("."));
        let wrong = |near: &str, message: String, hint: String| Error::Config {
            path: Some(path.to_path_buf()),
            line: line_of(text, near),
            message: format!("guard: {message}"),
            hint: Some(hint),
        };
        for (row, cells) in file.policy {
            let trust = Trust::parse(&row).ok_or_else(|| {
                wrong(
                    &row,
                    format!("policy: `{row}` is no trust"),
                    format!("one of {}", Trust::ALL.map(Trust::as_str).join(", ")),
                )
            })?;
            for (column, word) in cells {
                let verdict = Verdict::parse(&column).ok_or_else(|| {
                    wrong(
                        &column,
                        format!("policy: `{column}` is no verdict"),
                        format!("one of {}", Verdict::ALL.map(Verdict::as_str).join(", ")),
                    )
                })?;
                let answer = Answer::parse(&word).ok_or_else(|| {
                    wrong(
                        &word,
                        format!("policy: `{word}` is no answer"),
                        format!("one of {}", Answer::ALL.map(Answer::as_str).join(", ")),
                    )
                })?;
                self.guard.policy.set(trust, verdict, answer);
                self.guard.policy_lines.push(Setting {
                    value: (row.clone(), column, word),
                    origin: origin.clone(),
                });
            }
        }
        for FileTrust { root, r#as: word } in file.trust {
            let trust = Trust::parse(&word).ok_or_else(|| {
                wrong(
                    &word,
                    format!("trust: `{word}` is no trust"),
                    format!("one of {}", Trust::ALL.map(Trust::as_str).join(", ")),
                )
            })?;
            let root = folder.join(self.expand(&root));
            let root = root.canonicalize().unwrap_or(root);
            self.guard.trust.push(Setting {
                value: (root, trust),
                origin: origin.clone(),
            });
        }
        let rules = RuleSettings {
            own: own_rules(file.rules, &wrong)?,
            off: off_rules(file.off, &wrong)?,
            accepted: accepted(file.accept, &wrong)?,
        };
        if rules != RuleSettings::default() {
            self.guard.rules = rules;
            self.guard.rules_origin = Some(origin);
        }
        Ok(())
    }
}

/// Makes an error: a word of its line, what is wrong, what would be right.
type Wrong<'a> = &'a dyn Fn(&str, String, String) -> Error;

fn own_rules(rules: Vec<FileOwnRule>, wrong: Wrong<'_>) -> Result<Vec<OwnRule>> {
    let mut own: Vec<OwnRule> = Vec::with_capacity(rules.len());
    for file in rules {
        let rule = own_rule(file, wrong)?;
        if own.iter().any(|known| known.id == rule.id) {
            return Err(wrong(
                &rule.id,
                format!("two rules are called {}", rule.id),
                "give one of them another id".to_owned(),
            ));
        }
        own.push(rule);
    }
    Ok(own)
}

fn own_rule(file: FileOwnRule, wrong: Wrong<'_>) -> Result<OwnRule> {
    let id = file.id;
    let class = Class::parse(&file.class).ok_or_else(|| {
        wrong(
            &file.class,
            format!("rule {id}: `{}` is no class", file.class),
            format!("one of {}", Class::ALL.map(Class::as_str).join(", ")),
        )
    })?;
    let severity = Severity::parse(&file.severity).ok_or_else(|| {
        wrong(
            &file.severity,
            format!("rule {id}: `{}` is no severity", file.severity),
            format!("one of {}", Severity::ALL.map(Severity::as_str).join(", ")),
        )
    })?;
    if guard::is_rule(&id) {
        return Err(wrong(
            &id,
            format!("there is a rule {id} already"),
            "give it another id".to_owned(),
        ));
    }
    let rule = OwnRule {
        id,
        class,
        severity,
        near: file.near,
        pattern: file.pattern,
        is_phrase: file.phrase.unwrap_or(false),
        say: file.say,
        fix: file.fix.unwrap_or_default(),
        reason: file.reason,
    };
    if rule.reason.trim().is_empty() {
        return Err(wrong(
            &rule.id,
            format!("rule {} has no `reason`", rule.id),
            "say why it is there".to_owned(),
        ));
    }
    match rule.trouble() {
        None => Ok(rule),
        Some(trouble) => Err(wrong(
            &rule.id,
            format!("rule {}: {trouble}", rule.id),
            "`skilldb scan --rules` lists the rules".to_owned(),
        )),
    }
}

fn off_rules(rules: Vec<FileReason>, wrong: Wrong<'_>) -> Result<Vec<(String, String)>> {
    let of = |entry: FileReason| {
        if let Some(finding) = &entry.finding {
            return Err(wrong(
                finding,
                "off: a rule is switched off, a finding is accepted".to_owned(),
                "put it below `accept`".to_owned(),
            ));
        }
        let id = entry.rule.ok_or_else(|| {
            wrong(
                "off",
                "off: an entry names no `rule`".to_owned(),
                "`skilldb scan --rules` lists the rules".to_owned(),
            )
        })?;
        if !guard::is_rule(&id) {
            return Err(wrong(
                &id,
                format!("off: there is no rule `{id}`"),
                "`skilldb scan --rules` lists the rules".to_owned(),
            ));
        }
        reason(&id, entry.reason, wrong).map(|reason| (id, reason))
    };
    rules.into_iter().map(of).collect()
}

fn accepted(findings: Vec<FileReason>, wrong: Wrong<'_>) -> Result<Vec<(String, String)>> {
    let of = |entry: FileReason| {
        if let Some(rule) = &entry.rule {
            return Err(wrong(
                rule,
                "accept: a finding is accepted, a rule is switched off".to_owned(),
                "put it below `off`".to_owned(),
            ));
        }
        let hint = || "`skilldb scan NAME` prints it in front of each finding".to_owned();
        let id = entry.finding.ok_or_else(|| {
            wrong(
                "accept",
                "accept: an entry names no `finding`".to_owned(),
                hint(),
            )
        })?;
        if id.len() != 16 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong(&id, format!("accept: `{id}` is no finding"), hint()));
        }
        reason(&id, entry.reason, wrong).map(|reason| (id.to_ascii_lowercase(), reason))
    };
    findings.into_iter().map(of).collect()
}

fn reason(id: &str, reason: Option<String>, wrong: Wrong<'_>) -> Result<String> {
    reason
        .filter(|reason| !reason.trim().is_empty())
        .ok_or_else(|| {
            wrong(
                id,
                format!("{id} has no `reason`"),
                "say why: whoever reads the report sees it".to_owned(),
            )
        })
}

/// The line below `guard:` in which a word stands first.
fn line_of(text: &str, word: &str) -> Option<u32> {
    let mut lines = text
        .lines()
        .zip(1..)
        .skip_while(|(line, _)| !line.starts_with("guard"));
    lines
        .find(|(line, _)| {
            line.split('#')
                .next()
                .is_some_and(|line| line.contains(word))
        })
        .map(|(_, number)| number)
}
