//! What the walk has to say about files and folders.

use std::path::PathBuf;

use crate::skill::Severity;

/// What the walk has to say about a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkFinding {
    /// Unit (relative path) whose walk found it.
    pub unit: String,
    /// Absolute path it is about.
    pub path: PathBuf,
    /// What it is.
    pub code: WalkCode,
    /// One sentence without a full stop.
    pub message: String,
}

/// Kinds of findings of the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WalkCode {
    /// A link to a folder that contains it.
    LinkLoop,
    /// A link to a folder outside the root (it was followed).
    LinkLeavesRoot,
    /// A link to a folder that is listed elsewhere in the root (it was not followed).
    LinkRepeated,
    /// A link whose target is not there.
    LinkDangling,
    /// A skill file inside another skill's folder.
    NestedSkill,
    /// Two names in one folder that differ only in upper and lower case.
    CaseTwin,
    /// A skill file that is not spelt `SKILL.md`.
    FileNameCase,
    /// A folder that may not be looked into.
    FolderUnreadable,
    /// A name that is not UTF-8.
    NameNotUtf8,
    /// A folder so deep that it was not entered.
    TooDeep,
    /// A skill with so many files that not all are mirrored.
    TooManyFiles,
    /// Something named like a skill file that is none.
    NotAFile,
    /// A skill file that could not be read.
    FileUnreadable,
    /// A skill file too large to be read.
    FileTooLarge,
}

impl WalkCode {
    /// Returns the stable word that stands for the finding.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LinkLoop => "link-loop",
            Self::LinkLeavesRoot => "link-leaves-root",
            Self::LinkRepeated => "link-repeated",
            Self::LinkDangling => "link-dangling",
            Self::NestedSkill => "nested-skill",
            Self::CaseTwin => "case-twin",
            Self::FileNameCase => "file-name-case",
            Self::FolderUnreadable => "folder-unreadable",
            Self::NameNotUtf8 => "name-not-utf8",
            Self::TooDeep => "too-deep",
            Self::TooManyFiles => "too-many-files",
            Self::NotAFile => "not-a-file",
            Self::FileUnreadable => "file-unreadable",
            Self::FileTooLarge => "file-too-large",
        }
    }

    /// Returns how bad it is.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::LinkDangling
            | Self::FolderUnreadable
            | Self::NameNotUtf8
            | Self::NotAFile
            | Self::FileUnreadable
            | Self::FileTooLarge => Severity::Error,
            Self::LinkLoop
            | Self::LinkLeavesRoot
            | Self::CaseTwin
            | Self::FileNameCase
            | Self::TooDeep
            | Self::TooManyFiles => Severity::Warning,
            Self::LinkRepeated | Self::NestedSkill => Severity::Note,
        }
    }
}
