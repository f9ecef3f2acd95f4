//! Scans the folders of a list, one process for all: `guard_worker LIST OUT` writes one line of JSON a folder. For
//! benches that put several scanners beside each other.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::time::Instant;

use serde_json::{Map, Value, json};
use skilldb::guard::{Bundle, Guard, Report};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(list), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: guard_worker LIST OUT".into());
    };
    let guard = Guard::default();
    writeln!(
        std::io::stderr(),
        "skilldb {} rules {}",
        env!("CARGO_PKG_VERSION"),
        guard.version()
    )?;
    let mut out = std::io::BufWriter::new(std::fs::File::create(out)?);
    for folder in BufReader::new(std::fs::File::open(list)?).lines() {
        let folder = folder?;
        let (began, cpu) = (Instant::now(), cpu_ms());
        let scanned = Bundle::read(Path::new(&folder)).map(|bundle| guard.scan(&bundle));
        let (ms, cpu) = (began.elapsed().as_secs_f64() * 1e3, cpu_ms() - cpu);
        let mut line = match scanned {
            Ok(report) => told(&folder, &report),
            Err(error) => json!({"dir": folder, "verdict": "error", "err": error.to_string()}),
        };
        line["ms"] = json!(ms);
        line["cpu"] = json!(cpu);
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// CPU time of this thread, in milliseconds.
fn cpu_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "seconds of one run")]
    let ms = time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6;
    ms
}

fn told(folder: &str, report: &Report) -> Value {
    let mut counts: Map<String, Value> = Map::new();
    for finding in &report.findings {
        let count = counts
            .get(finding.severity.as_str())
            .and_then(Value::as_u64)
            .unwrap_or(0);
        counts.insert(finding.severity.as_str().to_owned(), json!(count + 1));
    }
    let rules: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| json!([finding.rule, finding.severity.as_str(), finding.place()]))
        .collect();
    json!({"dir": folder, "verdict": report.verdict.as_str(), "sev": counts, "rules": rules})
}
