//! Every way a skill changes: one door that checks, journals, writes, records and can take back.

mod compare;
mod draft;
mod execute;
pub mod gate;
mod judge;
mod make;
mod marks;
mod ownership;
mod paths;
mod places;
mod plan;
mod planner;
mod proposals;
pub mod purge;
mod recover;
mod rename;
mod rendered;
mod request;
mod revert;
mod settle;
mod snapshot;
mod step;
mod texts;
mod undo;
mod writer;

pub use compare::{Compared, compare, compared};
pub use marks::{Mark, is_news};
pub use ownership::{Policy, Reach, Rule, Verdict, Wish, decide};
pub use places::archived_at;
pub use plan::Action;
pub use recover::{Fate, Recovered, mend, recover};
pub use request::{Bytes, Request, Who};
pub use snapshot::{Made, differing};
pub use writer::{Done, Outcome, Preview, Settings, Writer, preview};
