//! Finds the skill that fits a task: by name, and by what its words say. No model, no network: BM25 over five fields, and a
//! close look at the best hundred. A question in Chinese is asked twice, as it is and through a glossary.

pub mod document;
pub mod glossary;
pub mod names;
pub mod postings;
pub mod rank;
pub mod score;
pub mod terms;
mod update;
mod weights;

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::store::{HitRow, Store};
use glossary::Glossary;
use names::Named;
use rank::{Neighbours, Ranked};
use score::{Choice, Documents, Places, Scored};
use terms::{Terms, is_pair};

pub use update::{Refreshed, refresh};

/// Most things a query asks for; what stands behind is not looked for.
pub const MAX_ASKED: usize = 64;
/// What a use counts: as much as a measured tie-breaker should, and no more.
const USE: f32 = 0.2;
/// A Latin word in a Chinese question is its surest part.
const LATIN: f32 = 1.5;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query<'q> {
    /// In the words of whoever asks.
    pub text: &'q str,
    /// Most hits.
    pub limit: usize,
    /// Skills that are put away, too.
    pub with_archived: bool,
}

/// Why a skill is a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// By its name.
    Name(Named),
    /// By its words.
    Words,
    /// By its words, as the glossary has them.
    Translated,
}

impl Why {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name(Named::Exact) => "name",
            Self::Name(Named::Prefix) => "name begins so",
            Self::Name(Named::Near) => "name is near",
            Self::Words => "words",
            Self::Translated => "words, translated",
        }
    }
}

/// A skill that fits.
#[derive(Debug, Clone)]
pub struct Hit {
    /// What is told of it.
    pub skill: HitRow,
    /// Why it is one.
    pub why: Why,
    /// What the close look came to; `None` for a hit by name alone.
    pub look: Option<Ranked>,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The best first.
    pub hits: Vec<Hit>,
    /// The best one fits; else nothing here may be what was asked for.
    pub is_confident: bool,
    /// Skills that were looked through.
    pub skills: usize,
    /// Skills that fit at all, the hits among them; at most a few hundred are told apart.
    pub fitting: usize,
}

/// Searches, again and again.
pub struct Searcher {
    documents: Documents,
    known: Places,
    neighbours: Neighbours,
    terms: Terms,
    generation: String,
}

