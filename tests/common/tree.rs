//! What lies in a folder, so that two moments can be compared.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Path relative to the folder, and what is there: kind, permissions, content.
pub(crate) type Tree = BTreeMap<String, (char, u32, Vec<u8>)>;

/// Everything below a folder; nothing when it is not there.
pub(crate) fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    collect(folder, "", &mut tree);
    tree
}

fn collect(folder: &Path, prefix: &str, tree: &mut Tree) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let metadata = entry.path().symlink_metadata().unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        if metadata.is_dir() {
            tree.insert(path.clone(), ('d', 0, Vec::new()));
            collect(&entry.path(), &format!("{path}/"), tree);
        } else if metadata.is_symlink() {
            let target = fs::read_link(entry.path()).unwrap();
            tree.insert(
                path,
                ('l', 0, target.to_string_lossy().into_owned().into_bytes()),
            );
        } else {
            tree.insert(path, ('f', mode, fs::read(entry.path()).unwrap()));
        }
    }
}
