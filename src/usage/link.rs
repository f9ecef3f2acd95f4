//! Links events whose skill was not there when they were recorded.

use std::collections::BTreeSet;

use super::candidate::record_candidates;
use super::resolve::{Call, Meant, Resolver};
use crate::error::Result;
use crate::store::Store;
use crate::time::Timestamp;

/// Events that found their skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    /// The name they were called by.
    pub name: String,
    /// How many.
    pub events: u64,
}

/// Looks at all events without a skill again, if skills appeared since the last time.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn link_waiting(
    store: &mut Store,
    resolver: &mut Resolver<'_>,
    now: Timestamp,
) -> Result<Vec<Linked>> {
    if !store.is_link_due()? {
        return Ok(Vec::new());
    }
    let mut linked = Vec::new();
    for name in store.open_names()? {
        let found = link_name(store, resolver, &name)?;
        linked.extend(found);
    }
    for (name, events) in record_candidates(store, resolver, now)? {
        linked.push(Linked { name, events });
    }
    linked.retain(|linked| linked.events > 0);
    store.append(|tx| {
        tx.links_are_done()?;
        Ok(linked)
    })
}

fn link_name(store: &mut Store, resolver: &mut Resolver<'_>, name: &str) -> Result<Option<Linked>> {
    let mut links = Vec::new();
    for call in store.open_calls(name)? {
        let meant = Call {
            name: &call.called_name,
            path: call.called_path.as_deref(),
            client: call.client.as_deref(),
            project: call.project.as_deref(),
        };
        if let Meant::Skill(skill) = resolver.resolve(store, meant)? {
            links.push((call.id, skill.id));
        }
    }
    let change = Call {
        name,
        ..Call::default()
    };
    let changed = resolver
        .resolve(store, change)?
        .skill()
        .map(|skill| skill.id);
    if links.is_empty() && changed.is_none() {
        return Ok(None);
    }
    let skills: BTreeSet<i64> = links.iter().map(|(_, skill)| *skill).collect();
    store.append(|tx| {
        for (event, skill) in &links {
            tx.link_event(*event, *skill)?;
        }
        for skill in &skills {
            tx.recount(Some(*skill))?;
        }
        match changed {
            Some(skill) => tx.link_changes(name, skill),
            None => Ok(()),
        }
    })?;
    let linked = Linked {
        name: name.to_owned(),
        events: links.len() as u64,
    };
    Ok((linked.events > 0).then_some(linked))
}
