//! Any outcome of a patch on a file of 100 kB, beside one plain search through it; and on files twice and
//! four times as long, to see how it grows.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use skilldb::patch::{Reach, apply};

/// Prose of about `kilobytes`, 30 characters a line, no two lines alike.
fn prose(kilobytes: usize) -> String {
    const WORDS: [&str; 12] = [
        "server", "release", "check", "the", "and", "run", "table", "before", "every", "with",
        "log", "step",
    ];
    let mut text = String::new();
    let mut dice = 1_u64;
    while text.len() < kilobytes * 1024 {
        for _ in 0..5 {
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let word = WORDS[usize::try_from(dice >> 33).unwrap_or(0) % WORDS.len()];
            let _ = write!(text, "{word} ");
        }
        let _ = writeln!(text, "{}", dice >> 48);
    }
    text
}

/// `count` lines from the middle of the text, each changed by `change`.
fn lines(text: &str, count: usize, change: impl Fn(usize, &str) -> String) -> String {
    let all: Vec<&str> = text.lines().collect();
    let middle = all.len() / 2;
    let picked = all.iter().skip(middle).take(count).enumerate();
    picked
        .map(|(index, line)| change(index, line))
        .collect::<Vec<_>>()
        .join("\n")
}

pub(crate) fn benches(criterion: &mut Criterion) {
    let text = prose(100);
    let mut group = criterion.benchmark_group("patch/100kB");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("limit: one search", |b| {
        b.iter(|| memchr::memmem::find(black_box(text.as_bytes()), b"nowhere in it"));
    });
    let finds = [
        ("exact", lines(&text, 10, |_, line| line.to_owned())),
        (
            "line_trimmed",
            lines(&text, 10, |_, line| format!("   {line} ")),
        ),
        (
            "whitespace",
            lines(&text, 10, |_, line| line.replacen(' ', "   ", 1)),
        ),
        (
            "unicode",
            lines(&text, 10, |_, line| line.replace(' ', "\u{a0}")),
        ),
        (
            "block_anchor",
            lines(&text, 10, |index, line| {
                if index == 5 {
                    line.replace("the", "a") + "x"
                } else {
                    line.to_owned()
                }
            }),
        ),
        (
            "context",
            lines(&text, 10, |index, line| {
                if index == 0 || index == 5 {
                    line.to_owned() + "x"
                } else {
                    line.to_owned()
                }
            }),
        ),
        ("miss, 1 line", "nothing like this stands here".to_owned()),
        (
            "miss, 10 lines",
            lines(&text, 10, |index, _| {
                format!("no such line as {index} in here")
            }),
        ),
        (
            "miss, 40 lines",
            lines(&text, 40, |index, line| {
                format!("{} {index}", line.chars().rev().collect::<String>())
            }),
        ),
    ];
    for (name, find) in &finds {
        group.bench_function(*name, |b| {
            b.iter(|| apply(black_box(&text), find, "something else", Reach::One));
        });
    }
    group.finish();
    let mut group = criterion.benchmark_group("patch/growth, miss of 10 lines");
    for kilobytes in [50, 100, 200, 400] {
        let text = prose(kilobytes);
        let find = lines(&text, 10, |index, _| {
            format!("no such line as {index} in here")
        });
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(
            BenchmarkId::from_parameter(format!("{kilobytes} kB")),
            |b| {
                b.iter(|| apply(black_box(&text), &find, "something else", Reach::One));
            },
        );
    }
    group.finish();
}
