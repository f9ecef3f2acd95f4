//! Reads histories that are files of lines: each file from where it was read to, each line once.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::claude::{self, ClaudeState};
use super::codex::{self, CodexState, CodexUse};
use super::files::{self, HistoryFile};
use super::found::{Found, FoundUse};
use super::places::{candidate, codex_skill};
use super::shell_rule::Kind;
use super::sink::Sink;
use super::summary::{Summary, Warning};
use super::{LineClient, Options};
use crate::error::{Error, Result};
use crate::store::{ImportFile, Store, Trigger, UseKind};
use crate::sync::Unit;
use crate::time::Timestamp;

/// Longest line that is read, in bytes; a longer one is told and left out.
const LONGEST: u64 = 64 * 1024 * 1024;
/// Found things that make a batch.
const BATCH: usize = 200;
/// Bytes after which progress is noted within a file.
const SAVE_EVERY: u64 = 64 * 1024 * 1024;
const BUFFER: usize = 256 * 1024;

/// Imports the histories below `path`.
pub(super) fn import(
    store: &mut Store,
    client: LineClient,
    path: &Path,
    options: &Options<'_>,
) -> Result<Summary> {
    let mut summary = Summary::default();
    let found = find_files(client, path, &mut summary)?;
    summary.files = found.len() as u64;
    let known: HashMap<String, ImportFile> = store
        .import_files(client.id())?
        .into_iter()
        .map(|file| (file.path.clone(), file))
        .collect();
    let (due, same): (Vec<HistoryFile>, Vec<HistoryFile>) = found
        .into_iter()
        .partition(|file| is_due(file, known.get(&key(file)), options));
    summary.unchanged = same.len() as u64;
    let mut due: Vec<(Timestamp, HistoryFile)> = due
        .into_iter()
        .map(|file| (order(client, &file), file))
        .collect();
    due.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| name(&a.1).cmp(name(&b.1))));
    let read_before =
        |file: &HistoryFile| known.get(&key(file)).map_or(0, |known| known.read_bytes);
    let total = due
        .iter()
        .map(|(_, file)| file.size.saturating_sub(read_before(file)))
        .sum();
    options
        .progress
        .begin("importing", Unit::Bytes, Some(total));
    let mut import = Import {
        client,
        sink: Sink::new(store, client.id(), options),
        options,
        summary,
        sessions: HashSet::new(),
        unknown: HashSet::new(),
    };
    for (_, file) in &due {
        import.file(file, known.get(&key(file)))?;
    }
    options.progress.end();
    import.sink.store.adopt_costs()?;
    import.summary.sessions = import.sessions.len() as u64;
    Ok(import.summary)
}

/// What decides which of two files is read first: the one that wrote the lines they share. A continuation of
/// a session ends after it; a fork of Codex is named after the time it began at.
fn order(client: LineClient, file: &HistoryFile) -> Timestamp {
    match client {
        LineClient::ClaudeCode => files::last_time(file),
        LineClient::Codex => Timestamp::from_millis(0),
    }
}

fn name(file: &HistoryFile) -> &OsStr {
    file.path.file_name().unwrap_or_default()
}

fn key(file: &HistoryFile) -> String {
    file.path.to_string_lossy().into_owned()
}

