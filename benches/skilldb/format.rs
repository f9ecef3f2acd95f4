//! What reading a SKILL.md costs: as it should be, to be repaired, hostile. The limits beside it: the
//! YAML parser alone on the same header, and SHA-256 of the same bytes, which a sync needs anyway.

use std::hint::black_box;

use criterion::Criterion;
use granit_parser::Parser;
use sha2::{Digest, Sha256};
use skilldb::skill;

use crate::corpus;

pub(crate) fn benches(criterion: &mut Criterion) {
    let fine = corpus::skill_text(1);
    let broken = fine.replacen("Does the thing", "Does: the thing", 1);
    let bomb = format!(
        "---\nname: a\nx: &a [1]\ny: {}\n---\n",
        "[*a,*a,*a,*a]".repeat(1_000)
    );
    let deep = format!("---\nname: a\nx: {}\n---\n", "[".repeat(10_000));
    let long = format!(
        "---\nname: a\ndescription: {}\n---\n",
        "x".repeat(1024 * 1024)
    );
    let read = skill::read(fine.as_bytes(), "skill-1");
    let header = &fine[read.header_span];

    let mut group = criterion.benchmark_group("format");
    group.bench_function("limit-yaml-alone", |bencher| {
        bencher.iter(|| Parser::new_from_str(black_box(header)).count());
    });
    group.bench_function("limit-sha256", |bencher| {
        bencher.iter(|| Sha256::digest(black_box(fine.as_bytes())));
    });
    for (name, text) in [
        ("fine", &fine),
        ("repaired", &broken),
        ("alias-bomb", &bomb),
        ("deep", &deep),
        ("long", &long),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| skill::read(black_box(text.as_bytes()), "skill-1"));
        });
    }
    group.finish();
}
