//! Between skilldb and other programs: histories that are imported, hooks that record, counts that are
//! handed on.

pub mod export;
pub mod hook;
pub mod import;
mod json;
