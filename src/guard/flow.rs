//! Puts matches together: a secret that is read and a request that is sent are each no harm, both in one script are.

use std::borrow::Cow;

use super::finding::{Class, Severity};
use super::host::Host;
use super::rule::Fact;

/// A match and what it is good for.
#[derive(Debug, Clone)]
pub(super) struct Sign {
    pub fact: Fact,
    /// Which file, as an index.
    pub file: usize,
    /// Where in the file.
    pub at: usize,
    pub line: u32,
    /// Which block of the file: a fence, a paragraph; a script is one.
    pub unit: usize,
    /// Which section of the file.
    pub section: usize,
    /// What stands there would be run: a script, a fence, something decoded.
    pub is_code: bool,
    /// Names of variables and files in the words around, for following data from one block to another.
    pub names: Vec<String>,
    pub host: Option<Host>,
    pub evidence: String,
    pub rule: Cow<'static, str>,
}

/// What several signs come to.
#[derive(Debug)]
pub(super) struct Joined {
    pub rule: &'static str,
    pub class: Class,
    pub severity: Severity,
    pub message: &'static str,
    pub fix: &'static str,
    pub file: usize,
    pub line: u32,
    pub evidence: String,
}

/// How near two signs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Link {
    Skill,
    File,
    Section,
    Data,
    Unit,
    Line,
}

/// A kind of harm that takes two.
struct Pair {
    rule: &'static str,
    class: Class,
    first: Fact,
    second: Fact,
    message: &'static str,
    fix: &'static str,
    /// How bad it is by how near they are.
    weigh: fn(Link, &Sign, &Sign) -> Option<Severity>,
}

const PAIRS: &[Pair] = &[
    Pair {
        rule: "flow.secret-sent",
        class: Class::Exfiltration,
        first: Fact::Secret,
        second: Fact::Send,
        message: "Reads a secret and sends data to another machine.",
        fix: "Send nothing that was read from files of secrets; read a key only for the service it belongs to.",
        weigh: secret_sent,
    },
    Pair {
        rule: "flow.private-sent",
        class: Class::Exfiltration,
        first: Fact::Private,
        second: Fact::Conceal,
        message: "Sends what is the user's, and keeps quiet about it.",
        fix: "Say to the user what is sent where, and ask.",
        weigh: |link, _, _| (link >= Link::Section).then_some(Severity::Critical),
    },
    Pair {
        rule: "flow.auto-sent",
        class: Class::Exfiltration,
        first: Fact::Private,
        second: Fact::Auto,
        message: "Sends what the user works on, each time and without being asked.",
        fix: "Send only what the user asks for, and say where it goes.",
        weigh: |link, send, _| {
            let is_unknown = matches!(
                send.host,
                Some(Host::Unknown | Host::Throwaway | Host::Address)
            );
            (link >= Link::Unit && is_unknown && !send.is_code).then_some(Severity::High)
        },
    },
    Pair {
        rule: "flow.persist-fetched",
        class: Class::Persistence,
        first: Fact::Persist,
        second: Fact::Fetch,
        message: "Makes something run again later that comes from another machine.",
        fix: "Install a fixed version, and say so.",
        weigh: |link, plant, fetch| match fetch.host {
            Some(Host::Local | Host::Installer | Host::Registry) => None,
            // A unit that is written beside a fetch is how services are installed.
            _ if plant.rule == "persistence.service" && fetch.rule == "supply.fetches-code" => None,
            _ => (link >= Link::Unit).then_some(Severity::Critical),
        },
    },
    Pair {
        rule: "flow.hidden-action",
        class: Class::Social,
        first: Fact::Conceal,
        second: Fact::Run,
        message: "Runs something that was not written here, and keeps quiet about it.",
        fix: "Say to the user what is run.",
        weigh: |link, hide, run| {
            (link >= Link::Section && hide.at != run.at && run.rule != "obfuscation.dynamic-run")
                .then_some(Severity::Critical)
        },
    },
    Pair {
        rule: "flow.hidden-secret",
        class: Class::Social,
        first: Fact::Conceal,
        second: Fact::Secret,
        message: "Reads a secret, and keeps quiet about it.",
        fix: "Say to the user what is read.",
        weigh: |link, _, _| (link >= Link::Section).then_some(Severity::Critical),
    },
    Pair {
        rule: "flow.hidden-persist",
        class: Class::Social,
        first: Fact::Conceal,
        second: Fact::Persist,
        message: "Plants something that stays, and keeps quiet about it.",
        fix: "Say to the user what is changed.",
        weigh: |link, hide, plant| {
            (link >= Link::Section && hide.at != plant.at).then_some(Severity::Critical)
        },
    },
    Pair {
        rule: "flow.hidden-unguard",
        class: Class::Privilege,
        first: Fact::Conceal,
        second: Fact::Unguard,
        message: "Switches off a guard, and keeps quiet about it.",
        fix: "Leave guards on, or have a person switch them off.",
        weigh: |link, hide, off| {
            (link >= Link::Section && hide.at != off.at).then_some(Severity::Critical)
        },
    },
    Pair {
        rule: "flow.decoded-run",
        class: Class::Obfuscation,
        first: Fact::Decode,
        second: Fact::Run,
        message: "Decodes something and runs a text as code.",
        fix: "Ship the code as it is.",
        weigh: |link, decode, run| {
            let is_text = run.rule != "obfuscation.runs-temporary";
            (is_text && link >= Link::Data && decode.is_code && run.is_code && decode.at != run.at)
                .then_some(Severity::High)
        },
    },
    Pair {
        rule: "flow.fetched-run",
        class: Class::SupplyChain,
        first: Fact::Fetch,
        second: Fact::Run,
        message: "Fetches something and runs a text as code.",
        fix: "Ship the code with the skill.",
        weigh: fetched_run,
    },
    Pair {
        rule: "flow.plant-unguard",
        class: Class::Persistence,
        first: Fact::Persist,
        second: Fact::Unguard,
        message: "Writes into a file that agents obey that they need not ask.",
        fix: "Leave it to the person what agents may do.",
        weigh: |link, plant, _| {
            (link >= Link::Section && plant.rule.starts_with("agents.")).then_some(Severity::High)
        },
    },
    Pair {
        rule: "flow.plant-send",
        class: Class::Persistence,
        first: Fact::Persist,
        second: Fact::Private,
        message: "Writes into a file that agents obey that they are to send what they work on.",
        fix: "Leave it to the person what is sent.",
        weigh: |link, plant, _| {
            (link >= Link::Section && plant.rule.starts_with("agents."))
                .then_some(Severity::Critical)
        },
    },
];

