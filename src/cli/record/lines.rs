//! `skilldb record -`: lines of JSON on standard input.

use std::collections::BTreeMap;
use std::io::{BufReader, stdin};
use std::path::Path;

use serde_json::json;

use super::{Args, is_trouble, open, open_briefly};
use crate::cli::output::{clean, plural, tell};
use crate::cli::{Context, client_folders};
use crate::error::{Error, Result};
use crate::usage::{self, LineSink, Recording, Resolver};

/// What a run over many lines adds up to.
#[derive(Default)]
struct Tally {
    new: u64,
    known: u64,
    refused: u64,
    kept: u64,
    not_installed: BTreeMap<String, u64>,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    if args.dry_run {
        return Err(Error::Usage {
            message: "--dry-run takes one event, not lines".to_owned(),
            hint: Some("lines with event ids can be sent again without harm".to_owned()),
        });
    }
    let home = context.config.home.value.clone();
    let mut tally = Tally::default();
    if args.best_effort {
        if let Err(error) = leniently(context, &home, &mut tally) {
            let words = clean(&error.to_string()).into_owned();
            tell(&format!("skilldb: {words}; send the lines again"));
        }
    } else {
        record(context, &home, &mut tally, None)?;
    }
    // What was kept was told in the one line there is.
    if tally.kept == 0 || context.out.json {
        say(context, &tally)?;
    }
    if tally.refused > 0 && !args.best_effort {
        return Err(Error::ProblemsFound);
    }
    Ok(())
}

/// Records what can be recorded, and keeps the rest for later.
fn leniently(context: &Context, home: &Path, tally: &mut Tally) -> Result<()> {
    let mut kept = 0;
    let mut keep = |mut recording: Recording| {
        kept += 1;
        recording.machine = recording
            .machine
            .or_else(|| Some(context.config.machine.clone()));
        usage::keep_for_later(home, recording, context.now)
    };
    let result = match record(context, home, tally, Some(&mut keep)) {
        Err(error) if is_trouble(&error) => keep_all(tally, &mut keep),
        other => other,
    };
    tally.kept = kept;
    if kept > 0 {
        tell(&format!(
            "skilldb: the library cannot be written to; {} kept for later",
            plural(kept, "event")
        ));
    }
    result
}

/// The library cannot even be opened: all lines are kept.
fn keep_all(tally: &mut Tally, keep: &mut dyn FnMut(Recording) -> Result<()>) -> Result<()> {
    let mut lines = BufReader::new(stdin().lock());
    usage::each_line(
        &mut lines,
        &mut |number, line, _| match usage::parse_line(line) {
            Ok(recording) => keep(recording),
            Err(error) => {
                tally.refused += 1;
                refuse(number, &error);
                Ok(())
            }
        },
    )
}

fn refuse(line: u64, error: &Error) {
    tell(&format!("-:{line}: {}", clean(&error.to_string())));
}

fn record(
    context: &Context,
    home: &Path,
    tally: &mut Tally,
    mut keep: Option<&mut dyn FnMut(Recording) -> Result<()>>,
) -> Result<()> {
    let mut store = if keep.is_some() {
        open_briefly(home)?
    } else {
        open(home, context.now)?
    };
    let roots = client_folders(&context.config);
    let mut resolver = Resolver::new(&roots);
    let is_lenient = keep.is_some();
    let mut keep_one = |recording| match &mut keep {
        Some(keep) => keep(recording),
        None => Ok(()),
    };
    let mut refused = 0;
    let (new, known, not_installed) = (&mut tally.new, &mut tally.known, &mut tally.not_installed);
    let mut sink = LineSink {
        refuse: &mut |line, error| {
            refused += 1;
            refuse(line, error);
        },
        tell: &mut |recorded| {
            *(if recorded.added.is_new() {
                &mut *new
            } else {
                &mut *known
            }) += 1;
            if recorded.meant.skill().is_none() {
                *not_installed
                    .entry(recorded.called_name.clone())
                    .or_default() += 1;
            }
        },
        keep: if is_lenient {
            Some(&mut keep_one)
        } else {
            None
        },
    };
    let mut lines = BufReader::new(stdin().lock());
    let result = usage::record_all(
        &mut store,
        &mut resolver,
        &mut lines,
        context.now,
        &mut sink,
    );
    tally.refused += refused;
    result?;
    if let Err(error) = usage::absorb(
        home,
        &mut store,
        &mut resolver,
        context.now,
        usage::A_LITTLE,
    ) {
        let words = clean(&error.to_string()).into_owned();
        tell(&format!(
            "skilldb: events kept for later still wait: {words}"
        ));
    }
    Ok(())
}

fn say(context: &mut Context, tally: &Tally) -> Result<()> {
    if context.out.json {
        return context.out.object(json!({
            "new": tally.new, "known": tally.known, "refused": tally.refused, "kept": tally.kept, "not_installed": tally.not_installed,
        }));
    }
    let known = match tally.known {
        0 => String::new(),
        count => format!(", {count} known already"),
    };
    let refused = match tally.refused {
        0 => String::new(),
        count => format!(", {} refused", plural(count, "line")),
    };
    let new = plural(tally.new, "event");
    context.out.say(&format!("{new} recorded{known}{refused}."));
    for (name, count) in &tally.not_installed {
        let count = plural(*count, "event");
        context
            .out
            .say(&format!("not installed: {} ({count})", clean(name)));
    }
    Ok(())
}
