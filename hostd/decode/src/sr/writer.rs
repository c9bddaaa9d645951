//! Writes version 2 files: one deflated entry per block of samples.

use libdeflater::{CompressionLvl, Compressor, crc32};

/// Zip version needed to unpack an entry, and the one that made it: 2.0, for deflate.
const VERSION_NEEDED: u16 = 20;

/// The channels and samples of a file.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// Samples per second.
    pub sample_rate_hz: u64,
    /// Names of the logic channels; a channel's number is its bit in a sample.
    pub logic: &'a [&'a str],
    /// Bytes per logic sample, 1..=8.
    pub unit_size: usize,
    /// Names of the analog channels.
    pub analog: &'a [&'a str],
}

/// An `.sr` file being written.
pub struct Writer {
    file: Vec<u8>,
    /// Number of bytes already taken by the caller.
    taken: usize,
    /// Number of logic channels; analog channels are numbered after them.
    logic: usize,
    directory: Vec<u8>,
    entries: u16,
    /// Blocks of logic samples so far.
    blocks: u32,
    /// Those of each analog channel: readers look for each channel's from 1 on.
    analog_blocks: Vec<u32>,
    deflater: Compressor,
}

impl Writer {
    /// A file of samples with one bit per name, in as few bytes as that takes.
    pub fn new(sample_rate_hz: u64, channels: &[&str]) -> Self {
        Self::with_unit_size(sample_rate_hz, channels, channels.len().div_ceil(8).max(1))
    }

    /// Likewise, with samples of `unit_size` bytes.
    pub(crate) fn with_unit_size(sample_rate_hz: u64, channels: &[&str], unit_size: usize) -> Self {
        Self::with_layout(&Layout {
            sample_rate_hz,
            logic: channels,
            unit_size,
            analog: &[],
        })
    }

    /// A file of logic or analog samples, or both.
    pub fn with_layout(layout: &Layout<'_>) -> Self {
        let metadata = metadata(layout);
        let mut writer = Self {
            file: Vec::new(),
            taken: 0,
            logic: layout.logic.len(),
            directory: Vec::new(),
            entries: 0,
            blocks: 0,
            analog_blocks: vec![0; layout.analog.len()],
            deflater: Compressor::new(CompressionLvl::default()),
        };
        writer.entry("version", b"2");
        writer.entry("metadata", metadata.as_bytes());
        writer
    }

    /// Appends a block of raw samples.
    #[must_use]
    pub fn push(mut self, raw: &[u8]) -> Self {
        self.add(raw);
        self
    }

    /// Appends a block of raw samples.
    pub fn add(&mut self, raw: &[u8]) {
        self.blocks += 1;
        self.entry(&format!("logic-1-{}", self.blocks), raw);
    }

    /// Appends a block of samples of an analog channel, given by its index in the layout.
    pub fn add_analog(&mut self, channel: usize, samples: &[f32]) {
        self.analog_blocks[channel] += 1;
        let block = self.analog_blocks[channel];
        let bytes: Vec<u8> = samples.iter().flat_map(|s| s.to_le_bytes()).collect();
        let number = self.logic + channel + 1;
        self.entry(&format!("analog-1-{number}-{block}"), &bytes);
    }

    /// The bytes that became final since the last call, to append to the file.
    pub fn take(&mut self) -> Vec<u8> {
        self.taken += self.file.len();
        std::mem::take(&mut self.file)
    }

    /// The rest of the file: all of it, if nothing was taken.
    pub fn finish(mut self) -> Vec<u8> {
        let at = narrow(self.taken + self.file.len());
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
        let at = narrow(self.taken + self.file.len());
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

/// The keys that sigrok writes, in its order: analog channels are numbered after the logic ones.
fn metadata(layout: &Layout<'_>) -> String {
    let Layout {
        sample_rate_hz,
        logic,
        unit_size,
        analog,
    } = layout;
    let mut text = "[global]\nsigrok version=0.5.2\n\n[device 1]\n".to_owned();
    if !logic.is_empty() {
        text.push_str(&format!(
            "capturefile=logic-1\ntotal probes={}\n",
            logic.len()
        ));
    }
    text.push_str(&format!(
        "samplerate={sample_rate_hz} Hz\ntotal analog={}\n",
        analog.len()
    ));
    for (number, name) in (1..).zip(*logic) {
        text.push_str(&format!("probe{number}={name}\n"));
    }
    for (number, name) in (logic.len() + 1..).zip(*analog) {
        text.push_str(&format!("analog{number}={name}\n"));
    }
    if !logic.is_empty() {
        text.push_str(&format!("unitsize={unit_size}\n"));
    }
    text
}

/// Zip without ZIP64 ends at 4 GiB of packed bytes, which holds terabytes of samples.
fn narrow(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("the archive stays under 4 GiB")
}