/// What was fetched is run: a text as code, or a file that another file fetched.
fn fetched_run(link: Link, fetch: &Sign, run: &Sign) -> Option<Severity> {
    let is_unknown = matches!(
        fetch.host,
        Some(Host::Unknown | Host::Throwaway | Host::Address)
    );
    let is_run = if run.rule == "obfuscation.runs-temporary" {
        let mut names = fetch.names.iter();
        is_unknown && names.any(|name| name.starts_with('/') && run.names.contains(name))
    } else {
        run.rule == "obfuscation.dynamic-run"
            && (run.evidence.contains("exec(") || run.evidence.contains("eval("))
            && link >= Link::Data
            && fetch.is_code
    };
    (is_run && fetch.host != Some(Host::Local)).then_some(if is_unknown {
        Severity::Critical
    } else {
        Severity::High
    })
}

/// A secret that goes somewhere: the nearer, the worse; a service's own host is where its keys belong.
fn secret_sent(link: Link, secret: &Sign, send: &Sign) -> Option<Severity> {
    let is_weak = matches!(
        &*secret.rule,
        "credential.environment" | "credential.dotenv" | "credential.system-accounts"
    );
    let is_vague = matches!(
        &*send.rule,
        "exfiltration.copy-out" | "exfiltration.url-variable" | "exfiltration.raw-send"
    );
    match send.host {
        Some(Host::Local) => return None,
        Some(Host::Service | Host::Registry | Host::Installer) if is_weak || link < Link::Unit => {
            return None;
        }
        Some(Host::Service | Host::Registry | Host::Installer) => return Some(Severity::High),
        Some(Host::Related) if is_weak => return (link >= Link::Data).then_some(Severity::Medium),
        _ => {}
    }
    let is_run = secret.is_code && send.is_code;
    let is_unknown = matches!(
        send.host,
        None | Some(Host::Unknown | Host::Throwaway | Host::Address)
    );
    match link {
        Link::Line | Link::Data if is_run => Some(Severity::Critical),
        Link::Unit if is_run && !is_weak => Some(Severity::Critical),
        Link::Unit if is_run => Some(Severity::High),
        Link::Line => Some(Severity::Critical),
        Link::Unit | Link::Data => Some(Severity::High),
        Link::Section | Link::File if is_run && !is_weak && !is_vague => Some(Severity::High),
        Link::Section if !is_weak => Some(Severity::Medium),
        Link::Section | Link::File if is_run && is_unknown => Some(Severity::High),
        Link::Skill if is_run && !is_weak && !is_vague && is_unknown => Some(Severity::High),
        _ => None,
    }
}

