//! Two skills of one name, of which a call means one.

use super::super::common::Library;
use super::{SESSION, Transcript};

/// The two folders.
pub(crate) const USER: &str = "home/.claude/skills";
pub(crate) const PROJECT: &str = "proj/.claude/skills";

/// Writes a skill by its folder.
pub(crate) fn write_skill(library: &Library, rel: &str) {
    let name = rel.rsplit('/').next().unwrap();
    let text = format!("---\nname: {name}\ndescription: of {rel}\n---\n");
    library.write(&format!("{rel}/SKILL.md"), text.as_bytes());
}

/// A user's and a project's skill `deploy`, and the transcript of a session in that project.
pub(crate) fn with_two_copies() -> (Library, Transcript) {
    let library = Library::new();
    for root in [USER, PROJECT] {
        write_skill(&library, &format!("{root}/deploy"));
    }
    library.json(&["sync", USER, PROJECT]);
    let transcript = Transcript::new(&library, SESSION);
    (library, transcript)
}

/// An absolute path.
pub(crate) fn full(library: &Library, rel: &str) -> String {
    library.path(rel).to_str().unwrap().to_owned()
}

/// Uses of each skill, by its root.
pub(crate) fn by_root(library: &Library) -> String {
    let counts = library.sql("SELECT root, use_count FROM v_skill ORDER BY root");
    library.normal(&counts)
}

/// What [`by_root`] says.
pub(crate) const NONE: &str = "[DIR]/home/.claude/skills\t0\n[DIR]/proj/.claude/skills\t0";
pub(crate) const OF_USER: &str = "[DIR]/home/.claude/skills\t1\n[DIR]/proj/.claude/skills\t0";
pub(crate) const OF_PROJECT: &str = "[DIR]/home/.claude/skills\t0\n[DIR]/proj/.claude/skills\t1";

/// Each test crate uses part of this. Naming all of it keeps the rest from counting as dead code.
const _: () = {
    _ = (USER, PROJECT, NONE, OF_USER, OF_PROJECT);
    _ = (write_skill, with_two_copies, full, by_root);
};
