//! Descriptions of parts on I²C buses that users bring.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use decode::registers::{PART_BYTES_MAX, Part, Parts};

/// Most files of a folder.
const FILES_MAX: usize = 512;

/// How the name of a description ends.
const EXTENSION: &str = "toml";

/// The built-in parts, and those of files and folders of files; of two with the same name, the later one counts.
///
/// # Errors
/// A file cannot be read, or its description is wrong.
pub(crate) fn load<'p>(paths: impl IntoIterator<Item = &'p Path>) -> anyhow::Result<Parts> {
    let mut parts = Parts::built_in().clone();
    for path in paths {
        for file in files(path)? {
            let part = part(&file).with_context(|| format!("read {}", file.display()))?;
            parts.add(part)?;
        }
    }
    Ok(parts)
}

fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let shown = path.display();
    let mut files = Vec::new();
    for entry in fs::read_dir(path).with_context(|| format!("read the folder {shown}"))? {
        let file = entry
            .with_context(|| format!("read the folder {shown}"))?
            .path();
        if file
            .extension()
            .is_none_or(|extension| extension != EXTENSION)
        {
            continue;
        }
        if FILES_MAX <= files.len() {
            bail!("read the folder {shown}: it has more than {FILES_MAX} descriptions");
        }
        files.push(file);
    }
    files.sort();
    Ok(files)
}

fn part(file: &Path) -> anyhow::Result<Part> {
    let id = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut text = String::new();
    let most = PART_BYTES_MAX as u64 + 1;
    File::open(file)?.take(most).read_to_string(&mut text)?;
    Ok(Part::parse(&id, &text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINE: &str = "name = \"Mine\"\ndata_sheet = \"my own, page 1\"\naddresses = [0x10]";

    #[test]
    fn a_folder_adds_its_descriptions_and_a_wrong_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine.toml"), MINE).unwrap();
        fs::write(folder.path().join("lm75.toml"), MINE).unwrap();
        fs::write(folder.path().join("notes.txt"), "none").unwrap();
        let parts = load([folder.path()]).unwrap();
        let count = Parts::built_in().iter().count();
        assert_eq!(parts.iter().count(), count + 1);
        let changed = parts.iter().find(|part| part.id() == "lm75").unwrap();
        assert_eq!(changed.name(), "Mine");
        fs::write(folder.path().join("odd.toml"), "name = 1").unwrap();
        let error = format!("{:#}", load([folder.path()]).unwrap_err());
        assert!(error.contains("odd.toml"), "{error}");
        assert!(load([Path::new("/nowhere/at/all.toml")]).is_err());
    }

    #[test]
    fn a_file_without_an_end_is_not_read_to_it() {
        let error = format!("{:#}", load([Path::new("/dev/zero")]).unwrap_err());
        assert!(error.contains("the limit is 65536"), "{error}");
    }
}
