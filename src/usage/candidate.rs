//! What is a use if its folder turns out to be a skill's. Codex reads files with a shell: which of them are
//! skills only the library tells, and a root may be added after the history was read.

use super::record::{Recording, record};
use super::resolve::Resolver;
use crate::error::Result;
use crate::store::{Store, Tx};
use crate::time::Timestamp;

/// Keeps a candidate; the same event is kept once.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn add_candidate(tx: &Tx<'_>, recording: &Recording) -> Result<()> {
    let (Some(event_id), Some(folder)) = (&recording.event_id, &recording.path) else {
        return Ok(());
    };
    let text = serde_json::to_string(recording).unwrap_or_default();
    tx.put_candidate(event_id, folder, &text)
}

/// Records the candidates whose folders are skills by now; returns how many by name.
pub(super) fn record_candidates(
    store: &mut Store,
    resolver: &mut Resolver<'_>,
    now: Timestamp,
) -> Result<Vec<(String, u64)>> {
    let mut recorded: Vec<(String, u64)> = Vec::new();
    for folder in store.candidate_folders()? {
        let name = folder.rsplit('/').next().unwrap_or(&folder).to_owned();
        let mut same = store.skills_named(&name)?.into_iter();
        let real = std::path::Path::new(&folder).canonicalize().ok();
        let is_it = same.any(|skill| {
            let path = skill.path();
            path == folder || real.as_deref() == Some(std::path::Path::new(&path))
        });
        if !is_it {
            continue;
        }
        let mut count = 0;
        for text in store.candidates_in(&folder)? {
            if let Ok(recording) = serde_json::from_str::<Recording>(&text) {
                count += u64::from(record(store, resolver, recording, now)?.added.is_new());
            }
        }
        store.append(|tx| tx.drop_candidates(&folder))?;
        recorded.push((name, count));
    }
    Ok(recorded)
}
