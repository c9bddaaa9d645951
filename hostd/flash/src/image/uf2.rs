//! UF2 files (Microsoft, "USB Flashing Format (UF2)"): blocks of 512 bytes, each with its address.

use super::segments::Segments;
use super::{Format, ImageError};

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

pub(super) fn read(file: &[u8], segments: &mut Segments) -> Result<(), ImageError> {
    let (blocks, rest) = file.as_chunks::<BLOCK_BYTES>();
    if !rest.is_empty() || blocks.is_empty() {
        return Err(ImageError::CutOff {
            format: Format::Uf2,
            what: "the last block",
        });
    }
    let mut family = None;
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
        if flags & HAS_FAMILY != 0 && *family.get_or_insert(field(block, 7)) != field(block, 7) {
            return Err(broken(
                "it is for another family of chips than those before it",
            ));
        }
        let bytes = field(block, 4);
        if bytes > DATA_BYTES_MAX {
            return Err(broken("it states more data than fits into a block"));
        }
        segments.add(field(block, 3), &block[DATA_AT..DATA_AT + bytes as usize])?;
    }
    Ok(())
}

/// One of the 128 words of a block.
fn field(block: &[u8; BLOCK_BYTES], place: usize) -> u32 {
    let (words, _) = block.as_chunks();
    u32::from_le_bytes(words[place])
}
