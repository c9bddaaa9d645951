//! Writes zips that no decent program would (APPNOTE.TXT 4.3.7, 4.3.12, 4.3.16).

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// An entry, with everything that its two headers say about it.
#[derive(Clone)]
pub(super) struct Zipped {
    pub(super) name: Vec<u8>,
    pub(super) local_name: Vec<u8>,
    pub(super) method: u16,
    pub(super) local_method: u16,
    pub(super) flags: u16,
    pub(super) mode: u32,
    pub(super) crc: u32,
    pub(super) size: u32,
    pub(super) packed: Vec<u8>,
    /// The place that the directory gives for the entry, if that is not the true one.
    pub(super) at: Option<u32>,
}

impl Zipped {
    pub(super) fn stored(name: &str, data: &[u8]) -> Self {
        let mut crc = Crc::new();
        crc.update(data);
        Self {
            name: name.as_bytes().to_vec(),
            local_name: name.as_bytes().to_vec(),
            method: 0,
            local_method: 0,
            flags: 0,
            mode: 0o100_644,
            crc: crc.sum(),
            size: u32::try_from(data.len()).unwrap(),
            packed: data.to_vec(),
            at: None,
        }
    }

    pub(super) fn deflated(name: &str, data: &[u8]) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(data).unwrap();
        Self {
            method: 8,
            local_method: 8,
            packed: encoder.finish().unwrap(),
            ..Self::stored(name, data)
        }
    }

    pub(super) fn mode(self, mode: u32) -> Self {
        Self { mode, ..self }
    }

    /// The fields from method to size, as both headers have them.
    fn middle(&self, method: u16) -> Vec<u8> {
        let packed = u32::try_from(self.packed.len()).unwrap();
        let mut bytes = Vec::new();
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend(method.to_le_bytes());
        // 1980-01-01, midnight.
        bytes.extend([0, 0, 0x21, 0]);
        bytes.extend(self.crc.to_le_bytes());
        bytes.extend(packed.to_le_bytes());
        bytes.extend(self.size.to_le_bytes());
        bytes
    }
}

/// A zip under construction.
#[derive(Default)]
pub(super) struct Zip {
    pub(super) entries: Vec<Zipped>,
    /// Bytes after the end record, which announces them as a comment.
    pub(super) comment: Vec<u8>,
    /// The number of entries in the end record, if not the true one.
    pub(super) count: Option<u16>,
    /// Bytes between the directory and the end record.
    pub(super) between: Vec<u8>,
}

impl Zip {
    pub(super) fn of(entries: &[Zipped]) -> Self {
        Self {
            entries: entries.to_vec(),
            ..Self::default()
        }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut directory = Vec::new();
        for entry in &self.entries {
            let at = entry.at.unwrap_or(u32::try_from(bytes.len()).unwrap());
            let name_bytes = |name: &[u8]| u16::try_from(name.len()).unwrap().to_le_bytes();
            bytes.extend(b"PK\x03\x04\x14\x00");
            bytes.extend(entry.middle(entry.local_method));
            bytes.extend(name_bytes(&entry.local_name));
            bytes.extend([0; 2]);
            bytes.extend(&entry.local_name);
            bytes.extend(&entry.packed);
            // Made by Unix, so that the upper half of the attributes is a mode.
            directory.extend(b"PK\x01\x02\x14\x03\x14\x00");
            directory.extend(entry.middle(entry.method));
            directory.extend(name_bytes(&entry.name));
            directory.extend([0; 8]);
            directory.extend((entry.mode << 16).to_le_bytes());
            directory.extend(at.to_le_bytes());
            directory.extend(&entry.name);
        }
        let start = u32::try_from(bytes.len()).unwrap();
        let length = u32::try_from(directory.len()).unwrap();
        let count = self
            .count
            .unwrap_or(u16::try_from(self.entries.len()).unwrap());
        bytes.extend(directory);
        bytes.extend(&self.between);
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        bytes.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
        bytes.extend(length.to_le_bytes());
        bytes.extend(start.to_le_bytes());
        bytes.extend(u16::try_from(self.comment.len()).unwrap().to_le_bytes());
        bytes.extend(&self.comment);
        bytes
    }
}
