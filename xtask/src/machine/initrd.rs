//! Writes an initial RAM disk: an archive of the kind that the kernel unpacks, "newc" of cpio
//! (Documentation/driver-api/early-userspace/buffer-format.rst in the kernel's sources).

use std::collections::BTreeSet;

use anyhow::{Context, Result};

/// What begins each entry.
const MAGIC: &str = "070701";

/// What entries and their content are padded to, in bytes.
const ALIGNMENT: usize = 4;

/// The name of the entry behind the last.
const TRAILER: &str = "TRAILER!!!";

/// Of a mode: what kind of file it is (stat(2)).
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

/// An archive in the making. Everything in it is root's.
#[derive(Default)]
pub(crate) struct Initrd {
    bytes: Vec<u8>,
    entries: u32,
    folders: BTreeSet<String>,
    programs: BTreeSet<String>,
}

impl Initrd {
    /// Adds a file and the folders on its way. Its path is relative.
    pub(crate) fn file(&mut self, path: &str, content: &[u8]) -> Result<()> {
        self.folders_above(path)?;
        self.entry(path, FILE | 0o644, content)
    }

    /// Adds a file that can be executed, and the folders on its way. A library that is there already stays.
    pub(crate) fn program(&mut self, path: &str, content: &[u8]) -> Result<()> {
        if !self.programs.insert(path.to_owned()) {
            return Ok(());
        }
        self.folders_above(path)?;
        self.entry(path, FILE | 0o755, content)
    }

    /// Adds a symbolic link and the folders on its way.
    pub(crate) fn link(&mut self, path: &str, target: &str) -> Result<()> {
        self.folders_above(path)?;
        self.entry(path, LINK | 0o777, target.as_bytes())
    }

    /// The whole archive.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>> {
        self.entry(TRAILER, 0, b"")?;
        Ok(self.bytes)
    }

    fn folders_above(&mut self, path: &str) -> Result<()> {
        for (at, _) in path.match_indices('/') {
            let folder = &path[..at];
            if self.folders.insert(folder.to_owned()) {
                self.entry(folder, FOLDER | 0o755, b"")?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) -> Result<()> {
        let length =
            |length: usize| u32::try_from(length).context("failed to pack a file over 4 GiB");
        self.entries += 1;
        // Number, mode, user, group, links, time, length, four numbers of devices, length of the name with
        // its zero, checksum.
        let (length_of_content, length_of_name) = (length(content.len())?, length(path.len() + 1)?);
        let fields = [
            self.entries,
            mode,
            0,
            0,
            1,
            0,
            length_of_content,
            0,
            0,
            0,
            0,
            length_of_name,
            0,
        ];
        self.bytes.extend_from_slice(MAGIC.as_bytes());
        for field in fields {
            self.bytes
                .extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
        Ok(())
    }

    fn pad(&mut self) {
        let length = self.bytes.len().next_multiple_of(ALIGNMENT);
        self.bytes.resize(length, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_as_the_kernel_documents_it() {
        let mut initrd = Initrd::default();
        initrd.program("usr/bin/a", b"#!x").unwrap();
        initrd.file("usr/b", b"").unwrap();
        initrd.link("bin", "usr/bin").unwrap();
        let bytes = initrd.finish().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.len() % ALIGNMENT, 0);
        let entries: Vec<&str> = text.split(MAGIC).skip(1).collect();
        let field =
            |entry: &str, at: usize| u32::from_str_radix(&entry[8 * at..][..8], 16).unwrap();
        let told: Vec<(u32, &str)> = entries
            .iter()
            .map(|entry| {
                let name = field(entry, 11) as usize - 1;
                (field(entry, 1), &entry[104..][..name])
            })
            .collect();
        assert_eq!(
            told,
            [
                (0o040_755, "usr"),
                (0o040_755, "usr/bin"),
                (0o100_755, "usr/bin/a"),
                (0o100_644, "usr/b"),
                (0o120_777, "bin"),
                (0, TRAILER),
            ]
        );
        // Its header has 110 bytes and its name ten, so its content begins at once.
        assert_eq!(field(entries[2], 6), 3);
        assert!(entries[2].ends_with("usr/bin/a\0#!x\0"), "{:?}", entries[2]);
    }
}
