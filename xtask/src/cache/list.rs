//! The list of what a folder of the cache holds, which is how damage is noticed: a line for each file, with its CRC-32, its
//! size, its date, how it is handed out, and its path below the profile's folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

use anyhow::{Context, Result, bail};

use super::file::Sum;

/// The list's own name in the folder.
const NAME: &str = "list";

/// Begins every list. The number changes with the format.
const TITLE: &str = "hostd crates 1 ";

/// How a file gets from the cache into a target folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// As a second name of the same file.
    Link,
    /// As a copy.
    Copy,
    /// As a copy in which the folder of its build script is filled in.
    Text,
}

/// A file of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) how: How,
    pub(super) sum: Sum,
    /// The modification time, as `file::date` reads it.
    pub(super) date: u64,
}

/// Every file by its path, with forward slashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct List(pub(super) BTreeMap<String, Entry>);

impl How {
    const LETTERS: [(Self, &str); 3] = [(Self::Link, "l"), (Self::Copy, "c"), (Self::Text, "t")];

    fn letter(self) -> &'static str {
        let known = Self::LETTERS.iter().find(|(how, _)| *how == self);
        known.map_or("", |(_, letter)| letter)
    }

    fn of(letter: &str) -> Option<Self> {
        let known = Self::LETTERS.iter().find(|(_, known)| *known == letter);
        known.map(|(how, _)| *how)
    }
}

impl List {
    /// Reads the list of a folder. An error says in what way it is damaged.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let text = fs::read_to_string(folder.join(NAME)).context("its list cannot be read")?;
        Self::parse(&text)
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(NAME);
        fs::write(&path, self.print())
            .with_context(|| format!("failed to write {}", path.display()))
    }

    /// The size of all files in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.0.values().map(|entry| entry.sum.size).sum()
    }

    fn print(&self) -> String {
        let mut lines = String::new();
        for (path, entry) in &self.0 {
            let Sum { size, crc } = entry.sum;
            let (date, how) = (entry.date, entry.how.letter());
            lines.push_str(&format!("{crc:08x} {size} {date} {how} {path}\n"));
        }
        format!("{TITLE}{:08x}\n{lines}", Sum::of(lines.as_bytes()).crc)
    }

    fn parse(text: &str) -> Result<Self> {
        let parts = text
            .split_once('\n')
            .and_then(|(title, lines)| Some((title.strip_prefix(TITLE)?, lines)));
        let (crc, lines) = parts.context("its list is none")?;
        if u32::from_str_radix(crc, 16) != Ok(Sum::of(lines.as_bytes()).crc) {
            bail!("its list was changed or is not complete");
        }
        let entries = lines.lines().map(|line| {
            parse_line(line).with_context(|| format!("its list has the line `{line}`"))
        });
        entries.collect::<Result<_>>().map(Self)
    }
}

fn parse_line(line: &str) -> Option<(String, Entry)> {
    let mut words = line.splitn(5, ' ');
    let crc = u32::from_str_radix(words.next()?, 16).ok()?;
    let size = words.next()?.parse().ok()?;
    let date = words.next()?.parse().ok()?;
    let how = How::of(words.next()?)?;
    let path = words.next()?;
    let stays = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let sum = Sum { size, crc };
    (stays && !path.is_empty()).then(|| (path.to_owned(), Entry { how, sum, date }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> List {
        let entry = |how, text: &str| Entry {
            how,
            sum: Sum::of(text.as_bytes()),
            date: 1_600_000_000_000_000_001,
        };
        let files = [
            ("deps/liba-0123456789abcdef.rlib", entry(How::Link, "a")),
            ("build/a-0123456789abcdef/out/a b.rs", entry(How::Copy, "")),
            ("build/a-0123456789abcdef/output", entry(How::Text, "bcd")),
        ];
        List(files.map(|(path, entry)| (path.to_owned(), entry)).into())
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let text = list().print();
        assert_eq!(List::parse(&text).unwrap(), list());
        assert_eq!(list().bytes(), 4);
    }

    #[test]
    fn a_list_that_was_changed_anywhere_is_damaged() {
        let text = list().print();
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            assert!(List::parse(&changed).is_err(), "{changed}");
            assert!(List::parse(&text[..at]).is_err(), "{at}");
        }
    }

    #[test]
    fn a_path_that_leaves_the_folder_is_damage() {
        for path in ["../a", "/a", "a/../../b", ""] {
            assert_eq!(
                parse_line(&format!("00000000 0 0 c {path}")),
                None,
                "{path}"
            );
        }
        assert!(parse_line("00000000 0 0 c a/b").is_some());
        assert_eq!(parse_line("00000000 0 0 x a/b"), None);
    }
}
