//! Brings the index to what the mirror says: skills whose text changed are taken apart anew, the rest is left alone.

use std::collections::HashMap;
use std::sync::Mutex;

use serde_json::Value;

use super::document::{Document, Source};
use super::postings::{self, Measures, Posting};
use super::terms::Terms;
use crate::error::Result;
use crate::store::{NewDocument, SegmentRow, Store, ToIndex};
use crate::sync::{Progress, Unit};

/// Raised when texts are taken apart in another way: an index of another format is made anew.
const FORMAT: &str = "1";
/// Skills that are taken apart before the next are read.
const BATCH: usize = 512;
/// Most threads that take texts apart.
const MAX_THREADS: usize = 8;
/// Most bytes of a body that are looked at for headings.
const MAX_TEXT: usize = 256 * 1024;
/// More parts than this are put together: each is read once more for every term of a query.
const MAX_SEGMENTS: usize = 6;

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Refreshed {
    /// Skills that were taken apart.
    pub indexed: usize,
    /// Texts that were forgotten.
    pub dropped: usize,
}

/// Brings the index to what the mirror says.
///
/// # Errors
/// [`crate::Error::Database`], [`crate::Error::Locked`], [`crate::Error::DamagedBytes`].
pub fn refresh(store: &mut Store, progress: &dyn Progress) -> Result<Refreshed> {
    let mut refreshed = Refreshed::default();
    // Whoever else indexes at the same time has done the work.
    for _ in 0..3 {
        let (seen, format) = store.search_state()?;
        let generation = store.generation()?.unwrap_or_default();
        if format == FORMAT && seen == generation {
            break;
        }
        if format != FORMAT && !format.is_empty() {
            store.write(|tx| {
                tx.clear_index()?;
                Ok(())
            })?;
            continue;
        }
        if let Some(done) = one_pass(store, (&seen, &generation), progress)? {
            refreshed = done;
            join(store, &generation)?;
            break;
        }
    }
    Ok(refreshed)
}

/// `None` when another process has changed the index meanwhile.
fn one_pass(
    store: &mut Store,
    (seen, generation): (&str, &str),
    progress: &dyn Progress,
) -> Result<Option<Refreshed>> {
    let due = store.to_index()?;
    let gone = store.to_unindex()?;
    let documents = take_apart(store, &due, progress)?;
    let segments = store.search_segments()?;
    let is_claimed = store.write(|tx| {
        if !tx.claim_index(seen, generation, FORMAT)? {
            return Ok(false);
        }
        for (document, _) in &gone {
            tx.drop_document(*document)?;
        }
        for segment in &segments {
            let is_left = |number: u32| !gone.iter().any(|(document, _)| *document == number);
            if gone.iter().any(|(_, id)| *id == segment.id) {
                tx.put_segment(&without(segment, is_left))?;
            }
        }
        if documents.is_empty() {
            return Ok(true);
        }
        let first = tx.take_documents(documents.len())?;
        let segment = tx.next_segment()?;
        let mut terms: HashMap<&str, Vec<Posting>> = HashMap::new();
        let mut measures = Vec::with_capacity(documents.len());
        let mut names = String::new();
        for ((skill, document), number) in due.iter().zip(&documents).zip(first..) {
            tx.put_document(
                segment,
                &NewDocument {
                    document: number,
                    skill: skill.skill,
                    mark: &skill.mark,
                    head_pairs: &postings::pack_pairs(&document.head_pairs),
                    body_pairs: &postings::pack_pairs(&document.body_pairs),
                },
            )?;
            measures.push(Measures {
                is_archived: skill.is_archived,
                ..Measures::of(number, skill.skill, document)
            });
            names.push_str(&skill.name.replace('\n', " "));
            names.push('\n');
            for (term, counts) in &document.terms {
                terms.entry(term).or_default().push(Posting {
                    document: number,
                    counts: *counts,
                });
            }
        }
        let mut terms: Vec<(&str, Vec<Posting>)> = terms.into_iter().collect();
        terms.sort_unstable_by_key(|(term, _)| *term);
        for (term, list) in &terms {
            tx.put_term(term, segment, &postings::pack(list))?;
        }
        tx.put_segment(&SegmentRow {
            id: segment,
            documents: documents.len(),
            measures: postings::pack_measures(&measures),
            names,
        })?;
        Ok(true)
    })?;
    Ok(is_claimed.then_some(Refreshed {
        indexed: due.len(),
        dropped: gone.len(),
    }))
}

/// A segment without the documents that are no more.
fn without(segment: &SegmentRow, is_left: impl Fn(u32) -> bool) -> SegmentRow {
    let (mut left, mut names) = (Vec::new(), String::new());
    let all = postings::unpack_measures(&segment.measures);
    for (measures, name) in all.into_iter().zip(segment.names.lines()) {
        if is_left(measures.document) {
            left.push(measures);
            names.push_str(name);
            names.push('\n');
        }
    }
    SegmentRow {
        measures: postings::pack_measures(&left),
        names,
        id: segment.id,
        documents: segment.documents,
    }
}

