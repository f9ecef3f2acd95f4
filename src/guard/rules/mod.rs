//! The rules that come with the program, one file for each kind of harm. A rule is a row: what it is called, what it
//! says, where it is looked for, and texts that it must and must not find; a test goes through all of them.

mod agents;
mod credential;
mod deeds;
mod destructive;
mod exfiltration;
mod fetch_run;
mod injection;
mod languages;
mod network;
mod obfuscation;
mod orders;
mod persistence;
mod privilege;
mod sentences;
mod social;
mod stores;
mod supply;
mod surveillance;

use super::rule::Rule;

/// All of them.
pub(super) fn all() -> Vec<Rule> {
    let mut rules = exfiltration::rules();
    rules.extend(exfiltration::sends());
    rules.extend(injection::rules());
    rules.extend(languages::rules());
    rules.extend(destructive::rules());
    rules.extend(persistence::rules());
    rules.extend(agents::rules());
    rules.extend(network::rules());
    rules.extend(obfuscation::rules());
    rules.extend(privilege::rules());
    rules.extend(supply::rules());
    rules.extend(fetch_run::rules());
    rules.extend(surveillance::rules());
    rules.extend(stores::rules());
    rules.extend(credential::rules());
    rules.extend(social::rules());
    rules.extend(orders::rules());
    rules.extend(deeds::rules());
    rules.extend(sentences::rules());
    rules
}
