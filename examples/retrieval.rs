//! Measures search, and fits its weights, on queries others have labelled: `retrieval eval|fit HOME STORE`. `HOME` is a
//! library that was synced from `STORE/skills`; `STORE` holds `queries.jsonl` and `map.json` as the bench exports them.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;
use skilldb::search::rank::{FEATURES, NAMES};
use skilldb::search::{Query, Searcher, refresh};
use skilldb::store::Store;
use skilldb::sync::Silence;
use skilldb::time::Timestamp;

/// Says a line; a reader that has gone is no trouble.
macro_rules! say {
    ($($words:tt)*) => {
        let _ = writeln!(std::io::stdout(), $($words)*);
    };
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const SLICES: [&str; 7] = [
    "core-en", "behav-en", "explicit", "zh-zhdoc", "zh-latin", "zh-pure", "zh-own",
];
/// Hits that are asked for where weights are fitted: as many as are looked at closely.
const KEPT: usize = 100;
const FOLDS: u32 = 5;

struct Labelled {
    text: String,
    slice: String,
    relevant: Vec<String>,
}

/// A hit as the bench names it, with its features.
struct Found {
    id: String,
    features: Option<[f32; FEATURES]>,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, home, bench] = arguments.as_slice() else {
        return Err("usage: retrieval eval|fit HOME STORE".into());
    };
    let (home, bench) = (Path::new(home), Path::new(bench));
    let names: HashMap<String, String> =
        serde_json::from_str(&std::fs::read_to_string(bench.join("map.json"))?)?;
    let queries = queries(bench)?;
    let Some(mut store) = Store::open(home, Timestamp::from_millis(0))? else {
        return Err("no library there".into());
    };
    let began = Instant::now();
    let refreshed = refresh(&mut store, &Silence)?;
    say!(
        "indexed {} skills in {:.2} s",
        refreshed.indexed,
        began.elapsed().as_secs_f64()
    );
    let mut searcher = Searcher::open(&store)?;
    let limit = if mode == "fit" { KEPT } else { 10 };
    let cpu = cpu_ms();
    let mut all = Vec::with_capacity(queries.len());
    for query in &queries {
        all.push(found(&store, &mut searcher, (&query.text, limit), &names)?);
    }
    #[expect(clippy::cast_precision_loss, reason = "a thousand queries")]
    let each = (cpu_ms() - cpu) / queries.len() as f64;
    say!(
        "{} queries, {each:.3} ms of CPU each, {limit} hits",
        queries.len()
    );
    match mode.as_str() {
        "eval" => tell("as it is", &queries, &|query| ids(&all[query])),
        "fit" => fit(&queries, &all),
        _ => return Err("usage: retrieval eval|fit HOME STORE".into()),
    }
    Ok(())
}

fn cpu_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "seconds of one run")]
    let ms = time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6;
    ms
}

fn queries(bench: &Path) -> Result<Vec<Labelled>> {
    let text = std::fs::read_to_string(bench.join("queries.jsonl"))?;
    let read = |line: &str| -> Result<Labelled> {
        let row: Value = serde_json::from_str(line)?;
        let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let relevant = row["relevant"].as_array().into_iter().flatten();
        Ok(Labelled {
            text: word("query"),
            slice: word("slice"),
            relevant: relevant
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        })
    };
    text.lines().map(read).collect()
}

fn found(
    store: &Store,
    searcher: &mut Searcher,
    (text, limit): (&str, usize),
    names: &HashMap<String, String>,
) -> Result<Vec<Found>> {
    let query = Query {
        text,
        limit,
        with_archived: false,
    };
    let answer = searcher.search(store, &query)?;
    let mut known = HashSet::new();
    Ok(answer
        .hits
        .into_iter()
        .map(|hit| Found {
            id: names
                .get(&hit.skill.name)
                .unwrap_or(&hit.skill.name)
                .clone(),
            features: hit.look.map(|look| look.features),
        })
        .filter(|found| known.insert(found.id.clone()))
        .collect())
}

fn ids(found: &[Found]) -> Vec<&str> {
    found
        .iter()
        .map(|found| found.id.as_str())
        .take(10)
        .collect()
}

/// Several owners' skills of one name are one capability.
fn capability(id: &str) -> &str {
    id.split("--").next().unwrap_or(id)
}

/// Recall at 1, 5 and 10, mean reciprocal rank, normalised gain at 10.
#[expect(
    clippy::cast_precision_loss,
    reason = "ranks up to ten, hundreds of queries"
)]
fn measures(list: &[(&Labelled, Vec<&str>)]) -> [f64; 5] {
    let mut sums = [0.0; 5];
    for (query, ids) in list {
        let wanted: HashSet<&str> = query.relevant.iter().map(|id| capability(id)).collect();
        let hits: Vec<usize> = (0..ids.len())
            .filter(|at| query.relevant.iter().any(|id| id == ids[*at]))
            .collect();
        for (number, most) in [1, 5, 10].into_iter().enumerate() {
            let got: HashSet<&str> = hits
                .iter()
                .filter(|at| **at < most)
                .map(|at| capability(ids[*at]))
                .collect();
            sums[number] += got.len() as f64 / wanted.len() as f64;
        }
        if let Some(first) = hits.first() {
            sums[3] += 1.0 / (*first as f64 + 1.0);
        }
        let gain = |at: usize| 1.0 / (at as f64 + 2.0).log2();
        let mut seen = HashSet::new();
        let gained: f64 = hits
            .iter()
            .filter(|at| seen.insert(capability(ids[**at])))
            .map(|at| gain(*at))
            .sum();
        sums[4] += gained / (0..wanted.len().min(10)).map(gain).sum::<f64>();
    }
    sums.map(|sum| sum / list.len().max(1) as f64)
}

