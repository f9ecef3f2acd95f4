//! The index as bytes: for each term where it stands, for each segment what is known of its skills. Numbers are written
//! with seven bits a byte.

use super::document::{Document, FIELDS};

/// Where a term stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The number of the document.
    pub document: u32,
    /// How often, in each field.
    pub counts: [u8; FIELDS],
}

/// What is known of a document for every query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measures {
    /// Its number.
    pub document: u32,
    /// The skill.
    pub skill: i64,
    /// Terms in each field.
    pub lengths: [u32; FIELDS],
    /// Distinct terms of the name.
    pub name_terms: u32,
    /// It is written in a script without blanks.
    pub is_unspaced: bool,
    /// The skill is put away.
    pub is_archived: bool,
}

impl Measures {
    /// Those of a document.
    #[must_use]
    pub fn of(number: u32, skill: i64, document: &Document) -> Self {
        Self {
            document: number,
            skill,
            lengths: document.lengths,
            name_terms: document.name_terms,
            is_unspaced: document.is_unspaced,
            is_archived: false,
        }
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Reads numbers; `None` at the end and for what is none.
struct Reader<'b> {
    bytes: &'b [u8],
}

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u32> {
        self.number().and_then(|number| u32::try_from(number).ok())
    }
}

/// Writes postings, which are in the order of their documents.
#[must_use]
pub fn pack(postings: &[Posting]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(postings.len() * 4);
    let mut last = 0;
    for posting in postings {
        put(&mut bytes, u64::from(posting.document - last));
        last = posting.document;
        let mut fields = 0u8;
        for (field, count) in posting.counts.iter().enumerate() {
            fields |= u8::from(*count > 0) << field;
        }
        bytes.push(fields);
        bytes.extend(posting.counts.iter().filter(|count| **count > 0));
    }
    bytes
}

/// Reads postings. What is damaged ends them.
pub fn unpack(bytes: &[u8]) -> impl Iterator<Item = Posting> + '_ {
    let mut reader = Reader { bytes };
    let mut document = 0u32;
    std::iter::from_fn(move || {
        document = document.checked_add(reader.small()?)?;
        let (&fields, mut rest) = reader.bytes.split_first()?;
        let mut counts = [0u8; FIELDS];
        for (field, count) in counts.iter_mut().enumerate() {
            if fields >> field & 1 == 1 {
                let (&first, behind) = rest.split_first()?;
                *count = first;
                rest = behind;
            }
        }
        reader.bytes = rest;
        Some(Posting { document, counts })
    })
}

/// Writes the measures of a segment, which are in the order of their documents.
#[must_use]
pub fn pack_measures(all: &[Measures]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(all.len() * 12);
    let mut last = 0;
    for one in all {
        put(&mut bytes, u64::from(one.document - last));
        last = one.document;
        put(&mut bytes, one.skill.unsigned_abs());
        for length in one.lengths {
            put(&mut bytes, u64::from(length));
        }
        put(
            &mut bytes,
            u64::from(one.name_terms) << 2
                | u64::from(one.is_archived) << 1
                | u64::from(one.is_unspaced),
        );
    }
    bytes
}

/// Reads the measures of a segment. What is damaged ends them.
#[must_use]
pub fn unpack_measures(bytes: &[u8]) -> Vec<Measures> {
    let mut reader = Reader { bytes };
    let mut last = 0u32;
    let mut next = || {
        let document = last.checked_add(reader.small()?)?;
        last = document;
        let skill = i64::try_from(reader.number()?).ok()?;
        let mut lengths = [0; FIELDS];
        for length in &mut lengths {
            *length = reader.small()?;
        }
        let rest = reader.small()?;
        Some(Measures {
            document,
            skill,
            lengths,
            name_terms: rest >> 2,
            is_unspaced: rest & 1 == 1,
            is_archived: rest & 2 == 2,
        })
    };
    std::iter::from_fn(&mut next).collect()
}

/// Writes hashes of neighbours, two bytes each.
#[must_use]
pub fn pack_pairs(pairs: &[u16]) -> Vec<u8> {
    pairs.iter().flat_map(|pair| pair.to_le_bytes()).collect()
}

/// Reads hashes of neighbours.
#[must_use]
pub fn unpack_pairs(bytes: &[u8]) -> Vec<u16> {
    let (pairs, _) = bytes.as_chunks::<2>();
    pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(steps in proptest::collection::vec((1u32..5000, any::<[u8; FIELDS]>()), 0..80)) {
            let mut document = 0;
            let postings: Vec<Posting> = steps
                .into_iter()
                .map(|(step, counts)| {
                    document += step;
                    Posting { document, counts }
                })
                .collect();
            prop_assert_eq!(unpack(&pack(&postings)).collect::<Vec<_>>(), postings.clone());
            let measures: Vec<Measures> = postings
                .iter()
                .map(|one| Measures {
                    document: one.document,
                    skill: i64::from(one.document) * 3,
                    lengths: one.counts.map(u32::from),
                    name_terms: u32::from(one.counts[0]),
                    is_unspaced: one.counts[1] > 100,
                    is_archived: one.counts[2] > 100,
                })
                .collect();
            prop_assert_eq!(unpack_measures(&pack_measures(&measures)), measures);
        }

        #[test]
        fn damaged_bytes_end_and_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = unpack(&bytes).count();
            let _ = unpack_measures(&bytes);
        }

        #[test]
        fn neighbours_are_unpacked(pairs in proptest::collection::vec(any::<u16>(), 0..60)) {
            prop_assert_eq!(unpack_pairs(&pack_pairs(&pairs)), pairs);
        }
    }
}
