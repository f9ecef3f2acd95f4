//! `skilldb config`.

use serde_json::{Value, json};

use super::Context;
use super::output::columns;
use crate::config::{ColorChoice, Curator, GuardConfig, HOME_FILE, Origin, PROJECT_FILE};
use crate::error::Result;

/// Show the settings in force
///
/// Precedence: flag, environment, .skilldb.yaml of the project, config.yaml of the home, default.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb config
  skilldb config --origin           where each value comes from

A config.yaml with every key:
  roots:
    - path: ~/work/skills
      kind: external                local, project, external, bundled, hub, plugin
      priority: 10                  lower comes first
      writable: false
      client: hermes
  clients: [claude-code, codex]     their folders are roots, too
  history:
    supporting_mib: 64              most of supporting files kept as newest versions
  write_policy:                     who may change skills; a person always may
    agent: ask                      auto, ask (a proposal), deny; for everything
    background-review:
      archive: deny                 or for one action
  automations: [~/scripts/nightly.sh]   your files that name skills: rename and merge rewrite them
  curator:
    enabled: true
    interval_hours: 168             between two runs
    min_idle_hours: 2               without anybody at work before a run
    stale_after_days: 30            or never
    archive_after_days: 90          or never
    bundled: false                  whether what came with a client ages, too
    protect: [plan]                 names that are never put away
    categories:
      ops: {archive_after_days: 365}
    tags:
      seasonal: {stale_after_days: never, archive_after_days: never}
  guard:
    policy:                         allow, ask, block by trust and verdict
      own: {dangerous: ask}         builtin, trusted, own, agent-created, community
    trust:
      - {root: ~/work/skills, as: trusted}
    off:
      - {rule: supply.registry-redirect, reason: our own mirror}
    accept:
      - {finding: 0123456789abcdef, reason: read it}
    rules:
      - id: acme.intranet
        class: network              `skilldb scan --rules` lists classes and rules
        severity: high              info, low, medium, high, critical
        near: [intranet.acme]       lower-case words of which one is in every match
        pattern: intranet\\.acme\\S*
        say: Names a host of the intranet.
        reason: must not leave the house
  color: auto                       auto, always, never")]
pub(super) struct Args {
    /// Show where each value comes from
    #[arg(long)]
    origin: bool,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let settings = settings(context);
    if context.out.json {
        let list: Vec<Value> = settings
            .iter()
            .map(|(key, value, origin)| json!({"key": key, "value": value, "origin": origin}))
            .collect();
        return context.out.object(json!({"settings": list}));
    }
    let rows: Vec<Vec<String>> = settings
        .into_iter()
        .map(|(key, value, origin)| {
            if args.origin {
                vec![key, value, origin]
            } else {
                vec![key, value]
            }
        })
        .collect();
    columns(&rows)
        .iter()
        .try_for_each(|line| context.out.line(line))
}

fn settings(context: &Context) -> Vec<(String, String, String)> {
    let config = &context.config;
    let color = match config.color.value {
        ColorChoice::Auto => "auto",
        ColorChoice::Always => "always",
        ColorChoice::Never => "never",
    };
    let mut settings = vec![
        (
            "home".to_owned(),
            config.home.value.display().to_string(),
            origin_words(&config.home.origin),
        ),
        (
            "color".to_owned(),
            color.to_owned(),
            origin_words(&config.color.origin),
        ),
        (
            "history.supporting_mib".to_owned(),
            (config.support_budget.value / (1024 * 1024)).to_string(),
            origin_words(&config.support_budget.origin),
        ),
    ];
    for line in &config.policy_lines {
        let (actor, action, rule) = &line.value;
        settings.push((
            "write_policy".to_owned(),
            format!("{actor} {action} {rule}"),
            origin_words(&line.origin),
        ));
    }
    for file in &config.automations {
        settings.push((
            "automations".to_owned(),
            file.value.display().to_string(),
            origin_words(&file.origin),
        ));
    }
    curator(&config.curator, &mut settings);
    guard(&config.guard, &mut settings);
    for (key, value) in [("actor", &config.actor), ("session", &config.session)] {
        if let Some(value) = value {
            settings.push((
                key.to_owned(),
                value.value.clone(),
                origin_words(&value.origin),
            ));
        }
    }
    for client in &config.clients {
        settings.push((
            "clients".to_owned(),
            client.value.clone(),
            origin_words(&client.origin),
        ));
    }
    for root in &config.roots {
        let words = format!("{} ({})", root.value.path.display(), root.value.kind);
        settings.push(("roots".to_owned(), words, origin_words(&root.origin)));
    }
    settings
}

