//! UF2 files (Microsoft, "USB Flashing Format (UF2)"): blocks of 512 bytes, each with its address and, if it says so, the
//! family of chips that it is for. One file may serve several families.

use std::collections::BTreeMap;

use super::families::{self, Family};
use super::segments::{Segment, Segments};
use super::{Format, IMAGE_BYTES_MAX, ImageError};

/// The first magic number, at the start of every block.
pub(super) const MAGIC: [u8; 4] = 0x0a32_4655u32.to_le_bytes();
const MAGIC_SECOND: u32 = 0x9e5d_5157;
const MAGIC_END: u32 = 0x0ab1_6f30;

const BLOCK_BYTES: usize = 512;
const DATA_AT: usize = 32;
const DATA_BYTES_MAX: u32 = 476;

const NOT_MAIN_FLASH: u32 = 1;
const FILE_CONTAINER: u32 = 0x1000;
const HAS_FAMILY: u32 = 0x2000;

/// Most families of one file.
const FAMILIES_MAX: usize = 64;

/// The block that Pico SDK 2 writes before others, so that a chip with erratum RP2350-E10 takes them from a drive. It is
/// not part of the program.
const E10_ADDRESS: u32 = 0x10ff_ff00;
const E10_BYTE: u8 = 0xef;

/// The blocks of a file by the family that they are for; none is for every chip.
pub(super) type Families = BTreeMap<Option<Family>, Vec<Segment>>;

pub(super) fn read(file: &[u8]) -> Result<Families, ImageError> {
    let (blocks, rest) = file.as_chunks::<BLOCK_BYTES>();
    if !rest.is_empty() || blocks.is_empty() {
        return Err(ImageError::CutOff {
            format: Format::Uf2,
            what: "the last block",
        });
    }
    let mut found: BTreeMap<Option<Family>, Segments> = BTreeMap::new();
    let mut data_bytes = 0;
    for (number, block) in blocks.iter().enumerate() {
        let broken = |what| ImageError::Uf2Block {
            block: number,
            what,
        };
        let flags = field(block, 2);
        if block[..4] != MAGIC || field(block, 1) != MAGIC_SECOND || field(block, 127) != MAGIC_END
        {
            return Err(broken("its magic numbers are wrong"));
        }
        // A block for a file system or for memory other than the flash.
        if flags & (NOT_MAIN_FLASH | FILE_CONTAINER) != 0 {
            continue;
        }
        let (address, bytes) = (field(block, 3), field(block, 4));
        if bytes > DATA_BYTES_MAX {
            return Err(broken("it states more data than fits into a block"));
        }
        let data = &block[DATA_AT..DATA_AT + bytes as usize];
        let family = (flags & HAS_FAMILY != 0).then(|| Family(field(block, 7)));
        if family == Some(families::ABSOLUTE) && is_e10(address, data) {
            continue;
        }
        data_bytes += data.len();
        if data_bytes > IMAGE_BYTES_MAX {
            let limit = IMAGE_BYTES_MAX;
            return Err(ImageError::TooLarge { limit });
        }
        if found.len() == FAMILIES_MAX && !found.contains_key(&family) {
            return Err(broken("it is for one family of chips too many"));
        }
        found.entry(family).or_default().add(address, data)?;
    }
    let finished = found
        .into_iter()
        .map(|(family, segments)| Ok((family, segments.finish()?)));
    finished.collect()
}

fn is_e10(address: u32, data: &[u8]) -> bool {
    address == E10_ADDRESS && data.iter().all(|byte| *byte == E10_BYTE)
}

/// One of the 128 words of a block.
fn field(block: &[u8; BLOCK_BYTES], place: usize) -> u32 {
    let (words, _) = block.as_chunks();
    u32::from_le_bytes(words[place])
}
