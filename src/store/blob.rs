//! Content-addressed bytes, compressed.

use rusqlite::{OptionalExtension, params};

use super::{Store, Tx};
use crate::error::{Error, Result};
use crate::hash::hash_of;

/// Level 1 compresses SKILL.md text to two fifths at some 400 MB/s; more costs more than it saves.
const LEVEL: i32 = 1;

/// Bytes ready to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// SHA-256 before compression.
    pub hash: String,
    /// raw or zstd.
    pub codec: &'static str,
    /// Bytes before compression.
    pub size: u64,
    /// What is stored.
    pub bytes: Vec<u8>,
}

/// Packs bytes, one after the other, with one compressor.
#[derive(Default)]
pub struct Packer {
    compressor: Option<zstd::bulk::Compressor<'static>>,
    buffer: Vec<u8>,
}

impl Packer {
    /// Makes a packer; the compressor is made at first use.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Packs bytes whose hash is known. What does not become smaller stays as it is.
    pub fn pack(&mut self, hash: String, bytes: &[u8]) -> Packed {
        if self.compressor.is_none() {
            self.compressor = zstd::bulk::Compressor::new(LEVEL).ok();
        }
        self.buffer
            .resize(zstd::zstd_safe::compress_bound(bytes.len()), 0);
        let packed = self
            .compressor
            .as_mut()
            .and_then(|compressor| compressor.compress_to_buffer(bytes, &mut self.buffer).ok())
            .and_then(|length| self.buffer.get(..length))
            .filter(|packed| packed.len() < bytes.len());
        let (codec, stored) = match packed {
            Some(packed) => ("zstd", packed),
            None => ("raw", bytes),
        };
        Packed {
            hash,
            codec,
            size: bytes.len() as u64,
            bytes: stored.to_vec(),
        }
    }
}

/// Returns stored bytes as they were before compression; `None` when they cannot be what was stored.
#[must_use]
pub fn unpack(codec: &str, size: u64, bytes: &[u8]) -> Option<Vec<u8>> {
    match codec {
        "raw" => Some(bytes.to_vec()),
        "zstd" => zstd::bulk::decompress(bytes, usize::try_from(size).ok()?).ok(),
        _ => None,
    }
}

/// Says whether stored bytes still are what their hash says.
#[must_use]
pub fn is_intact(hash: &str, codec: &str, size: u64, bytes: &[u8]) -> bool {
    unpack(codec, size, bytes)
        .is_some_and(|bytes| bytes.len() as u64 == size && hash_of(&bytes) == hash)
}

impl Store {
    /// Returns kept bytes by their hash; `None` when the history does not hold them.
    ///
    /// # Errors
    /// [`Error::Database`]; [`Error::DamagedBytes`] when they are not what was stored.
    pub fn bytes(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        const SELECT: &str = "SELECT codec, size, bytes FROM blob WHERE hash = ?1";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_row([hash], |row| {
                    Ok((
                        row.get::<_, String>(0)?,
                        row.get::<_, u64>(1)?,
                        row.get::<_, Vec<u8>>(2)?,
                    ))
                })
                .optional()
        };
        let Some((codec, size, packed)) = query().map_err(Error::database("read kept bytes"))?
        else {
            return Ok(None);
        };
        unpack(&codec, size, &packed)
            .filter(|bytes| hash_of(bytes) == hash)
            .map(Some)
            .ok_or_else(|| Error::DamagedBytes {
                hash: hash.to_owned(),
            })
    }

    /// Says whether the history holds bytes with this hash.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn has_bytes(&self, hash: &str) -> Result<bool> {
        const SELECT: &str = "SELECT EXISTS (SELECT 1 FROM blob WHERE hash = ?1)";
        let query = || {
            self.connection
                .prepare_cached(SELECT)?
                .query_row([hash], |row| row.get(0))
        };
        query().map_err(Error::database("look up kept bytes"))
    }

    /// Says whether bytes with this hash were removed for good.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn is_purged(&self, hash: &str) -> Result<bool> {
        const SELECT: &str = "SELECT EXISTS (SELECT 1 FROM purged WHERE hash = ?1)";
        self.connection
            .query_row(SELECT, [hash], |row| row.get(0))
            .map_err(Error::database("look up purged bytes"))
    }
}

impl Tx<'_> {
    /// Stores bytes under their hash; does nothing when they are there already.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn put_blob(&self, packed: &Packed) -> Result<()> {
        const INSERT: &str =
            "INSERT OR IGNORE INTO blob (hash, codec, size, bytes) VALUES (?1, ?2, ?3, ?4)";
        let size = i64::try_from(packed.size).unwrap_or(i64::MAX);
        self.run(
            INSERT,
            params![packed.hash, packed.codec, size, packed.bytes],
            "keep bytes",
        )
    }
}
