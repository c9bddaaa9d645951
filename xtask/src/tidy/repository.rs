//! The files of the repository as git sees them: tracked, or new and not ignored.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::tool::Tool;

/// Every text file with its content.
pub(super) struct Repository {
    pub(super) files: Vec<SourceFile>,
    /// The paths of all files, text or not.
    pub(super) paths: Vec<String>,
}

/// One text file.
pub(super) struct SourceFile {
    /// Relative to the root, with forward slashes.
    pub(super) path: String,
    pub(super) text: String,
}

impl Repository {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let list = Tool::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .dir(root)
            .advice("the file rules need a git checkout")
            .read()?;
        let mut paths: Vec<String> = list.split_terminator('\0').map(str::to_owned).collect();
        // A file that was removed, but is still in the index, has no content to judge.
        paths.retain(|path| root.join(path).is_file());
        paths.sort();
        paths.dedup();
        let files = paths
            .iter()
            .filter_map(|path| {
                let text = String::from_utf8(fs::read(root.join(path)).ok()?).ok()?;
                Some(SourceFile {
                    path: path.clone(),
                    text,
                })
            })
            .filter(|file| !file.text.contains('\0'))
            .collect();
        Ok(Self { files, paths })
    }
}
