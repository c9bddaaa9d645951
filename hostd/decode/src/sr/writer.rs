//! Writes version 2 files: one deflated entry for each block of samples.

use libdeflater::{CompressionLvl, Compressor, crc32};

/// Offset of an entry's name in its local header.
const VERSION_NEEDED: u16 = 20;

/// An `.sr` file in the making.
pub struct Writer {
    file: Vec<u8>,
    directory: Vec<u8>,
    entries: u16,
    blocks: u32,
    deflater: Compressor,
}

impl Writer {
    /// A file of samples with one bit for each name, in as many bytes as that takes.
    pub fn new(sample_rate_hz: u64, channels: &[&str]) -> Self {
        Self::with_unit_size(sample_rate_hz, channels, channels.len().div_ceil(8).max(1))
    }

    /// Likewise, with samples of `unit_size` bytes.
    pub fn with_unit_size(sample_rate_hz: u64, channels: &[&str], unit_size: usize) -> Self {
        let mut metadata = format!(
            "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\n\
             total probes={}\nsamplerate={sample_rate_hz} Hz\ntotal analog=0\n",
            channels.len()
        );
        for (index, name) in channels.iter().enumerate() {
            metadata.push_str(&format!("probe{}={name}\n", index + 1));
        }
        metadata.push_str(&format!("unitsize={unit_size}\n"));
        let mut writer = Self {
            file: Vec::new(),
            directory: Vec::new(),
            entries: 0,
            blocks: 0,
            deflater: Compressor::new(CompressionLvl::default()),
        };
        writer.entry("version", b"2");
        writer.entry("metadata", metadata.as_bytes());
        writer
    }

    /// Appends a block of raw samples.
    #[must_use]
    pub fn push(mut self, raw: &[u8]) -> Self {
        self.blocks += 1;
        self.entry(&format!("logic-1-{}", self.blocks), raw);
        self
    }

    /// The file.
    pub fn finish(mut self) -> Vec<u8> {
        let at = narrow(self.file.len());
        let len = narrow(self.directory.len());
        self.file.append(&mut self.directory);
        self.file.extend(0x0605_4b50_u32.to_le_bytes());
        self.file.extend([0; 4]);
        self.file.extend(self.entries.to_le_bytes());
        self.file.extend(self.entries.to_le_bytes());
        self.file.extend(len.to_le_bytes());
        self.file.extend(at.to_le_bytes());
        self.file.extend([0; 2]);
        self.file
    }

    fn entry(&mut self, name: &str, bytes: &[u8]) {
        let mut packed = vec![0; self.deflater.deflate_compress_bound(bytes.len())];
        let len = self.deflater.deflate_compress(bytes, &mut packed);
        packed.truncate(len.expect("the bound is large enough"));
        let at = narrow(self.file.len());
        // Version, flags, method, time, date (1980-01-01), checksum, sizes, name length, no extra.
        let mut header = Vec::new();
        header.extend(VERSION_NEEDED.to_le_bytes());
        header.extend([0, 0, 8, 0, 0, 0, 0x21, 0]);
        header.extend(crc32(bytes).to_le_bytes());
        header.extend(narrow(packed.len()).to_le_bytes());
        header.extend(narrow(bytes.len()).to_le_bytes());
        header.extend(
            u16::try_from(name.len())
                .expect("names are short")
                .to_le_bytes(),
        );
        header.extend([0; 2]);
        self.file.extend(0x0403_4b50_u32.to_le_bytes());
        self.file.extend(&header);
        self.file.extend(name.as_bytes());
        self.file.append(&mut packed);
        self.directory.extend(0x0201_4b50_u32.to_le_bytes());
        self.directory.extend(VERSION_NEEDED.to_le_bytes());
        self.directory.extend(&header);
        self.directory.extend([0; 10]);
        self.directory.extend(at.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.entries += 1;
    }
}

/// Zip without ZIP64 ends at 4 GiB of packed bytes, which is terabytes of samples.
fn narrow(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("the archive stays under 4 GiB")
}
