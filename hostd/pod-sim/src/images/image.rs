//! Firmware images of simulated pods. Real images are a maker's own; these carry just what a pod
//! must know of one before it runs it, in front of bytes that mean nothing.
//!
//! ```text
//!   0  "BPFW"                       8  u16 flash size in KiB that it was built for
//!   4  u8 major, minor, patch      10  u16 flags: bit 0 checks signatures of updates
//!   7  u8 format 1                 12  the rest
//! ```
//! Numbers are little-endian.

/// Bytes in front of what an image contains.
pub const IMAGE_HEADER_BYTES: usize = 12;

use crate::firmware::Firmware;

const MAGIC: &[u8; 4] = b"BPFW";
const FORMAT: u8 = 1;
const CHECKS_SIGNATURES: u16 = 1;

/// What a firmware image says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirmwareImage {
    /// Major, minor and patch.
    pub version: [u8; 3],
    /// Size of the flash it was built for, in KiB.
    pub flash_kb: u16,
    /// It checks signatures of updates, so that a policy outlives it.
    pub checks_signatures: bool,
}

impl FirmwareImage {
    /// The image with `content` after its header.
    pub fn build(&self, content: &[u8]) -> Vec<u8> {
        let flags = u16::from(self.checks_signatures) * CHECKS_SIGNATURES;
        let mut image = MAGIC.to_vec();
        image.extend(self.version);
        image.push(FORMAT);
        image.extend(self.flash_kb.to_le_bytes());
        image.extend(flags.to_le_bytes());
        image.extend(content);
        image
    }

    /// Reads the header. `None` when it is no such image.
    pub fn read(image: &[u8]) -> Option<Self> {
        let header: &[u8; IMAGE_HEADER_BYTES] = image.first_chunk()?;
        let flags = u16::from_le_bytes([header[10], header[11]]);
        let known = header.starts_with(MAGIC) && header[7] == FORMAT;
        known.then(|| Self {
            version: [header[4], header[5], header[6]],
            flash_kb: u16::from_le_bytes([header[8], header[9]]),
            checks_signatures: flags & CHECKS_SIGNATURES != 0,
        })
    }
}

impl From<FirmwareImage> for Firmware {
    fn from(image: FirmwareImage) -> Self {
        let [major, minor, patch] = image.version.map(u16::from);
        Self::new(major, minor, patch)
    }
}
