//! What can be wrong with a file as a whole: name, kind, sentence, and what to do about it.

use super::finding::Class;
use super::structure::Trouble;

pub(super) const LINK_OUT: Trouble = Trouble {
    rule: "traversal.link-out",
    class: Class::Traversal,
    message: "The link leads out of the skill.",
    fix: "Put the file itself into the skill.",
};
pub(super) const DEAD_LINK: Trouble = Trouble {
    rule: "structure.dead-link",
    class: Class::Structure,
    message: "The link leads to nothing.",
    fix: "Remove it.",
};
pub(super) const LARGE_FILE: Trouble = Trouble {
    rule: "structure.large-file",
    class: Class::Structure,
    message: "The file is too large to be looked into.",
    fix: "Keep data out of the skill, or in files of at most 4 MiB.",
};
pub(super) const UNREADABLE: Trouble = Trouble {
    rule: "structure.unreadable",
    class: Class::Structure,
    message: "The file cannot be read, so it was not looked into.",
    fix: "Make it readable, or remove it.",
};
pub(super) const SPECIAL_FILE: Trouble = Trouble {
    rule: "structure.special-file",
    class: Class::Structure,
    message: "It is a pipe, a socket or a device.",
    fix: "Remove it.",
};
pub(super) const HIDDEN_FILE: Trouble = Trouble {
    rule: "structure.hidden-file",
    class: Class::Structure,
    message: "The file is hidden.",
    fix: "Give it a name that shows.",
};
pub(super) const SCAN_IGNORE: Trouble = Trouble {
    rule: "structure.scan-ignore",
    class: Class::Structure,
    message: "Asks scanners to pass over files; here nothing is passed over.",
    fix: "Remove it.",
};
pub(super) const OPAQUE_EXECUTABLE: Trouble = Trouble {
    rule: "structure.opaque-executable",
    class: Class::Obfuscation,
    message: "It may be run, and nobody can read it.",
    fix: "Ship the source.",
};
pub(super) const MALWARE_TEST: Trouble = Trouble {
    rule: "structure.malware-test",
    class: Class::Structure,
    message: "It is the file that antivirus programs are tested with.",
    fix: "Remove it.",
};
pub(super) const PROGRAM: Trouble = Trouble {
    rule: "structure.program",
    class: Class::Obfuscation,
    message: "It is a program that nobody can read.",
    fix: "Ship the source, or name the package to install.",
};
pub(super) const MASKED_PROGRAM: Trouble = Trouble {
    rule: "structure.program",
    class: Class::Obfuscation,
    message: "It is a program under the name of something else.",
    fix: "Ship the source, or name the package to install.",
};
pub(super) const BYTECODE: Trouble = Trouble {
    rule: "structure.bytecode",
    class: Class::Obfuscation,
    message: "It is compiled code: what it does cannot be read.",
    fix: "Ship the source instead.",
};
pub(super) const CLOSED_ARCHIVE: Trouble = Trouble {
    rule: "structure.closed-archive",
    class: Class::Structure,
    message: "It is an archive of a kind that is not opened.",
    fix: "Put the files into the skill as they are.",
};
pub(super) const ARCHIVE_OUT: Trouble = Trouble {
    rule: "traversal.archive-out",
    class: Class::Traversal,
    message: "Unpacking the archive writes outside of where it is unpacked.",
    fix: "Pack it again with paths inside.",
};
pub(super) const LOCKED_ARCHIVE: Trouble = Trouble {
    rule: "structure.locked-archive",
    class: Class::Obfuscation,
    message: "The archive is locked with a password, which keeps scanners out.",
    fix: "Ship the files as they are.",
};
pub(super) const BOMB: Trouble = Trouble {
    rule: "structure.bomb",
    class: Class::Resource,
    message: "Unpacking it fills the disk.",
    fix: "Remove it.",
};
pub(super) const ARCHIVE_CUT: Trouble = Trouble {
    rule: "structure.archive-cut",
    class: Class::Structure,
    message: "Not all of the archive was looked into: it is broken, too deep or too large.",
    fix: "Put the files into the skill as they are.",
};
pub(super) const NESTED_ARCHIVE: Trouble = Trouble {
    rule: "structure.nested-archive",
    class: Class::Structure,
    message: "An archive lies within the archive.",
    fix: "Pack it flat.",
};
pub(super) const PACKED_CODE: Trouble = Trouble {
    rule: "structure.packed-code",
    class: Class::Obfuscation,
    message: "Code is packed into an archive.",
    fix: "Ship it as it is.",
};
pub(super) const CUT: Trouble = Trouble {
    rule: "structure.cut",
    class: Class::Structure,
    message: "There are too many files, or they lie too deep: not all were looked at.",
    fix: "Make the skill smaller.",
};
pub(super) const MANY_FILES: Trouble = Trouble {
    rule: "structure.many-files",
    class: Class::Structure,
    message: "The skill has very many files.",
    fix: "Keep data out of the skill.",
};
pub(super) const LARGE: Trouble = Trouble {
    rule: "structure.large",
    class: Class::Structure,
    message: "The skill is very large.",
    fix: "Keep data out of the skill.",
};
pub(super) const CASE_TWIN: Trouble = Trouble {
    rule: "structure.case-twin",
    class: Class::Structure,
    message: "Two names differ in case only: on many disks one takes the other's place.",
    fix: "Rename one.",
};
pub(super) const UNREADABLE_TEXT: Trouble = Trouble {
    rule: "structure.unreadable-text",
    class: Class::Obfuscation,
    message: "It should be text and is none: nobody can read it, and something may run it.",
    fix: "Ship it as plain UTF-8 text.",
};
pub(super) const LOCK_HOST: Trouble = Trouble {
    rule: "supply.lock-host",
    class: Class::SupplyChain,
    message: "The lock file takes a package from a host that is no registry.",
    fix: "Lock packages of a registry, or say whose host it is.",
};
pub(super) const PACKED_PROGRAM: Trouble = Trouble {
    rule: "structure.packed-program",
    class: Class::Obfuscation,
    message: "A program that nobody can read is packed into an archive.",
    fix: "Ship the source, or name the package to install.",
};
