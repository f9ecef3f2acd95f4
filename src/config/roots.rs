//! Roots as a configuration file names them.

use std::path::Path;

use super::file::FileRoot;
use super::{Config, HOME_FILE, Trust};
use crate::error::{Error, Result};
use crate::library::{Root, RootKind};

impl Config {
    /// Makes a root of what a file says. A project names folders of its own only.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub(super) fn file_root(
        &self,
        file: &Path,
        folder: &Path,
        root: FileRoot,
        trust: Trust,
    ) -> Result<Root> {
        let kind = match &root.kind {
            _ if trust == Trust::Project => RootKind::Project,
            None => RootKind::Local,
            Some(word) => RootKind::parse(word).ok_or_else(|| Error::Config {
                path: Some(file.to_path_buf()),
                line: None,
                message: format!("`{word}` is no kind of root"),
                hint: Some("one of local, project, external, bundled, hub, plugin".to_owned()),
            })?,
        };
        let mut value = self.root(&folder.join(self.expand(&root.path)), kind);
        let folder = folder
            .canonicalize()
            .unwrap_or_else(|_| folder.to_path_buf());
        if trust == Trust::Project && !value.path.starts_with(&folder) {
            return Err(Error::Config {
                path: Some(file.to_path_buf()),
                line: None,
                message: format!("the root {} lies outside the project", value.path.display()),
                hint: Some(format!(
                    "a project names its own folders only; others belong into {HOME_FILE}"
                )),
            });
        }
        value.priority = root.priority.unwrap_or(value.priority);
        value.writable = root.writable.unwrap_or(value.writable);
        value.client = root.client.or(value.client);
        Ok(value)
    }
}
