//! The rules in force, and those that are switched off.

use serde_json::{Value, json};

use crate::cli::Context;
use crate::cli::output::{columns, plural};
use crate::error::Result;
use crate::guard::Guard;

pub(super) fn list(context: &mut Context, guard: &Guard) -> Result<()> {
    let lines = guard.lines();
    if context.out.json {
        let rules: Vec<Value> = lines
            .iter()
            .map(|line| {
                json!({
                    "rule": line.id, "class": line.kind.map(|(class, _)| class.as_str()), "severity": line.kind.map(|(_, severity)| severity.as_str()),
                    "message": line.say, "off": line.off,
                })
            })
            .collect();
        return context
            .out
            .object(json!({"ruleset": guard.version(), "rules": rules}));
    }
    let rows: Vec<Vec<String>> = lines
        .iter()
        .map(|line| {
            let severity = line.kind.map_or("", |(_, severity)| severity.as_str());
            let state = match &line.off {
                Some(reason) => format!("off: {reason}"),
                None => line.say.clone(),
            };
            vec![line.id.clone(), severity.to_owned(), state]
        })
        .collect();
    if context.out.width.is_some() {
        columns(&rows)
            .iter()
            .try_for_each(|line| context.out.line(line))?;
    } else {
        rows.iter()
            .try_for_each(|row| context.out.line(&row.join("\t")))?;
    }
    context.out.flush()?;
    context.out.say(&format!(
        "{} (rules {}).",
        plural(rows.len() as u64, "rule"),
        guard.version()
    ));
    Ok(())
}
