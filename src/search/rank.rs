//! The close look: fourteen features of each of the best hundred, and what each weighs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::document::{BODY, DESCRIPTION, NAME, pair_hash};
use super::postings::unpack_pairs;
use super::score::{Documents, Fit, Scored, real};
use super::weights::WEIGHTS;
use crate::error::Result;
use crate::store::Store;

/// How many features there are.
pub const FEATURES: usize = 14;

/// What they are called.
pub const NAMES: [&str; FEATURES] = [
    "name",
    "description",
    "tags",
    "headings",
    "body",
    "whole",
    "in_head",
    "anywhere",
    "in_name",
    "head_pairs",
    "body_pairs",
    "head_length",
    "body_length",
    "rank",
];

/// How rare a word of a name is taken to be that the query does not hold.
const UNASKED: f32 = 6.0;

/// A document with its features.
#[derive(Debug, Clone, Copy)]
pub struct Ranked {
    /// Where the document stands among all.
    pub place: usize,
    /// The features, in the order of [`NAMES`].
    pub features: [f32; FEATURES],
    /// What they come to.
    pub score: f32,
    /// How much of what was asked for stands in it, by rarity: 0 to 1.
    pub coverage: f32,
}

impl Ranked {
    /// What each feature adds to the score.
    #[must_use]
    pub fn shares(&self) -> [f32; FEATURES] {
        let mut shares = self.features;
        for (share, weight) in shares.iter_mut().zip(WEIGHTS) {
            *share *= weight;
        }
        shares
    }
}

/// Neighbours of documents that were looked at before.
#[derive(Debug, Default)]
pub struct Neighbours {
    known: HashMap<u32, Beside>,
}

/// In name and description, and in the body: in order.
type Beside = (Vec<u16>, Vec<u16>);

/// Most documents whose neighbours are remembered: some two kilobytes each.
const MAX_KNOWN: usize = 12_000;

impl Neighbours {
    fn of(&mut self, store: &Store, document: u32) -> Result<&Beside> {
        if self.known.len() >= MAX_KNOWN && !self.known.contains_key(&document) {
            self.known.clear();
        }
        match self.known.entry(document) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let read = store.neighbours(document, |head, body| {
                    (unpack_pairs(head), unpack_pairs(body))
                })?;
                Ok(place.insert(read.unwrap_or_default()))
            }
        }
    }
}

/// Neighbours of a query, and how rare they are.
pub type Pairs = Vec<(u16, f32)>;

/// The neighbours among the terms of a query.
#[must_use]
pub fn pairs(terms: &[String], rarity: impl Fn(&str) -> f32) -> Pairs {
    terms
        .windows(2)
        .map(|pair| {
            let mean = f32::midpoint(rarity(&pair[0]), rarity(&pair[1]));
            (pair_hash(&pair[0], &pair[1]), mean)
        })
        .filter(|(_, rarity)| *rarity > 0.0)
        .collect()
}

/// Looks at each document closely and puts the best first.
///
/// # Errors
/// [`crate::Error::Database`].
pub fn rank(
    store: &Store,
    (documents, neighbours): (&Documents, &mut Neighbours),
    scored: &Scored,
    pairs: &Pairs,
) -> Result<Vec<Ranked>> {
    let top = scored.fits.first().map_or(1.0, |fit| fit.whole).max(1e-6);
    let mut ranked = Vec::with_capacity(scored.fits.len());
    for (number, fit) in scored.fits.iter().enumerate() {
        let document = documents.at(fit.place).0.document;
        let (head, body) = neighbours.of(store, document)?;
        let sum = |known: &[u16]| -> f32 {
            let found = pairs
                .iter()
                .filter(|(pair, _)| known.binary_search(pair).is_ok());
            found.map(|(_, rarity)| rarity).sum()
        };
        let beside = (sum(head), sum(body));
        let features = features(documents, (scored, top), (number, fit), beside);
        let score = features
            .iter()
            .zip(WEIGHTS)
            .map(|(feature, weight)| feature * weight)
            .sum();
        ranked.push(Ranked {
            place: fit.place,
            features,
            score,
            coverage: features[7],
        });
    }
    ranked.sort_by(|one, other| {
        other
            .score
            .total_cmp(&one.score)
            .then(one.place.cmp(&other.place))
    });
    Ok(ranked)
}

fn features(
    documents: &Documents,
    (scored, top): (&Scored, f32),
    (number, fit): (usize, &Fit),
    (head_pairs, body_pairs): (f32, f32),
) -> [f32; FEATURES] {
    let total = scored.total.max(1e-6);
    let measures = documents.at(fit.place).0;
    let lengths = measures.lengths.map(|length| real(u64::from(length)));
    let unasked = real(u64::from(measures.name_terms.saturating_sub(fit.named)));
    let mut features = [0.0; FEATURES];
    for (feature, field) in features.iter_mut().zip(fit.fields) {
        *feature = field / total;
    }
    features[5] = fit.whole / top;
    features[6] = fit.in_head / total;
    features[7] = fit.anywhere / total;
    if fit.in_name > 0.0 {
        features[8] = fit.in_name / (fit.in_name + unasked * UNASKED);
    }
    features[9] = head_pairs.ln_1p();
    features[10] = body_pairs.ln_1p();
    features[11] = (lengths[NAME] + lengths[DESCRIPTION]).ln_1p() / 5.0;
    features[12] = lengths[BODY].ln_1p() / 7.0;
    features[13] = 3.0 / (4.0 + real(number as u64));
    features
}
