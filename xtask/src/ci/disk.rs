//! Whether the disks of the checkout and of temporary files have room for a run.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

const KIB_PER_GIB: u64 = 1 << 20;

/// What a run from a fresh clone writes, in GiB: compiled code, tests and what they store.
const RUN_GIB: u64 = 8;

/// Free space in GiB below which servers under test may refuse uploads (`disk.floor_mib`), so that tests fail by it.
const TIGHT_GIB: u64 = 2;

/// A sentence for each disk that is too full for a whole run. `None` for a disk of which nothing is known.
pub(super) fn before(root: &Path) -> Vec<String> {
    short(root, RUN_GIB, |folder, free| {
        format!(
            "the disk of {folder} has {free} GiB free, and a run from a fresh clone writes about {RUN_GIB} GiB"
        )
    })
}

/// A sentence for each disk that has so little room left that checks may have failed for it.
pub(super) fn after(root: &Path) -> Vec<String> {
    short(root, TIGHT_GIB, |folder, free| {
        format!(
            "the disk of {folder} has {free} GiB left: servers refuse uploads and jobs on a full disk, so checks may have failed for that alone"
        )
    })
}

fn short(root: &Path, needed: u64, sentence: impl Fn(&str, u64) -> String) -> Vec<String> {
    let temporary = env::temp_dir();
    let mut sentences = Vec::new();
    for (name, folder) in [("this checkout", root), ("temporary files", &temporary)] {
        if let Ok(free) = free_gib(folder)
            && free < needed
        {
            sentences.push(sentence(name, free));
        }
    }
    sentences
}

/// Free space of the file system that holds `folder`, in whole GiB.
fn free_gib(folder: &Path) -> Result<u64> {
    let output = Command::new("df").arg("-Pk").arg(folder).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    available_gib(&text).context("df printed no free space")
}

/// The fourth column of the last line of `df -Pk`, KiB, as POSIX has it; counted from the percentage,
/// since the name of a file system may have blanks.
fn available_gib(text: &str) -> Option<u64> {
    let columns: Vec<&str> = text.lines().nth(1)?.split_whitespace().collect();
    let used = columns.iter().position(|column| {
        let digits = column.strip_suffix('%');
        digits.is_some_and(|digits| digits.parse::<u64>().is_ok())
    })?;
    let kib: u64 = columns.get(used.checked_sub(1)?)?.parse().ok()?;
    Some(kib / KIB_PER_GIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_is_read_from_what_df_prints() {
        let head = "Filesystem     1024-blocks     Used Available Capacity Mounted on\n";
        let line = |rest: &str| available_gib(&format!("{head}{rest}\n"));
        assert_eq!(
            line("/dev/vda         263164964 29000000  66000000      32% /"),
            Some(62)
        );
        assert_eq!(
            line("a share          100 50  1048576      50% /mnt"),
            Some(1)
        );
        assert_eq!(line("overlay 1 1 0 100% /"), Some(0));
        assert_eq!(line("proc - - - - /proc"), None);
        assert_eq!(available_gib(""), None);
    }

    #[test]
    fn a_disk_is_named_only_when_it_is_too_full() {
        let here = env::temp_dir();
        assert_eq!(short(&here, 0, |_, _| String::new()), Vec::<String>::new());
        let all = short(&here, u64::MAX, |folder, _| folder.to_owned());
        assert_eq!(all, ["this checkout", "temporary files"]);
    }
}
