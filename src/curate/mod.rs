//! The curator: which skills have aged, what is done about it, when, and what is told of it afterwards.

pub mod gates;
mod plan;
mod report;
mod rules;
mod run;

pub use plan::{Anchor, Decision, Outcome, Plan};
pub use report::{Line, Report, as_json, as_markdown};
pub use rules::{Periods, Rules, decide_all};
pub use run::{Asked, Ran, Settings, known, plan_now, rewrite_reports, run};
