//! One step of a change: what stood under a path before, and what stands there after. Says where a step is, and
//! what would take it back; the doing is in `execute`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::library::{Content, TreeEntry};

/// A step. Doing it twice is doing it once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    /// One file or link is made, replaced or removed.
    File {
        /// Absolute path.
        path: PathBuf,
        /// What stood there.
        before: Option<Content>,
        /// What stands there after.
        after: Option<Content>,
        /// The folder up to which folders are removed that have nothing in them any more; itself stays.
        keep: PathBuf,
    },
    /// A whole folder is made, or removed.
    Tree {
        /// Absolute path.
        path: PathBuf,
        /// What was in it, when it is removed.
        before: Option<Vec<TreeEntry>>,
        /// What is in it, when it is made.
        after: Option<Vec<TreeEntry>>,
        /// As with a file.
        keep: PathBuf,
    },
    /// A folder gets another place.
    Move {
        /// Absolute path before.
        from: PathBuf,
        /// Absolute path after.
        to: PathBuf,
        /// Device and number of the folder: it is the same one wherever it is.
        id: (u64, u64),
        /// As with a file: where it was.
        keep: PathBuf,
        /// As with a file: where it is, for the way back.
        keep_to: PathBuf,
    },
}

impl Step {
    /// Returns where the step puts bytes: it writes a file or a folder there.
    #[must_use]
    pub(super) fn written(&self) -> Option<&Path> {
        match self {
            Self::File {
                path,
                after: Some(_),
                ..
            }
            | Self::Tree {
                path,
                after: Some(_),
                ..
            } => Some(path),
            Self::File { .. } | Self::Tree { .. } | Self::Move { .. } => None,
        }
    }

    /// Returns the step that takes this one back.
    #[must_use]
    pub(super) fn inverse(&self) -> Self {
        match self.clone() {
            Self::File {
                path,
                before,
                after,
                keep,
            } => Self::File {
                path,
                before: after,
                after: before,
                keep,
            },
            Self::Tree {
                path,
                before,
                after,
                keep,
            } => Self::Tree {
                path,
                before: after,
                after: before,
                keep,
            },
            Self::Move {
                from,
                to,
                id,
                keep,
                keep_to,
            } => Self::Move {
                from: to,
                to: from,
                id,
                keep: keep_to,
                keep_to: keep,
            },
        }
    }

    /// The same step without removing folders that it empties.
    pub(super) fn keeping_folders(mut self) -> Self {
        let parent = |path: &Path| path.parent().unwrap_or(path).to_path_buf();
        match &mut self {
            Self::File { path, keep, .. } | Self::Tree { path, keep, .. } => *keep = parent(path),
            Self::Move {
                from,
                to,
                keep,
                keep_to,
                ..
            } => {
                *keep = parent(from);
                *keep_to = parent(to);
            }
        }
        self
    }

    /// The path that is told when something is wrong.
    #[must_use]
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::File { path, .. } | Self::Tree { path, .. } => path,
            Self::Move { from, .. } => from,
        }
    }
}

/// Where a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// Not done.
    Before,
    /// Done.
    After,
    /// Somebody else changed what stands there.
    Other,
}

/// Says whether what stands under a name is what a step expects. Permissions only count where nothing else tells
/// before from after.
#[must_use]
pub(super) fn stand_of(
    found: Option<&Content>,
    before: Option<&Content>,
    after: Option<&Content>,
) -> Stand {
    let is = |wanted: Option<&Content>| match (found, wanted) {
        (None, None) => true,
        (Some(found), Some(wanted)) => found.says_the_same(wanted),
        (None, Some(_)) | (Some(_), None) => false,
    };
    match (is(before), is(after)) {
        (true, true) if found == after => Stand::After,
        (true, true | false) => Stand::Before,
        (false, true) => Stand::After,
        (false, false) => Stand::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(hash: &str, mode: u32) -> Option<Content> {
        Some(Content::File {
            hash: hash.to_owned(),
            mode,
        })
    }

    #[test]
    fn permissions_only_count_when_nothing_else_differs() {
        let stand = |found: Option<Content>, before: Option<Content>, after: Option<Content>| {
            stand_of(found.as_ref(), before.as_ref(), after.as_ref())
        };
        assert_eq!(
            stand(file("a", 0o600), file("a", 0o644), file("b", 0o644)),
            Stand::Before
        );
        assert_eq!(
            stand(file("b", 0o600), file("a", 0o644), file("b", 0o644)),
            Stand::After
        );
        assert_eq!(
            stand(file("a", 0o755), file("a", 0o644), file("a", 0o755)),
            Stand::After
        );
        assert_eq!(
            stand(file("a", 0o644), file("a", 0o644), file("a", 0o755)),
            Stand::Before
        );
        assert_eq!(
            stand(file("c", 0o644), file("a", 0o644), None),
            Stand::Other
        );
        assert_eq!(stand(None, file("a", 0o644), None), Stand::After);
    }

    #[test]
    fn the_inverse_of_the_inverse_is_the_step() {
        let step = Step::Move {
            from: "/a".into(),
            to: "/b".into(),
            id: (1, 2),
            keep: "/".into(),
            keep_to: "/x".into(),
        };
        assert_eq!(step.inverse().inverse(), step);
    }
}
