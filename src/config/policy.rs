//! `write_policy` in a configuration file.

use std::collections::BTreeMap;
use std::path::Path;

use super::file::FilePolicy;
use super::{Config, Origin, Setting};
use crate::error::{Error, Result};
use crate::manage::{Action, Rule};
use crate::store::Actor;

/// Stands for every action in `write_policy`.
const EVERY: &str = "*";

impl Config {
    /// Takes over who may change what: the library's affair, not that of the project somebody stands in.
    ///
    /// # Errors
    /// [`Error::Config`] for an unknown actor, action or rule.
    pub(super) fn add_policy(
        &mut self,
        path: &Path,
        rules: BTreeMap<String, FilePolicy>,
    ) -> Result<()> {
        let wrong = |word: &str, what: &str, known: String| Error::Config {
            path: Some(path.to_path_buf()),
            line: None,
            message: format!("write_policy: `{word}` is no {what}"),
            hint: Some(format!("one of {known}")),
        };
        for (who, rules) in rules {
            let actor = Actor::ALL
                .into_iter()
                .find(|actor| actor.as_str() == who.replace('-', "_"));
            let actors = || Actor::ALL.map(Actor::as_str).join(", ");
            let actor = actor.ok_or_else(|| wrong(&who, "actor", actors()))?;
            let rules = match rules {
                FilePolicy::Every(rule) => BTreeMap::from([(EVERY.to_owned(), rule)]),
                FilePolicy::ByAction(rules) => rules,
            };
            for (what, rule) in rules {
                let actions = || Action::ALL.map(Action::as_str).join(", ");
                let action = match what.as_str() {
                    EVERY => None,
                    word => {
                        Some(Action::parse(word).ok_or_else(|| wrong(word, "action", actions()))?)
                    }
                };
                let parsed = Rule::parse(&rule);
                let parsed =
                    parsed.ok_or_else(|| wrong(&rule, "rule", "auto, ask, deny".to_owned()))?;
                self.policy.set(actor, action, parsed);
                self.policy_lines.push(Setting {
                    value: (actor.as_str().to_owned(), what, rule),
                    origin: Origin::File(path.to_path_buf()),
                });
            }
        }
        Ok(())
    }
}
