//! Which files a plugin is made of, and whether they changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::bail;
use ignore::WalkBuilder;

/// Files that are watched.
const FILES_MAX: usize = 10_000;

/// Time of change and size of each file.
pub(super) type Seen = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Look at all files of a folder but those that are hidden, that `.gitignore` names, and components. A folder that is not
/// there has none.
///
/// # Errors
/// There are too many of them.
pub(super) fn look(folder: &Path) -> anyhow::Result<Seen> {
    let mut seen = Seen::new();
    let walk = WalkBuilder::new(folder).require_git(false).build();
    // What vanishes while it is looked at is a change that the next look sees.
    for entry in walk.flatten() {
        let is_component = entry.path().extension().is_some_and(|e| e == "wasm");
        let Ok(found) = entry.metadata() else {
            continue;
        };
        if is_component || !found.is_file() {
            continue;
        }
        if seen.len() == FILES_MAX {
            bail!(
                "watch {}: it has more than {FILES_MAX} files; name what is built in .gitignore",
                folder.display()
            );
        }
        seen.insert(entry.into_path(), (found.modified().ok(), found.len()));
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn changes_of_sources_are_seen_and_what_is_built_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".gitignore", "/target\n");
        write("src/lib.rs", "one");
        let before = look(dir.path()).unwrap();
        assert_eq!(before.len(), 1);
        write("target/x", "built");
        write("plugin.wasm", "built");
        write(".venv/x", "installed");
        assert_eq!(look(dir.path()).unwrap(), before);
        write("src/lib.rs", "longer");
        let after = look(dir.path()).unwrap();
        assert_ne!(after, before);
        write("src/more.rs", "");
        assert_ne!(look(dir.path()).unwrap(), after);
        assert!(look(&dir.path().join("gone")).unwrap().is_empty());
    }

    #[test]
    fn more_files_than_anybody_writes_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..=FILES_MAX {
            fs::write(dir.path().join(n.to_string()), "").unwrap();
        }
        let refused = look(dir.path()).unwrap_err().to_string();
        assert!(refused.contains(".gitignore"), "{refused}");
    }
}
