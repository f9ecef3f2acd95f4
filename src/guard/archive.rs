//! Looks into archives: zip (also office documents, wheels), tar, gzip. Depth, members, size and ratio are bounded;
//! what is left out is told.

use std::io::{Cursor, Read};

use super::kinds::{Magic, magic};

/// How deep archives in archives are opened.
const MAX_DEPTH: usize = 3;
/// Most members of one archive.
const MAX_MEMBERS: usize = 200;
/// Most bytes that are unpacked from one file.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Most bytes that are unpacked from all archives of a skill.
pub(super) const MAX_TOTAL: u64 = 24 * 1024 * 1024;
/// A member that grows by more than this is a bomb.
const MAX_RATIO: u64 = 100;

/// What was found in an archive.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    /// Path within the file, and bytes.
    pub members: Vec<(String, Vec<u8>)>,
    /// Members whose path leads out of where they are unpacked.
    pub escapes: Vec<String>,
    /// Members that cannot be read without a password.
    pub locked: Vec<String>,
    /// An archive lies in the archive.
    pub is_nested: bool,
    /// It grows beyond measure.
    pub is_bomb: bool,
    /// Something was left out: too many, too large, too deep, or broken.
    pub is_cut: bool,
    left: u64,
}

/// Opens what a file packs, as far as the bounds allow.
pub(super) fn unpack(kind: Magic, bytes: &[u8], total: &mut u64) -> Unpacked {
    let mut unpacked = Unpacked {
        left: MAX_BYTES.min(*total),
        ..Unpacked::default()
    };
    let granted = unpacked.left;
    unpacked.open(kind, bytes, "", 0);
    *total -= granted - unpacked.left;
    unpacked
}

impl Unpacked {
    fn open(&mut self, kind: Magic, bytes: &[u8], prefix: &str, depth: usize) {
        if depth >= MAX_DEPTH {
            self.is_cut = true;
            return;
        }
        match kind {
            Magic::Zip => self.zip(bytes, prefix, depth),
            Magic::Tar => self.tar(bytes, prefix, depth),
            Magic::Gzip => self.gzip(bytes, prefix, depth),
            _ => self.is_cut = true,
        }
    }

    fn zip(&mut self, bytes: &[u8], prefix: &str, depth: usize) {
        let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(bytes)) else {
            self.is_cut = true;
            return;
        };
        for index in 0..archive.len() {
            if self.members.len() >= MAX_MEMBERS {
                self.is_cut = true;
                return;
            }
            let Ok(raw) = archive.by_index_raw(index) else {
                self.is_cut = true;
                continue;
            };
            let name = raw.name().map_or_else(
                |_| "unreadable name".to_owned(),
                std::borrow::Cow::into_owned,
            );
            let is_locked = raw.encrypted();
            drop(raw);
            if leads_out(&name) {
                self.escapes.push(format!("{prefix}{name}"));
            }
            if is_locked {
                self.locked.push(format!("{prefix}{name}"));
                continue;
            }
            match archive.by_index(index) {
                Ok(member) if member.is_file() => {
                    let packed = member.compressed_size();
                    self.member(member, packed, &format!("{prefix}{name}"), depth);
                }
                Ok(_) => {}
                Err(_) => self.is_cut = true,
            }
        }
    }

    fn tar(&mut self, bytes: &[u8], prefix: &str, depth: usize) {
        let mut archive = tar::Archive::new(bytes);
        let Ok(entries) = archive.entries() else {
            self.is_cut = true;
            return;
        };
        for entry in entries {
            if self.members.len() >= MAX_MEMBERS {
                self.is_cut = true;
                return;
            }
            let Ok(entry) = entry else {
                self.is_cut = true;
                return;
            };
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let target = entry
                .link_name_bytes()
                .map(|name| String::from_utf8_lossy(&name).into_owned());
            if leads_out(&name) || target.is_some_and(|target| leads_out(&target)) {
                self.escapes.push(format!("{prefix}{name}"));
            }
            if entry.header().entry_type().is_file() {
                let size = entry.size();
                self.member(entry, size, &format!("{prefix}{name}"), depth);
            }
        }
    }

    fn gzip(&mut self, bytes: &[u8], prefix: &str, depth: usize) {
        let name = format!("{prefix}unpacked");
        self.member(
            flate2::read::GzDecoder::new(bytes),
            bytes.len() as u64,
            &name,
            depth,
        );
    }

    /// Reads one member, and opens it if it is an archive itself.
    fn member(&mut self, member: impl Read, packed: u64, path: &str, depth: usize) {
        let most = self
            .left
            .min(packed.saturating_mul(MAX_RATIO).max(64 * 1024));
        let mut bytes = Vec::new();
        if member.take(most + 1).read_to_end(&mut bytes).is_err() {
            self.is_cut = true;
        }
        if bytes.len() as u64 > most {
            self.is_bomb |= most < self.left;
            self.is_cut = true;
            bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        }
        self.left = self.left.saturating_sub(bytes.len() as u64);
        match magic(&bytes) {
            Some(kind @ (Magic::Zip | Magic::Tar | Magic::Gzip | Magic::Archive)) => {
                self.is_nested |= depth > 0 || kind != Magic::Tar;
                self.open(kind, &bytes, &format!("{path}!/"), depth + 1);
            }
            _ => self.members.push((path.to_owned(), bytes)),
        }
    }
}

/// Whether a member's path leads out of the folder it is unpacked into.
fn leads_out(name: &str) -> bool {
    let is_drive = name.as_bytes().get(1) == Some(&b':');
    name.starts_with(['/', '\\', '~'])
        || is_drive
        || name.split(['/', '\\']).any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn a_bomb_is_told_and_not_unpacked() {
        let unpacked = unpack(
            Magic::Gzip,
            &gzip(&vec![0; 32 * 1024 * 1024]),
            &mut MAX_TOTAL.clone(),
        );
        assert!(unpacked.is_bomb && unpacked.is_cut);
    }

    #[test]
    fn members_and_ways_out_are_listed() {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file("a.sh", options).unwrap();
        zip.write_all(b"echo a").unwrap();
        zip.start_file("../../b", options).unwrap();
        let bytes = zip.finish().unwrap().into_inner();
        let unpacked = unpack(Magic::Zip, &bytes, &mut MAX_TOTAL.clone());
        assert_eq!(unpacked.members[0], ("a.sh".to_owned(), b"echo a".to_vec()));
        assert_eq!(unpacked.escapes, ["../../b"]);
    }

    #[test]
    fn broken_archives_are_told() {
        assert!(unpack(Magic::Zip, b"PK\x03\x04 nothing", &mut MAX_TOTAL.clone()).is_cut);
        assert!(unpack(Magic::Gzip, b"\x1f\x8bnothing", &mut MAX_TOTAL.clone()).is_cut);
    }
}
