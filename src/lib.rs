//! skilldb keeps the skills of your agents: `SKILL.md` files stay the source of truth, a SQLite
//! database mirrors them and remembers what no file can say.
//!
//! ```text
//!   cli  ->  sync  ->  store    (SQL)
//!              |   ->  library  (file tree)
//!              v
//!            skill   (pure: bytes in, facts out), time, error
//! ```
//!
//! Arrows point down only. `store` and `library` do not know each other; `sync` joins them.
//! See `ARCHITECTURE.md` for the rules and the reasons.

pub mod cli;
pub mod config;
pub mod curate;
pub mod diff;
pub mod error;
pub mod guard;
pub mod hash;
pub mod library;
pub mod manage;
pub mod patch;
pub mod references;
pub mod search;
pub mod share;
pub mod skill;
pub mod stop;
pub mod store;
pub mod sync;
pub mod time;
pub mod usage;
pub mod validate;
pub mod verdicts;

pub use error::{Error, Result};