/// Most signs of one kind that are put together with others.
const MAX_SIGNS: usize = 64;

/// All that the signs come to: for each kind of harm the worst place of each file.
pub(super) fn join(signs: &[Sign], is_script: &dyn Fn(usize) -> bool) -> Vec<Joined> {
    let mut joined: Vec<Joined> = Vec::new();
    for pair in PAIRS {
        // Those that talk to the strangest hosts first: decoys must not push them out.
        let of = |fact: Fact| {
            let mut own: Vec<&Sign> = signs.iter().filter(|sign| sign.fact == fact).collect();
            own.sort_by_key(|sign| std::cmp::Reverse(sign.host));
            own.truncate(MAX_SIGNS);
            own
        };
        let (firsts, seconds) = (of(pair.first), of(pair.second));
        let mut worst: Option<(Severity, Link, &Sign, &Sign)> = None;
        for first in &firsts {
            for second in &seconds {
                let link = link(first, second, is_script);
                let Some(severity) = (pair.weigh)(link, first, second) else {
                    continue;
                };
                if worst.is_none_or(|(known, near, ..)| (severity, link) > (known, near)) {
                    worst = Some((severity, link, *first, *second));
                }
            }
        }
        if let Some((severity, _, first, second)) = worst {
            joined.push(Joined {
                rule: pair.rule,
                class: pair.class,
                severity,
                message: pair.message,
                fix: pair.fix,
                file: second.file,
                line: second.line,
                evidence: format!("{} … {}", first.evidence, second.evidence),
            });
        }
    }
    joined.extend(sweep(signs));
    joined
}

/// Asking for one store of secrets may have a reason; asking for three has one only.
fn sweep(signs: &[Sign]) -> Option<Joined> {
    const STORES: [&str; 14] = [
        ".ssh",
        ".aws",
        "gcloud",
        ".azure",
        ".kube",
        ".gnupg",
        ".npmrc",
        ".pypirc",
        ".netrc",
        ".docker",
        ".git-credentials",
        ".terraform",
        "wallet",
        "login data",
    ];
    let asked: Vec<&Sign> = signs
        .iter()
        .filter(|sign| {
            sign.fact == Fact::Secret
                && matches!(
                    &*sign.rule,
                    "credential.asked-for" | "credential.file-read" | "credential.file-in-code"
                )
        })
        .collect();
    let stores = STORES
        .iter()
        .filter(|store| {
            asked.iter().any(|sign| {
                sign.evidence.to_lowercase().contains(*store)
                    || sign.names.iter().any(|name| name.contains(*store))
            })
        })
        .count();
    let last = asked.last()?;
    (stores >= 3).then(|| Joined {
        rule: "flow.secret-sweep",
        class: Class::Credential,
        severity: Severity::Critical,
        message: "Reads the secrets of several programs.",
        fix: "Read the one secret the task needs, and say so.",
        file: last.file,
        line: last.line,
        evidence: asked
            .iter()
            .map(|sign| sign.evidence.as_str())
            .take(4)
            .collect::<Vec<_>>()
            .join(" … "),
    })
}

/// Most bytes between two that are taken to be on one line.
const LINE: usize = 600;

fn link(first: &Sign, second: &Sign, is_script: &dyn Fn(usize) -> bool) -> Link {
    if first.file != second.file {
        return Link::Skill;
    }
    // A file of one line is no single deed.
    if first.line == second.line && first.unit == second.unit {
        return if first.at.abs_diff(second.at) <= LINE {
            Link::Line
        } else {
            Link::File
        };
    }
    let shares = first.names.iter().any(|name| second.names.contains(name));
    if first.unit == second.unit {
        // A long script does many things.
        let is_far = is_script(first.file) && first.at.abs_diff(second.at) > 3_000;
        return if shares {
            Link::Data
        } else if is_far {
            Link::File
        } else {
            Link::Unit
        };
    }
    if shares && first.is_code && second.is_code {
        return Link::Data;
    }
    if first.section == second.section {
        Link::Section
    } else {
        Link::File
    }
}