/// How skills age.
fn curator(curator: &Curator, settings: &mut Vec<(String, String, String)>) {
    let mut add = |key: &str, value: String, origin: &Origin| {
        settings.push((format!("curator.{key}"), value, origin_words(origin)));
    };
    let days = |days: Option<u32>| days.map_or("never".to_owned(), |days| days.to_string());
    add(
        "enabled",
        curator.enabled.value.to_string(),
        &curator.enabled.origin,
    );
    add(
        "interval_hours",
        curator.interval_hours.value.to_string(),
        &curator.interval_hours.origin,
    );
    add(
        "min_idle_hours",
        curator.min_idle_hours.value.to_string(),
        &curator.min_idle_hours.origin,
    );
    let ageing = &curator.ageing;
    add(
        "stale_after_days",
        days(ageing.value.stale_after),
        &ageing.origin,
    );
    add(
        "archive_after_days",
        days(ageing.value.archive_after),
        &ageing.origin,
    );
    add(
        "bundled",
        curator.bundled.value.to_string(),
        &curator.bundled.origin,
    );
    add(
        "protect",
        curator.protect.value.join(", "),
        &curator.protect.origin,
    );
    for (kind, list) in [("categories", &curator.categories), ("tags", &curator.tags)] {
        for setting in list {
            let (name, ageing) = &setting.value;
            let words = format!(
                "stale {}, archived {}",
                days(ageing.stale_after),
                days(ageing.archive_after)
            );
            add(&format!("{kind}.{name}"), words, &setting.origin);
        }
    }
}

/// What is said about the guard.
fn guard(guard: &GuardConfig, settings: &mut Vec<(String, String, String)>) {
    for line in &guard.policy_lines {
        let (trust, verdict, answer) = &line.value;
        let words = format!("{trust} {verdict} {answer}");
        settings.push(("guard.policy".to_owned(), words, origin_words(&line.origin)));
    }
    for line in &guard.trust {
        let (root, trust) = &line.value;
        let words = format!("{} {}", root.display(), trust.as_str());
        settings.push(("guard.trust".to_owned(), words, origin_words(&line.origin)));
    }
    let Some(origin) = &guard.rules_origin else {
        return;
    };
    let origin = origin_words(origin);
    for (key, list) in [("off", &guard.rules.off), ("accept", &guard.rules.accepted)] {
        for (id, reason) in list {
            settings.push((
                format!("guard.{key}"),
                format!("{id}: {reason}"),
                origin.clone(),
            ));
        }
    }
    for rule in &guard.rules.own {
        settings.push((
            "guard.rules".to_owned(),
            format!("{}: {}", rule.id, rule.reason),
            origin.clone(),
        ));
    }
}

fn origin_words(origin: &Origin) -> String {
    match origin {
        Origin::Flag => "flag".to_owned(),
        Origin::Environment(name) => format!("${name}"),
        Origin::File(path) => {
            let is_project = path.file_name().is_some_and(|name| name == PROJECT_FILE);
            let what = if is_project { PROJECT_FILE } else { HOME_FILE };
            format!("{what} ({})", path.display())
        }
        Origin::Default => "default".to_owned(),
    }
}
