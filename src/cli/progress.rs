//! A bar on a terminal, silence elsewhere.

use std::cell::RefCell;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::tell;
use crate::sync::{Progress, Unit};

/// Returns the progress display that suits stderr.
pub(super) fn for_stderr() -> Box<dyn Progress> {
    if std::io::stderr().is_terminal() {
        Box::new(Bar {
            bar: RefCell::new(ProgressBar::hidden()),
        })
    } else {
        Box::new(Silent)
    }
}

struct Bar {
    bar: RefCell<ProgressBar>,
}

/// Nothing shows before this long: a bar that only flashes up is noise.
const DELAY: Duration = Duration::from_millis(400);

impl Progress for Bar {
    fn begin(&self, phase: &'static str, unit: Unit, total: Option<u64>) {
        let bar = match total {
            Some(total) => ProgressBar::new(total),
            None => ProgressBar::new_spinner(),
        };
        bar.set_draw_target(ProgressDrawTarget::hidden());
        let template = match (unit, total) {
            (Unit::Skills, Some(_)) => "{prefix} {pos}/{len} skills {wide_bar}",
            (Unit::Skills, None) => "{prefix} {pos} skills",
            (Unit::Bytes, Some(_)) => {
                "{prefix} {bytes}/{total_bytes} {bytes_per_sec} {wide_bar} {eta}"
            }
            (Unit::Bytes, None) => "{prefix} {bytes}",
            (Unit::Files, _) => "{prefix} {pos} files",
            (Unit::Messages, _) => "{prefix} {pos} messages",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(phase);
        self.bar.replace(bar);
    }

    fn advance(&self, steps: u64) {
        let bar = self.bar.borrow();
        if bar.is_hidden() && bar.elapsed() >= DELAY {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.inc(steps);
    }

    fn end(&self) {
        self.bar.borrow().finish_and_clear();
    }

    fn waiting(&self) {
        self.bar.borrow().suspend(tell_waiting);
    }
}

struct Silent;

impl Progress for Silent {
    fn begin(&self, _phase: &'static str, _unit: Unit, _total: Option<u64>) {}

    fn advance(&self, _steps: u64) {}

    fn end(&self) {}

    fn waiting(&self) {
        tell_waiting();
    }
}

fn tell_waiting() {
    tell("Another skilldb is changing this library; waiting for it.");
}
