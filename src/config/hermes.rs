//! The one thing that is read of the configuration of a Hermes home.

use std::io;
use std::path::{Path, PathBuf};

use super::Config;
use super::file;

impl Config {
    /// Returns the other folders of skills that a Hermes home names in its `config.yaml`, links resolved. Relative
    /// ones start at the home. None where there is no such file.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    pub fn hermes_external_dirs(&self, path: &Path) -> Result<Vec<PathBuf>, String> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.to_string()),
        };
        let home = path.parent().unwrap_or(Path::new("."));
        let folder = |named: String| {
            let folder = home.join(self.expand(&named));
            folder.canonicalize().unwrap_or(folder)
        };
        Ok(file::hermes_external_dirs(&text)?
            .into_iter()
            .map(folder)
            .collect())
    }
}
