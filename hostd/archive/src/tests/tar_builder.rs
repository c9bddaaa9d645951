//! Writes tars that no decent program would.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{EntryType, Header};

/// A tar under construction.
#[derive(Default)]
pub(super) struct Tar(pub(super) Vec<u8>);

impl Tar {
    /// Any entry; `size` is what the header says.
    pub(super) fn sized(
        mut self,
        kind: EntryType,
        name: &str,
        link: &str,
        size: u64,
        data: &[u8],
    ) -> Self {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(0o644);
        header.set_size(size);
        header.set_cksum();
        self.0.extend(header.as_bytes());
        self.0.extend(data);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    pub(super) fn entry(self, kind: EntryType, name: &str, link: &str, data: &[u8]) -> Self {
        self.sized(kind, name, link, data.len() as u64, data)
    }

    pub(super) fn file(self, name: &str, data: &[u8]) -> Self {
        self.entry(EntryType::Regular, name, "", data)
    }

    pub(super) fn folder(self, name: &str) -> Self {
        self.entry(EntryType::Directory, name, "", b"")
    }

    pub(super) fn link(self, name: &str, target: &str) -> Self {
        self.entry(EntryType::Symlink, name, target, b"")
    }

    pub(super) fn hard(self, name: &str, target: &str) -> Self {
        self.entry(EntryType::Link, name, target, b"")
    }

    /// Records for the next entry.
    pub(super) fn pax(self, records: &[(&str, &str)]) -> Self {
        let data = pax_records(records);
        self.entry(EntryType::XHeader, "pax", "", &data)
    }

    pub(super) fn long_name(self, name: &[u8]) -> Self {
        self.entry(EntryType::GNULongName, "././@LongLink", "", name)
    }

    pub(super) fn mode(mut self, mode: u32) -> Self {
        // For the last header, whose entry has no data.
        let start = self.0.len() - 512;
        let mut header = Header::new_gnu();
        header.as_mut_bytes().copy_from_slice(&self.0[start..]);
        header.set_mode(mode);
        header.set_cksum();
        self.0[start..].copy_from_slice(header.as_bytes());
        self
    }

    /// With its end, uncompressed.
    pub(super) fn plain(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 1024, 0);
        self.0
    }

    pub(super) fn gz(self) -> Vec<u8> {
        gzip(&self.plain())
    }
}

pub(super) fn pax_records(records: &[(&str, &str)]) -> Vec<u8> {
    let record = |(key, value): &(&str, &str)| {
        let rest = format!(" {key}={value}\n");
        let digits = |length: usize| (length + rest.len()).to_string().len();
        format!("{}{rest}", digits(digits(3)) + rest.len())
    };
    records.iter().map(record).collect::<String>().into_bytes()
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
