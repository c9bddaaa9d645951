//! Firmware images of simulated pods. Real images are the manufacturer's own; these contain only
//! what a pod must know before it runs one, followed by bytes without meaning.
//!
//! ```text
//!   0  "BPFW"                       8  u16 flash size in KiB that it was built for
//!   4  u8 major, minor, patch      10  u16 flags: bit 0 checks signatures of updates
//!   7  u8 format 1                 12  the rest
//! ```
//! Numbers are little-endian.

/// Length of the header, in bytes.
pub const IMAGE_HEADER_BYTES: usize = 12;

use crate::firmware::Firmware;

const MAGIC: &[u8; 4] = b"BPFW";
const FORMAT: u8 = 1;
const CHECKS_SIGNATURES: u16 = 1;

/// The header fields of a firmware image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirmwareImage {
    /// Major, minor and patch.
    pub version: [u8; 3],
    /// Size of the flash it was built for, in KiB.
    pub flash_kb: u16,
    /// Whether it checks signatures of updates, so that a signature policy stays in force.
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

    /// Reads the header. `None` if it is not such an image.
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
