//! How well each document fits the terms of a query: BM25 for each field and over all fields (Robertson and Zaragoza, The
//! Probabilistic Relevance Framework, 2009).

use std::collections::HashMap;
use std::rc::Rc;

use super::document::{DESCRIPTION, FIELDS, NAME};
use super::names;
use super::postings::{self, Measures};
use super::terms::is_pair;
use crate::error::Result;
use crate::store::Store;

/// How soon more of the same term says nothing more.
const K1: f32 = 1.2;
/// How much a long field counts against a term, for each field.
const B: [f32; FIELDS] = [0.3, 0.5, 0.4, 0.6, 0.5];
/// What a term in each field weighs.
const WEIGHTS: [f32; FIELDS] = [6.0, 6.0, 1.0, 0.0, 0.25];
/// Documents that are looked at closely.
pub const POOL: usize = 100;

/// What is known of all documents.
#[derive(Debug, Default)]
pub struct Documents {
    all: Vec<Measures>,
    /// As people type them, see [`names::normal`].
    names: Vec<String>,
    /// For each number the place in `all`, `NONE` where there is no such document any more.
    places: Vec<u32>,
    /// For each document and field what a term there counts, by how long the field is.
    scales: Vec<[f32; FIELDS]>,
    unspaced: usize,
}

const NONE: u32 = u32::MAX;

impl Documents {
    /// Reads them.
    ///
    /// # Errors
    /// [`crate::Error::Database`].
    pub fn load(store: &Store) -> Result<Self> {
        let mut documents = Self::default();
        for segment in store.search_segments()? {
            documents
                .all
                .extend(postings::unpack_measures(&segment.measures));
            documents
                .names
                .extend(segment.names.lines().map(names::normal));
        }
        let highest = documents.all.iter().map(|one| one.document).max();
        documents.places = vec![NONE; highest.map_or(0, |highest| highest as usize + 1)];
        for (place, one) in documents.all.iter().enumerate() {
            documents.places[one.document as usize] = u32::try_from(place).unwrap_or(NONE);
            documents.unspaced += usize::from(one.is_unspaced);
        }
        let means = documents.means();
        let scale = |one: &Measures| {
            std::array::from_fn(|field| {
                let length = real(u64::from(one.lengths[field])) / means[field];
                1.0 / (1.0 - B[field] + B[field] * length)
            })
        };
        documents.scales = documents.all.iter().map(scale).collect();
        Ok(documents)
    }

    /// How long each field is in the mean.
    fn means(&self) -> [f32; FIELDS] {
        std::array::from_fn(|field| {
            let lengths = self.all.iter().map(|one| u64::from(one.lengths[field]));
            (real(lengths.sum()) / real(self.all.len().max(1) as u64)).max(1.0)
        })
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// One of them.
    #[must_use]
    pub fn at(&self, place: usize) -> (&Measures, &str) {
        (
            &self.all[place],
            self.names.get(place).map_or("", String::as_str),
        )
    }

    /// Names of all as people type them, in the order of places.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn place(&self, document: u32) -> Option<u32> {
        let place = *self.places.get(document as usize)?;
        (place != NONE).then_some(place)
    }
}

/// A number of things as a real number.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of terms and skills, far below 2^24"
)]
pub(super) fn real(number: u64) -> f32 {
    number as f32
}

/// Several words for one thing, each with its weight: the best of them counts.
pub type Choice = Vec<(String, f32)>;

/// One thing a query asks for, and how rare it is.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// How rare the rarest of its words is, weighed.
    pub rarity: f32,
}

/// How well a document fits.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fit {
    /// Where the document stands among all.
    pub place: usize,
    /// BM25 of each field.
    pub fields: [f32; FIELDS],
    /// BM25 over all fields.
    pub whole: f32,
    /// Rarity of what was found in name or description.
    pub in_head: f32,
    /// Rarity of what was found anywhere.
    pub anywhere: f32,
    /// Rarity of what was found in the name.
    pub in_name: f32,
    /// How many things were found in the name.
    pub named: u32,
    /// Rarity of the pairs of letters that were found in name or description.
    pub paired: f32,
}

/// What a query comes to before the close look.
#[derive(Debug, Default)]
pub struct Scored {
    /// The documents that fit best, the best first, at most [`POOL`].
    pub fits: Vec<Fit>,
    /// What was asked for.
    pub asked: Vec<Asked>,
    /// Rarity of all that was asked for.
    pub total: f32,
}

/// Places of words that were looked up before.
#[derive(Debug, Default)]
pub struct Places {
    known: HashMap<String, Rc<Postings>>,
    count: usize,
}

/// Where a word stands, in the order of places.
type Postings = Vec<(u32, [u8; FIELDS])>;

/// Most places that are remembered, of twelve bytes each.
const MAX_PLACES: usize = 1 << 20;

impl Places {
    fn of(&mut self, store: &Store, documents: &Documents, word: &str) -> Result<Rc<Postings>> {
        if let Some(known) = self.known.get(word) {
            return Ok(Rc::clone(known));
        }
        let mut postings: Postings = Vec::new();
        store.postings(word, |bytes| {
            let live = postings::unpack(bytes)
                .filter_map(|posting| Some((documents.place(posting.document)?, posting.counts)));
            postings.extend(live);
        })?;
        if !postings.is_sorted_by_key(|(place, _)| *place) {
            postings.sort_unstable_by_key(|(place, _)| *place);
        }
        let postings = Rc::new(postings);
        self.count += postings.len();
        if self.count > MAX_PLACES {
            self.known.clear();
            self.count = postings.len();
        }
        self.known.insert(word.to_owned(), Rc::clone(&postings));
        Ok(postings)
    }
}

