//! Patterns of paths: `*` and `?` within a folder, `**` over folders.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::tree::{self, CopyError};

/// Files below `root` that one of the patterns means, relative to it and sorted. A pattern that cannot be read,
/// such as one with a lone `[`, means nothing.
pub(crate) fn matching<'p>(
    root: &Path,
    patterns: impl IntoIterator<Item = &'p str>,
) -> Result<Vec<PathBuf>, CopyError> {
    let set = set(patterns);
    let mut files = tree::files_below(root)?;
    files.retain(|file| set.is_match(file));
    Ok(files)
}

fn set<'p>(patterns: impl IntoIterator<Item = &'p str>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let pattern = pattern.trim_start_matches("./");
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        if let Ok(glob) = glob {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_files_as_a_shell_would() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "Makefile",
            "src/a.c",
            "src/sub/b.c",
            "src/sub/b.h",
            "r/x.xml",
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = |patterns: &[&str]| {
            let files = matching(root.path(), patterns.iter().copied()).unwrap();
            files
                .iter()
                .map(|file| file.display().to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(
            found(&["Makefile", "src/**"]),
            "Makefile src/a.c src/sub/b.c src/sub/b.h"
        );
        assert_eq!(found(&["src/*.c"]), "src/a.c");
        assert_eq!(found(&["src/**/*.?"]), "src/a.c src/sub/b.c src/sub/b.h");
        assert_eq!(found(&["./r/*.xml"]), "r/x.xml");
        assert_eq!(found(&["none"]), "");
    }
}
