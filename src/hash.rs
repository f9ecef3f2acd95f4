//! The one hash everywhere: SHA-256 as lower-case hexadecimal, so that people can check it with `sha256sum`.

use sha2::{Digest, Sha256};

/// Returns the hash of some bytes, as `sha256sum` prints it.
#[must_use]
pub fn hash_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Writes a digest as lower-case hexadecimal.
#[must_use]
pub fn hex(digest: &[u8]) -> String {
    let mut text = String::with_capacity(digest.len() * 2);
    for byte in digest {
        text.extend(
            [byte >> 4, byte & 15]
                .map(|nibble| char::from_digit(u32::from(nibble), 16).unwrap_or('0')),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_what_sha256sum_prints() {
        assert_eq!(
            hash_of(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