/// Takes the texts of skills apart, on as many threads as the machine has.
fn take_apart(store: &Store, due: &[ToIndex], progress: &dyn Progress) -> Result<Vec<Document>> {
    let mut documents = Vec::with_capacity(due.len());
    if due.is_empty() {
        return Ok(documents);
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(MAX_THREADS).min(due.len().div_ceil(16)).max(1);
    let mut terms: Vec<Terms> = (0..threads).map(|_| Terms::default()).collect();
    progress.begin("Indexing", Unit::Skills, Some(due.len() as u64));
    for batch in due.chunks(BATCH) {
        let sources: Vec<Source> = batch
            .iter()
            .map(|skill| source(store, skill))
            .collect::<Result<_>>()?;
        let share = sources.len().div_ceil(threads);
        let done: Mutex<Vec<(usize, Vec<Document>)>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for (number, (part, terms)) in sources.chunks(share).zip(&mut terms).enumerate() {
                let done = &done;
                scope.spawn(move || {
                    let own: Vec<Document> =
                        part.iter().map(|one| Document::of(one, terms)).collect();
                    if let Ok(mut done) = done.lock() {
                        done.push((number, own));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_default();
        done.sort_unstable_by_key(|(number, _)| *number);
        documents.extend(done.into_iter().flat_map(|(_, own)| own));
        progress.advance(batch.len() as u64);
    }
    progress.end();
    Ok(documents)
}

/// What of a skill is indexed.
fn source(store: &Store, skill: &ToIndex) -> Result<Source> {
    let bytes = store.bytes(&skill.content)?.unwrap_or_default();
    let body = bytes.get(skill.body_offset..).unwrap_or_default();
    let body = &body[..body.len().min(MAX_TEXT)];
    let mut tags = format!("{}\n{}\n", skill.tags, skill.category);
    if let Ok(frontmatter) = serde_json::from_str::<Value>(&skill.frontmatter) {
        for place in [
            &frontmatter,
            &frontmatter["metadata"],
            &frontmatter["metadata"]["hermes"],
        ] {
            for key in [
                "triggers",
                "trigger",
                "when_to_use",
                "when-to-use",
                "keywords",
                "aliases",
            ] {
                words(&place[key], &mut tags);
            }
        }
    }
    Ok(Source {
        name: skill.name.clone(),
        description: skill.description.clone(),
        tags,
        body: String::from_utf8_lossy(body).into_owned(),
    })
}

/// All text in a value.
fn words(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            into.push('\n');
        }
        Value::Array(list) => list.iter().for_each(|one| words(one, into)),
        Value::Object(map) => map.values().for_each(|one| words(one, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Puts small segments together when there are many, and all of them when the largest is mostly gone.
fn join(store: &mut Store, generation: &str) -> Result<()> {
    let segments = store.search_segments()?;
    let live = |row: &SegmentRow| row.names.lines().count();
    let is_wasted = segments.iter().any(|row| live(row) * 2 < row.documents);
    if segments.len() <= MAX_SEGMENTS && !is_wasted {
        return Ok(());
    }
    let largest = segments
        .iter()
        .max_by_key(|row| live(row))
        .map_or(0, |row| row.id);
    let (whole, rest): (usize, usize) = segments.iter().fold((0, 0), |(whole, rest), row| {
        if row.id == largest {
            (live(row), rest)
        } else {
            (whole, rest + live(row))
        }
    });
    let keeps_largest = !is_wasted && rest * 2 < whole;
    let chosen: Vec<&SegmentRow> = segments
        .iter()
        .filter(|row| !(keeps_largest && row.id == largest))
        .collect();
    let mut known: Vec<(Measures, &str)> = chosen
        .iter()
        .flat_map(|row| {
            postings::unpack_measures(&row.measures)
                .into_iter()
                .zip(row.names.lines())
        })
        .collect();
    known.sort_by_key(|(measures, _)| measures.document);
    let ids: Vec<i64> = chosen.iter().map(|row| row.id).collect();
    let mut terms: Vec<(String, Vec<Posting>)> = Vec::new();
    store.terms_of(&ids, |term, bytes| {
        let is_left = |posting: &Posting| {
            known
                .binary_search_by_key(&posting.document, |(measures, _)| measures.document)
                .is_ok()
        };
        let own = postings::unpack(bytes).filter(is_left);
        match terms.last_mut() {
            Some((last, list)) if last == term => list.extend(own),
            _ => terms.push((term.to_owned(), own.collect())),
        }
        Ok(())
    })?;
    let measures: Vec<Measures> = known.iter().map(|(measures, _)| *measures).collect();
    let names: String = known.iter().map(|(_, name)| format!("{name}\n")).collect();
    store.write(|tx| {
        // Another process was here meanwhile: it, or the next search, does this.
        if !tx.claim_index(generation, generation, FORMAT)? {
            return Ok(());
        }
        let into = tx.next_segment()?;
        tx.fold_segments(&ids, into)?;
        for (term, list) in &mut terms {
            list.sort_unstable_by_key(|posting| posting.document);
            if !list.is_empty() {
                tx.put_term(term, into, &postings::pack(list))?;
            }
        }
        tx.put_segment(&SegmentRow {
            id: into,
            documents: measures.len(),
            measures: postings::pack_measures(&measures),
            names,
        })
    })
}