/// Scores all documents that hold any of the words. `is_wanted` leaves documents out.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn score(
    store: &Store,
    (documents, known): (&Documents, &mut Places),
    choices: &[Choice],
    is_wanted: &dyn Fn(&Measures) -> bool,
) -> Result<Scored> {
    let mut scored = Scored::default();
    let mut sums = vec![0.0f32; documents.count()];
    let mut places: Vec<usize> = Vec::new();
    let mut found: Vec<Vec<Found>> = Vec::with_capacity(choices.len());
    for choice in choices {
        let words: Vec<Found> = choice
            .iter()
            .map(|(word, weight)| {
                let postings = known.of(store, documents, word)?;
                Ok(Found::new(documents, word, *weight, postings))
            })
            .collect::<Result<_>>()?;
        let rarest = words.iter().map(|word| word.rarity).fold(0.0, f32::max);
        scored.total += rarest;
        scored.asked.push(Asked { rarity: rarest });
        add(documents, &words, |place, value| {
            if sums[place] == 0.0 {
                places.push(place);
            }
            sums[place] += value;
        });
        found.push(words);
    }
    places.retain(|place| is_wanted(&documents.all[*place]));
    let order =
        |one: &usize, other: &usize| sums[*other].total_cmp(&sums[*one]).then(one.cmp(other));
    // What stands behind the pool needs no order.
    if places.len() > POOL {
        places.select_nth_unstable_by(POOL - 1, order);
        places.truncate(POOL);
    }
    places.sort_unstable_by(order);
    scored.fits = places
        .into_iter()
        .map(|place| fit(documents, place, sums[place], &found))
        .collect();
    Ok(scored)
}

/// A word, and where it stands.
struct Found {
    /// How rare it is, weighed.
    rarity: f32,
    is_pair: bool,
    postings: Rc<Postings>,
}

impl Found {
    fn new(documents: &Documents, word: &str, weight: f32, postings: Rc<Postings>) -> Self {
        let (is_pair, holding) = (is_pair(word), postings.len());
        // A pair of Han letters is rare in a library of English skills whatever it says: it is measured against its
        // own.
        let among = if is_pair {
            documents.unspaced.max(holding)
        } else {
            documents.count()
        };
        Self {
            rarity: rarity(among, holding) * weight,
            is_pair,
            postings,
        }
    }

    fn at(&self, place: usize) -> Option<[u8; FIELDS]> {
        let place = u32::try_from(place).ok()?;
        let found = self
            .postings
            .binary_search_by_key(&place, |(place, _)| *place);
        found.ok().map(|at| self.postings[at].1)
    }
}

/// Gives for each document what the word that fits best adds.
fn add(documents: &Documents, words: &[Found], mut put: impl FnMut(usize, f32)) {
    let value = |word: &Found, place: usize, counts: [u8; FIELDS]| {
        saturated(weighed(documents, place, counts)) * word.rarity
    };
    if let [word] = words {
        for (place, counts) in word.postings.iter() {
            put(*place as usize, value(word, *place as usize, *counts));
        }
        return;
    }
    let mut all: Vec<(usize, f32)> = words
        .iter()
        .flat_map(|word| {
            let found = word.postings.iter();
            found.map(move |(place, counts)| {
                let place = *place as usize;
                (place, value(word, place, *counts))
            })
        })
        .collect();
    all.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
    all.dedup_by_key(|(place, _)| *place);
    for (place, value) in all {
        put(place, value);
    }
}

/// How rare a word is that so many of so many hold.
fn rarity(among: usize, holding: usize) -> f32 {
    let (among, holding) = (real(among as u64), real(holding as u64));
    (1.0 + (among - holding + 0.5) / (holding + 0.5)).ln()
}

/// How often a word stands in a field, against how long fields are.
fn counted(documents: &Documents, place: usize, field: usize, count: u8) -> f32 {
    f32::from(count) * documents.scales[place][field]
}

fn weighed(documents: &Documents, place: usize, counts: [u8; FIELDS]) -> f32 {
    let fields = (0..FIELDS).filter(|field| counts[*field] > 0);
    fields
        .map(|field| WEIGHTS[field] * counted(documents, place, field, counts[field]))
        .sum()
}

fn fit(documents: &Documents, place: usize, whole: f32, found: &[Vec<Found>]) -> Fit {
    let mut fit = Fit {
        place,
        whole,
        ..Fit::default()
    };
    for words in found {
        let best = words
            .iter()
            .filter_map(|word| {
                let counts = word.at(place)?;
                let value = saturated(weighed(documents, place, counts)) * word.rarity;
                Some((value, word, counts))
            })
            .max_by(|one, other| one.0.total_cmp(&other.0));
        if let Some((_, word, counts)) = best {
            fit.add(documents, word, counts);
        }
    }
    fit
}

impl Fit {
    fn add(&mut self, documents: &Documents, word: &Found, counts: [u8; FIELDS]) {
        let rarity = word.rarity;
        for (field, count) in counts
            .into_iter()
            .enumerate()
            .filter(|(_, count)| *count > 0)
        {
            let count = counted(documents, self.place, field, count);
            self.fields[field] += saturated(count) * rarity;
        }
        self.anywhere += rarity;
        if counts[NAME] > 0 || counts[DESCRIPTION] > 0 {
            self.in_head += rarity;
            self.paired += if word.is_pair { rarity } else { 0.0 };
        }
        if counts[NAME] > 0 {
            self.in_name += rarity;
            self.named += 1;
        }
    }
}

fn saturated(count: f32) -> f32 {
    count / (K1 + count) * (K1 + 1.0)
}