/// Lists the files of a client's home, of a folder of histories, or the one file.
fn find_files(client: LineClient, path: &Path, summary: &mut Summary) -> Result<Vec<HistoryFile>> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let inner: Vec<PathBuf> = client
        .folders()
        .iter()
        .map(|folder| path.join(folder))
        .filter(|folder| folder.is_dir())
        .collect();
    let places = if inner.is_empty() { vec![path] } else { inner };
    let mut found = Vec::new();
    for place in places {
        found.extend(files::list(
            &place,
            &|name| client.wants(name),
            &mut |path, error| {
                summary.warn(Warning {
                    path: path.to_path_buf(),
                    line: None,
                    column: None,
                    message: format!("could not be read: {error}"),
                });
            },
        )?);
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Whether there is something in a file that was not read, or that is asked for only now.
fn is_due(file: &HistoryFile, known: Option<&ImportFile>, options: &Options<'_>) -> bool {
    let since = options.since.map(|since| since.to_string());
    match known {
        Some(known) if reaches_back(known, since.as_deref()) => {
            known.size != file.size
                || known.ctime_ns != file.ctime_ns
                || known.read_bytes > file.size
        }
        Some(_) => true,
        // Whatever is in a file was written before its last write.
        None => options.since.is_none_or(|since| file.written_at() >= since),
    }
}

/// Whether a file was read as far back as somebody asks.
fn reaches_back(known: &ImportFile, since: Option<&str>) -> bool {
    match (known.since.as_deref(), since) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(known), Some(since)) => known <= since,
    }
}

/// What a reader remembers.
#[derive(Serialize, Deserialize)]
enum Reader {
    Claude(ClaudeState),
    Codex(CodexState),
}

struct Import<'i> {
    client: LineClient,
    sink: Sink<'i>,
    options: &'i Options<'i>,
    summary: Summary,
    sessions: HashSet<String>,
    /// Folders that Codex read a SKILL.md or ran a script of, and that are no skill's as far as is known.
    unknown: HashSet<String>,
}

/// A file while it is being read.
struct Open {
    lines: BufReader<File>,
    reader: Reader,
    at: ImportFile,
    saved: u64,
}