impl Searcher {
    /// Reads what every query needs of the index, which [`refresh`] has brought up to date.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn open(store: &Store) -> Result<Self> {
        Ok(Self {
            documents: Documents::load(store)?,
            known: Places::default(),
            neighbours: Neighbours::default(),
            terms: Terms::default(),
            generation: store.search_state()?.0,
        })
    }

    /// Whether the index is what it was when this was opened.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn is_current(&self, store: &Store) -> Result<bool> {
        Ok(store.search_state()?.0 == self.generation)
    }

    /// Finds the skills that fit.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn search(&mut self, store: &Store, query: &Query<'_>) -> Result<Answer> {
        store.at_once(|| self.search_now(store, query))
    }

    fn search_now(&mut self, store: &Store, query: &Query<'_>) -> Result<Answer> {
        let (found, is_confident, fitting) = self.places(store, query)?;
        let mut taken = HashSet::new();
        let chosen: Vec<(i64, Why, Option<Ranked>)> = found
            .into_iter()
            .map(|(place, why, look)| (self.documents.at(place).0.skill, why, look))
            .filter(|(skill, ..)| taken.insert(*skill))
            .take(query.limit)
            .collect();
        let skills: Vec<i64> = chosen.iter().map(|(skill, ..)| *skill).collect();
        let mut rows: HashMap<i64, HitRow> = HashMap::new();
        for row in store.hits(&skills)? {
            rows.insert(row.skill, row);
        }
        // One that is gone since the index was made is left out: the next search knows.
        let hits = chosen
            .into_iter()
            .filter_map(|(skill, why, look)| {
                let skill = rows.remove(&skill)?;
                Some(Hit { skill, why, look })
            })
            .collect();
        Ok(Answer {
            hits,
            is_confident,
            skills: self.documents.count(),
            fitting,
        })
    }

    /// Places of documents, the best first.
    #[expect(clippy::type_complexity, reason = "handed on to the one who asked")]
    fn places(
        &mut self,
        store: &Store,
        query: &Query<'_>,
    ) -> Result<(Vec<(usize, Why, Option<Ranked>)>, bool, usize)> {
        let by_name = names::find(query.text, self.documents.names());
        let looked = self.look(store, query)?;
        let is_confident = by_name.first().is_some_and(|(_, how)| *how == Named::Exact)
            || looked.first().is_some_and(|(_, look)| is_sure(look));
        let fitting = looked.len();
        let mut found: Vec<(usize, Why, Option<Ranked>)> = Vec::new();
        for (place, how) in by_name {
            let measures = self.documents.at(place).0;
            if query.with_archived || !measures.is_archived {
                let look = looked.iter().find(|(_, look)| look.place == place);
                found.push((place, Why::Name(how), look.map(|(_, look)| *look)));
            }
        }
        found.extend(
            looked
                .into_iter()
                .map(|(why, look)| (look.place, why, Some(look))),
        );
        Ok((found, is_confident, fitting))
    }

    /// By words.
    fn look(&mut self, store: &Store, query: &Query<'_>) -> Result<Vec<(Why, Ranked)>> {
        let list = self.terms.list(query.text);
        let mut asked: Vec<&String> = Vec::new();
        for term in &list {
            if asked.len() < MAX_ASKED && !asked.contains(&term) {
                asked.push(term);
            }
        }
        let own: Vec<Choice> = asked
            .iter()
            .map(|term| vec![((*term).clone(), 1.0)])
            .collect();
        let (scored, native) = self.ranked(store, query, &own, &list)?;
        let native = native.into_iter().map(|look| (Why::Words, look));
        if !asked.iter().any(|term| is_pair(term)) {
            return Ok(native.collect());
        }
        let mut choices: Vec<Choice> = Glossary::get()
            .meanings(query.text)
            .into_iter()
            .take(MAX_ASKED)
            .map(|words| {
                let weighed = words.iter().enumerate();
                weighed
                    .map(|(rank, word)| {
                        (word.clone(), 1.0 / (1.0 + 0.25 * score::real(rank as u64)))
                    })
                    .collect()
            })
            .collect();
        choices.extend(
            asked
                .iter()
                .filter(|term| !is_pair(term))
                .map(|term| vec![((*term).clone(), LATIN)]),
        );
        let (_, translated) = self.ranked(store, query, &choices, &[])?;
        let translated = translated.into_iter().map(|look| (Why::Translated, look));
        let is_native = is_native(&scored, &asked);
        Ok(interleave(
            native.collect(),
            translated.collect(),
            is_native,
        ))
    }

    fn ranked(
        &mut self,
        store: &Store,
        query: &Query<'_>,
        choices: &[Choice],
        list: &[String],
    ) -> Result<(Scored, Vec<Ranked>)> {
        let with_archived = query.with_archived;
        let scored = score::score(
            store,
            (&self.documents, &mut self.known),
            choices,
            &|measures| with_archived || !measures.is_archived,
        )?;
        let rarity = |term: &str| {
            let place = choices.iter().position(|choice| choice[0].0 == term);
            place.map_or(0.0, |place| scored.asked[place].rarity)
        };
        let pairs = rank::pairs(list, rarity);
        let mut ranked = rank::rank(
            store,
            (&self.documents, &mut self.neighbours),
            &scored,
            &pairs,
        )?;
        let skill_at = |place: usize| self.documents.at(place).0.skill;
        let skills: Vec<i64> = ranked.iter().map(|look| skill_at(look.place)).collect();
        let uses: HashMap<i64, u64> = store.uses_of(&skills)?.into_iter().collect();
        for look in &mut ranked {
            if let Some(uses) = uses.get(&skill_at(look.place)) {
                look.score += USE * score::real(*uses).ln_1p();
            }
        }
        ranked.sort_by(|one, other| {
            other
                .score
                .total_cmp(&one.score)
                .then(one.place.cmp(&other.place))
        });
        Ok((scored, ranked))
    }

    /// What is known of the documents, for whoever measures.
    #[must_use]
    pub fn documents(&self) -> &Documents {
        &self.documents
    }
}

/// Whether enough of the question, as it was asked, stands in one of the skills that fit best.
fn is_native(scored: &Scored, asked: &[&String]) -> bool {
    let pairs: f32 = asked
        .iter()
        .zip(&scored.asked)
        .filter(|(term, _)| is_pair(term))
        .map(|(_, asked)| asked.rarity)
        .sum();
    let mut fits = scored.fits.iter().take(3);
    fits.any(|best| best.paired > NATIVE * pairs)
}

/// How much of a Chinese question stands in name and description of a skill that answers it in Chinese: measured, most of
/// such questions have more, most of those that English skills answer have less.
const NATIVE: f32 = 0.12;

/// One of each in turn.
fn interleave(
    native: Vec<(Why, Ranked)>,
    translated: Vec<(Why, Ranked)>,
    native_first: bool,
) -> Vec<(Why, Ranked)> {
    let (first, second) = if native_first {
        (native, translated)
    } else {
        (translated, native)
    };
    let mut found: Vec<(Why, Ranked)> = Vec::with_capacity(first.len() + second.len());
    let mut known = HashSet::new();
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    loop {
        let (one, other) = (first.next(), second.next());
        if one.is_none() && other.is_none() {
            return found;
        }
        for (why, look) in [one, other].into_iter().flatten() {
            if known.insert(look.place) {
                found.push((why, look));
            }
        }
    }
}

/// Whether a skill fits well enough to be what was asked for.
fn is_sure(look: &Ranked) -> bool {
    let score: f32 = look.shares().iter().sum();
    score >= SURE || look.coverage >= WHOLE
}

/// A skill that reaches this is the right one's equal: of the first hits that are right 92 in 100 do, and 44 in 100 of those
/// that come first when the right one is not there (`benches/retrieval`, English questions).
const SURE: f32 = 11.0;
/// The share of a question, by rarity, that is as good as all of it.
const WHOLE: f32 = 0.95;