fn tell<'f>(title: &str, queries: &'f [Labelled], ranked: &dyn Fn(usize) -> Vec<&'f str>) {
    say!(
        "\n{title}\n\n| slice | n | R@1 | R@5 | R@10 | MRR | nDCG@10 |\n|---|---|---|---|---|---|---|"
    );
    for slice in SLICES {
        let own: Vec<(&Labelled, Vec<&str>)> = queries
            .iter()
            .enumerate()
            .filter(|(_, query)| query.slice == slice)
            .map(|(number, query)| (query, ranked(number)))
            .collect();
        let [one, five, ten, mrr, gain] = measures(&own);
        say!(
            "| {slice} | {} | {one:.3} | {five:.3} | {ten:.3} | {mrr:.3} | {gain:.3} |",
            own.len()
        );
    }
}

/// Which fold a query is in: those of one skill are together.
fn fold(query: &Labelled) -> u32 {
    let hash = query.relevant[0].bytes().fold(7u32, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(u32::from(byte))
    });
    (hash >> 3) % FOLDS
}

fn fit(queries: &[Labelled], all: &[Vec<Found>]) {
    let english: Vec<usize> = (0..queries.len())
        .filter(|number| matches!(queries[*number].slice.as_str(), "core-en" | "behav-en"))
        .collect();
    let folds: Vec<[f32; FEATURES]> = (0..FOLDS)
        .map(|out| {
            let own: Vec<usize> = english
                .iter()
                .copied()
                .filter(|number| fold(&queries[*number]) != out)
                .collect();
            fitted(queries, all, &own)
        })
        .collect();
    let by = |number: usize, weights: &[f32; FEATURES]| {
        let mut scored: Vec<(f32, &str)> = all[number]
            .iter()
            .map(|found| {
                let features = found.features.unwrap_or_default();
                (dot(weights, &features), found.id.as_str())
            })
            .collect();
        scored.sort_by(|one, other| other.0.total_cmp(&one.0));
        scored.into_iter().map(|(_, id)| id).take(10).collect()
    };
    tell(
        "fitted, each fold by the weights of the others",
        queries,
        &|number| by(number, &folds[fold(&queries[number]) as usize]),
    );
    let weights = fitted(queries, all, &english);
    say!("\nweights of all:");
    for (name, weight) in NAMES.iter().zip(weights) {
        say!("    {weight:.3}, // {name}");
    }
}

fn dot(weights: &[f32; FEATURES], features: &[f32; FEATURES]) -> f32 {
    weights
        .iter()
        .zip(features)
        .map(|(weight, feature)| weight * feature)
        .sum()
}

/// Weights under which the relevant skills are the likeliest of each list (ListNet with a softmax, Cao et al. 2007), by
/// Adam, drawn towards nought.
#[expect(clippy::cast_precision_loss, reason = "hundreds of queries and steps")]
fn fitted(queries: &[Labelled], all: &[Vec<Found>], own: &[usize]) -> [f32; FEATURES] {
    const STEPS: i32 = 400;
    let lists: Vec<Vec<(bool, [f32; FEATURES])>> = own
        .iter()
        .map(|number| {
            let relevant = &queries[*number].relevant;
            all[*number]
                .iter()
                .filter_map(|found| Some((relevant.contains(&found.id), found.features?)))
                .collect()
        })
        .filter(|list: &Vec<(bool, [f32; FEATURES])>| {
            list.iter().any(|(is_relevant, _)| *is_relevant)
        })
        .collect();
    let mut weights = [1.0f32; FEATURES];
    let (mut first, mut second) = ([0.0f32; FEATURES], [0.0f32; FEATURES]);
    for step in 1..=STEPS {
        let mut slope = [0.0f32; FEATURES];
        for list in &lists {
            let scores: Vec<f32> = list
                .iter()
                .map(|(_, features)| dot(&weights, features))
                .collect();
            let top = scores.iter().copied().fold(f32::MIN, f32::max);
            let parts: Vec<f32> = scores.iter().map(|score| (score - top).exp()).collect();
            let whole: f32 = parts.iter().sum();
            let relevant: f32 = list
                .iter()
                .zip(&parts)
                .filter(|((is_relevant, _), _)| *is_relevant)
                .map(|(_, part)| part)
                .sum();
            for ((is_relevant, features), part) in list.iter().zip(&parts) {
                let wanted = if *is_relevant { part / relevant } else { 0.0 };
                let error = part / whole - wanted;
                for (slope, feature) in slope.iter_mut().zip(features) {
                    *slope += error * feature;
                }
            }
        }
        for at in 0..FEATURES {
            let slope = slope[at] / lists.len() as f32 + 0.0005 * weights[at];
            first[at] = 0.9 * first[at] + 0.1 * slope;
            second[at] = 0.999 * second[at] + 0.001 * slope * slope;
            let mean = first[at] / (1.0 - 0.9f32.powi(step));
            let spread = second[at] / (1.0 - 0.999f32.powi(step));
            weights[at] -= 0.05 * mean / (spread.sqrt() + 1e-8);
        }
    }
    weights
}
