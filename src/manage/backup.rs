//! The whole library in one archive: a plain tar with the files, the bytes of the history, and the ledgers as lines of
//! JSON. Everything in it can be read without skilldb.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::json;
use tar::{Builder, EntryType, Header};

use super::draft::read_entry;
use super::writer::Writer;
use crate::error::{Error, Result};
use crate::library::Content;
use crate::library::everything::everything;
use crate::store::{LEDGERS, unpack};
use crate::sync::{Progress, Unit};

/// The form of the archive.
pub(super) const FORMAT: u64 = 1;
/// What says which form it has.
pub(super) const HEAD: &str = "backup.json";

/// What is in an archive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackedUp {
    /// Files and links.
    pub files: u64,
    /// Versions of files in the history.
    pub versions: u64,
    /// Rows of ledgers.
    pub rows: u64,
    /// What is not in it, and why.
    pub left_out: Vec<(String, String)>,
}

impl Writer {
    /// Writes the archive.
    ///
    /// # Errors
    /// [`Error::Io`] naming `name`, [`Error::Database`].
    pub fn backup(
        &mut self,
        out: impl Write,
        name: &Path,
        progress: &dyn Progress,
    ) -> Result<BackedUp> {
        let now = self.settings().now;
        let seed = format!(
            "{}\0{now}\0{}\0{}",
            self.settings().home.display(),
            std::process::id(),
            crate::time::file_clock_ns()
        );
        let library = self.store_mut().append(|tx| tx.ensure_library_id(&seed))?;
        let mut tar = Builder::new(out);
        let mut done = BackedUp::default();
        let head = json!({"format": FORMAT, "library": library, "at": now.to_string(), "program": env!("CARGO_PKG_VERSION")});
        let text = format!(
            "{}\n",
            serde_json::to_string_pretty(&head).unwrap_or_default()
        );
        put(&mut tar, HEAD, 0o644, text.as_bytes()).map_err(Error::io("write", name))?;
        self.ledgers(&mut tar, name, &mut done)?;
        progress.begin("backing up", Unit::Files, None);
        self.versions(&mut tar, name, (&mut done, progress))?;
        self.files(&mut tar, name, (&mut done, progress))?;
        progress.end();
        let mut out = tar.into_inner().map_err(Error::io("write", name))?;
        out.flush().map_err(Error::io("write", name))?;
        Ok(done)
    }

    fn ledgers(
        &self,
        tar: &mut Builder<impl Write>,
        name: &Path,
        done: &mut BackedUp,
    ) -> Result<()> {
        for table in LEDGERS {
            // How long it is has to be known before it is written, and it may be long.
            let mut lines =
                tempfile::tempfile().map_err(Error::io("create", "a temporary file"))?;
            let mut buffer = Vec::new();
            self.store().each_ledger_row(table, &mut |row| {
                done.rows += 1;
                serde_json::to_writer(&mut buffer, &row).unwrap_or_default();
                buffer.push(b'\n');
                if buffer.len() > 1 << 20 {
                    lines
                        .write_all(&buffer)
                        .map_err(Error::io("write", "a temporary file"))?;
                    buffer.clear();
                }
                Ok(())
            })?;
            lines
                .write_all(&buffer)
                .map_err(Error::io("write", "a temporary file"))?;
            let size = lines
                .stream_position()
                .map_err(Error::io("write", "a temporary file"))?;
            lines
                .seek(SeekFrom::Start(0))
                .map_err(Error::io("read", "a temporary file"))?;
            let mut header = header(0o644, size);
            let path = format!("ledgers/{table}.jsonl");
            tar.append_data(&mut header, path, lines)
                .map_err(Error::io("write", name))?;
        }
        Ok(())
    }

    fn versions(
        &self,
        tar: &mut Builder<impl Write>,
        name: &Path,
        (done, progress): (&mut BackedUp, &dyn Progress),
    ) -> Result<()> {
        self.store().each_blob(|hash, codec, size, packed| {
            progress.advance(1);
            match unpack(codec, size, packed) {
                Some(bytes) => {
                    done.versions += 1;
                    put(tar, &format!("blobs/{hash}"), 0o644, &bytes)
                        .map_err(Error::io("write", name))
                }
                None => {
                    done.left_out.push((
                        format!("version {hash}"),
                        "its bytes are damaged".to_owned(),
                    ));
                    Ok(())
                }
            }
        })
    }

    fn files(
        &self,
        tar: &mut Builder<impl Write>,
        name: &Path,
        (done, progress): (&mut BackedUp, &dyn Progress),
    ) -> Result<()> {
        for root in self.store().roots()? {
            if !root.writable || !root.path.is_dir() {
                continue;
            }
            let found = everything(&root.path).map_err(Error::io("list", &root.path))?;
            let shown = |path: &str| root.path.join(path).to_string_lossy().into_owned();
            done.left_out.extend(
                found
                    .left_out
                    .into_iter()
                    .map(|(path, why)| (shown(&path), why)),
            );
            for path in found.files {
                progress.advance(1);
                let place = format!("files/{}/{path}", root.id);
                let written = match read_entry(&root.path, &path) {
                    Ok(None) => continue,
                    Ok(Some((Content::Link { target }, _))) => link(tar, &place, &target),
                    Ok(Some((content, bytes))) => {
                        put(tar, &place, content.mode().unwrap_or(0o644), &bytes)
                    }
                    Err(error) => {
                        done.left_out
                            .push((shown(&path), super::make::told(&error)));
                        continue;
                    }
                };
                written.map_err(Error::io("write", name))?;
                done.files += 1;
            }
            for path in found.empty_folders {
                let mut header = header(0o755, 0);
                header.set_entry_type(EntryType::Directory);
                let place = format!("files/{}/{path}/", root.id);
                tar.append_data(&mut header, place, std::io::empty())
                    .map_err(Error::io("write", name))?;
            }
        }
        Ok(())
    }
}

fn header(mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(0);
    header
}

fn put(tar: &mut Builder<impl Write>, path: &str, mode: u32, bytes: &[u8]) -> std::io::Result<()> {
    tar.append_data(&mut header(mode, bytes.len() as u64), path, bytes)
}

fn link(tar: &mut Builder<impl Write>, path: &str, target: &str) -> std::io::Result<()> {
    let mut header = header(0o777, 0);
    header.set_entry_type(EntryType::Symlink);
    tar.append_link(&mut header, path, target)
}
