//! What `web/dist` is made of, as one hash: `web/build.mjs` writes it, and this computes it without Node.js.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::{DIST, FOLDER};

/// Where the hash is, in the folder of what is built.
const HASH: &str = "SOURCES";

/// The folder of sources, all of which count.
const SOURCES: &str = "src";

/// What counts besides.
const OTHERS: [&str; 3] = ["build.mjs", "index.html", "package-lock.json"];

/// What is wrong with what is committed, if something is. `paths` are all files of the repository.
pub(crate) fn stale<'p>(
    root: &Path,
    paths: impl Iterator<Item = &'p str>,
) -> Result<Option<String>> {
    let written = root.join(FOLDER).join(DIST).join(HASH);
    let written = fs::read_to_string(&written)
        .with_context(|| format!("failed to read {}", written.display()))?;
    let is_current = written.trim_end() == hash(root, paths)?;
    Ok((!is_current).then(|| {
        format!("was not made of the sources that are here; run `cargo xtask {FOLDER}`, which needs Node.js")
    }))
}

/// Each path below the folder, a zero, the content, a zero; in the order of the paths.
fn hash<'p>(root: &Path, paths: impl Iterator<Item = &'p str>) -> Result<String> {
    let mut own: Vec<&str> = paths
        .filter_map(|path| path.strip_prefix(FOLDER)?.strip_prefix('/'))
        .filter(|path| is_source(path))
        .collect();
    own.sort_unstable();
    let mut hash = Sha256::new();
    for path in own {
        let file = root.join(FOLDER).join(path);
        let content =
            fs::read(&file).with_context(|| format!("failed to read {}", file.display()))?;
        hash.update(path);
        hash.update([0]);
        hash.update(content);
        hash.update([0]);
    }
    let digest = hash.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn is_source(path: &str) -> bool {
    let in_folder = path
        .strip_prefix(SOURCES)
        .is_some_and(|rest| rest.starts_with('/'));
    in_folder || OTHERS.contains(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_a_source_shows_and_one_beside_them_does_not() {
        let root = std::env::temp_dir().join(format!("hostd-web-sources-{}", std::process::id()));
        let web = root.join(FOLDER);
        fs::create_dir_all(web.join("src/ui")).unwrap();
        fs::create_dir_all(web.join(DIST)).unwrap();
        let paths = [
            "web/src/ui/a.ts",
            "web/src/b.ts",
            "web/build.mjs",
            "web/README.md",
        ];
        for path in paths {
            fs::write(root.join(path), path).unwrap();
        }
        let now = || hash(&root, paths.into_iter()).unwrap();
        let before = now();
        fs::write(web.join(DIST).join(HASH), format!("{before}\n")).unwrap();
        fs::write(web.join("README.md"), "other").unwrap();
        assert_eq!(stale(&root, paths.into_iter()).unwrap(), None);
        fs::write(web.join("src/ui/a.ts"), "other").unwrap();
        assert_ne!(now(), before);
        let finding = stale(&root, paths.into_iter()).unwrap().unwrap();
        assert!(finding.contains("cargo xtask web"), "{finding}");
        fs::remove_dir_all(&root).unwrap();
    }
}
