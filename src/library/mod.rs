//! Skills on disk: roots, the walk, what `stat` says. Knows nothing of the database.

pub mod client;
mod content;
pub mod everything;
pub mod files;
mod finding;
mod listing;
pub mod root;
mod skip;
pub mod stat;
pub mod unit;
pub mod walk;
pub mod write;

pub use content::{Content, TreeEntry};
pub use files::{Contained, contained};
pub use finding::{WalkCode, WalkFinding};
pub use listing::is_not_there;
pub use root::{Root, RootKind};
pub use skip::{ARCHIVE, is_in_archive, is_reserved_name, skipped_folders};
pub use stat::Stat;
pub use unit::{Entry, EntryKind, Probe, Unit};
