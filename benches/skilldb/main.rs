//! Criterion benches, each beside its limit. `make bench` runs them all.

mod change;
mod corpus;
mod curate;
mod format;
mod patch;
mod scan;
mod sync;

use criterion::{criterion_group, criterion_main};

criterion_group!(
    all,
    change::benches,
    curate::benches,
    format::benches,
    patch::benches,
    scan::benches,
    sync::benches
);
criterion_main!(all);