impl Import<'_> {
    /// Reads what is new in a file. One that cannot be read is told, and the others go on.
    fn file(&mut self, file: &HistoryFile, known: Option<&ImportFile>) -> Result<()> {
        let mut open = match self.open(file, known) {
            Ok(open) => open,
            Err(Error::Io { source, .. }) => {
                self.warn(&file.path, None, format!("could not be read: {source}"));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.note_session(&file.path);
        let mut found = Vec::new();
        let mut line = Vec::new();
        while let Some(length) = self.next(file, &mut open, &mut line) {
            if !self.take(file, &mut open, &line, &mut found) {
                break;
            }
            self.advance(length);
            let is_save_due = open.at.read_bytes - open.saved >= SAVE_EVERY;
            if found.len() >= BATCH || is_save_due {
                self.save(file, &mut open, &mut found, is_save_due)?;
            }
        }
        match &mut open.reader {
            Reader::Claude(state) => claude::flush(state, &mut found),
            Reader::Codex(state) => {
                let mut uses = Vec::new();
                codex::flush(state, &mut uses);
                found.extend(uses.into_iter().map(|found| codex_use(state, found)));
            }
        }
        self.save(file, &mut open, &mut found, true)
    }

    /// Reads the next line of a length that can be read; returns how many bytes it has.
    fn next(&mut self, file: &HistoryFile, open: &mut Open, line: &mut Vec<u8>) -> Option<u64> {
        loop {
            match next_line(&mut open.lines, line) {
                Ok(Step::Line(length)) => return Some(length),
                Ok(Step::End) => return None,
                Ok(Step::TooLong(length)) => {
                    open.at.read_lines += 1;
                    open.at.read_bytes += length;
                    let words = "longer than 64 MiB, left out".to_owned();
                    self.warn(&file.path, Some(open.at.read_lines), words);
                }
                Err(error) => {
                    let words = format!("could not be read to its end: {error}");
                    self.warn(&file.path, None, words);
                    return None;
                }
            }
        }
    }

    /// Takes what a line tells, and notes that it was read. False where reading ends: the line, or the file,
    /// is not one to be read now.
    fn take(
        &mut self,
        file: &HistoryFile,
        open: &mut Open,
        line: &[u8],
        found: &mut Vec<Found>,
    ) -> bool {
        let text = files::without_padding(line);
        if open.at.read_bytes == 0 && files::is_utf16(text) {
            self.warn(&file.path, None, "is UTF-16, not read".to_owned());
            open.at.read_bytes = file.size;
            return false;
        }
        let is_whole = line.ends_with(b"\n");
        if !text.is_empty()
            && let Err(message) = self.line(&mut open.reader, text, found)
        {
            let number = Some(open.at.read_lines + 1);
            if !is_whole {
                // It may still be being written: it is read again when there is more.
                self.warn(&file.path, number, format!("cut off: {message}"));
                return false;
            }
            self.warn(&file.path, number, message);
        }
        // Counted by line ends: that of a whole last line may come later.
        open.at.read_lines += u64::from(is_whole);
        open.at.read_bytes += line.len() as u64;
        self.summary.lines += 1;
        true
    }

    fn advance(&mut self, length: u64) {
        self.summary.bytes += length;
        self.options.progress.advance(length);
    }

    fn warn(&mut self, path: &Path, line: Option<u64>, message: String) {
        self.summary.warn(Warning {
            path: path.to_path_buf(),
            line,
            column: None,
            message,
        });
    }

    /// Opens a file where it was read to; at its beginning when it is another one by now.
    fn open(&mut self, file: &HistoryFile, known: Option<&ImportFile>) -> Result<Open> {
        let fail = || Error::io("read", &file.path);
        let mut handle = File::open(&file.path).map_err(fail())?;
        let since = self.options.since.map(|since| since.to_string());
        let resumed = match known {
            Some(known)
                if known.read_bytes <= file.size && reaches_back(known, since.as_deref()) =>
            {
                let print = files::fingerprint(&mut handle, known.read_bytes).map_err(fail())?;
                (print == known.fingerprint).then_some(known)
            }
            _ => None,
        };
        let mut at = ImportFile {
            path: key(file),
            since: since.clone(),
            ..ImportFile::default()
        };
        let mut reader = None;
        if let Some(known) = resumed {
            at.read_bytes = known.read_bytes;
            at.read_lines = known.read_lines;
            // What is left out now is missing, however far back the rest was read.
            at.since = since.clone().max(known.since.clone());
            let state = self
                .sink
                .store
                .import_state(self.client.id(), &known.path)?;
            reader = state.and_then(|state| serde_json::from_str(&state).ok());
            if reader.is_none() {
                at.read_bytes = 0;
                at.read_lines = 0;
            }
        }
        handle
            .seek(SeekFrom::Start(at.read_bytes))
            .map_err(fail())?;
        Ok(Open {
            lines: BufReader::with_capacity(BUFFER, handle),
            reader: reader.unwrap_or_else(|| self.fresh_reader(&file.path)),
            saved: at.read_bytes,
            at,
        })
    }

    fn fresh_reader(&self, path: &Path) -> Reader {
        match self.client {
            LineClient::ClaudeCode => {
                let mut state = ClaudeState::default();
                state.subagent = subagent_of(path);
                Reader::Claude(state)
            }
            LineClient::Codex => {
                let mut state = CodexState::default();
                state.session_id = codex_session(path);
                Reader::Codex(state)
            }
        }
    }

    /// Counts sessions by their files; a subagent's file belongs to its session.
    fn note_session(&mut self, path: &Path) {
        if self.client == LineClient::ClaudeCode && subagent_of(path).is_some() {
            self.summary.subagents += 1;
            return;
        }
        let name = path.file_stem().unwrap_or_default();
        self.sessions.insert(name.to_string_lossy().into_owned());
    }

    fn line(
        &mut self,
        reader: &mut Reader,
        line: &[u8],
        found: &mut Vec<Found>,
    ) -> std::result::Result<(), String> {
        match reader {
            Reader::Claude(state) => claude::read_line(state, line, found),
            Reader::Codex(state) => {
                let store = &*self.sink.store;
                let home = self.options.user_home;
                let unknown = RefCell::new(HashSet::new());
                let skill_of = |path: &str, kind: Kind| {
                    codex_skill(store, home, path, kind).or_else(|| {
                        let folder = candidate(home, path, kind)?;
                        unknown.borrow_mut().insert(folder.clone());
                        Some(folder)
                    })
                };
                let mut uses = Vec::new();
                codex::read_line(state, line, &skill_of, &mut uses)?;
                self.unknown.extend(unknown.into_inner());
                found.extend(uses.into_iter().map(|found| codex_use(state, found)));
                let settled = state.settled.drain(..);
                found.extend(settled.map(|(id, ok)| Found::Outcome(id, ok)));
                Ok(())
            }
        }
    }

    /// A use of a folder that no skill of the library lies in may be one, or work on somebody's files.
    fn set_candidates_apart(&self, found: Vec<Found>) -> Vec<Found> {
        let is_unknown = |found: &FoundUse| {
            let path = found.path.as_ref();
            !found.is_again
                && found.trigger == Trigger::Model
                && path.is_some_and(|path| self.unknown.contains(path))
        };
        found
            .into_iter()
            .map(|found| match found {
                Found::Use(found) if is_unknown(&found) => Found::Candidate(found),
                other => other,
            })
            .collect()
    }

    /// Writes what was found, with how far the file was read when `notes_place`.
    fn save(
        &mut self,
        file: &HistoryFile,
        open: &mut Open,
        found: &mut Vec<Found>,
        notes_place: bool,
    ) -> Result<()> {
        let found = std::mem::take(found);
        let fallback = file.written_at();
        if !notes_place {
            let found = self.set_candidates_apart(found);
            return self.sink.put(found, fallback, None, &mut self.summary);
        }
        open.saved = open.at.read_bytes;
        let print = File::open(&file.path)
            .and_then(|mut handle| files::fingerprint(&mut handle, open.at.read_bytes));
        open.at.fingerprint = print.unwrap_or_default();
        open.at.size = file.size;
        open.at.ctime_ns = file.ctime_ns;
        open.at.state = serde_json::to_string(&open.reader).ok();
        let found = self.set_candidates_apart(found);
        self.sink
            .put(found, fallback, Some(&open.at), &mut self.summary)
    }
}

enum Step {
    Line(u64),
    TooLong(u64),
    End,
}

/// Reads a line with its line end. A line that is too long is passed over without being held.
fn next_line(lines: &mut BufReader<File>, line: &mut Vec<u8>) -> io::Result<Step> {
    line.clear();
    let length = lines.by_ref().take(LONGEST).read_until(b'\n', line)? as u64;
    if length == 0 {
        return Ok(Step::End);
    }
    if length < LONGEST || line.ends_with(b"\n") {
        return Ok(Step::Line(length));
    }
    let rest = lines.skip_until(b'\n')? as u64;
    line.clear();
    line.shrink_to(BUFFER);
    Ok(Step::TooLong(length + rest))
}

/// The subagent whose file it is: `subagents/agent-ID.jsonl`.
fn subagent_of(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    name.strip_prefix("agent-").map(str::to_owned)
}

/// The session's id at the end of a rollout's name: `rollout-2026-01-02T03-04-05-UUID`.
fn codex_session(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    let id = name.get(name.len().checked_sub(36)?..)?;
    Some(id.to_owned())
}

fn codex_use(state: &CodexState, found: CodexUse) -> Found {
    Found::Use(Box::new(FoundUse {
        event_id: found.event_id,
        name: found.name,
        path: found.path,
        kind: UseKind::Use,
        trigger: if found.is_typed {
            Trigger::Slash
        } else {
            Trigger::Model
        },
        session: state.session_id.clone(),
        subagent: state.subagent.clone(),
        channel: state.channel.clone(),
        project: state.cwd.clone(),
        at: found.at,
        ok: found.ok,
        args: found.args,
        file: None,
        is_again: false,
    }))
}
