//! Files copied so that what is nothing but zeros takes nothing of the disk, for as long as there is room.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use crate::disk::Floor;

/// Bytes that are a hole if all of them are zero.
const BLOCK_BYTES: usize = 64 << 10;

/// Bytes that are written between two looks at the room that is left.
const LOOK_EVERY: u64 = 16 << 20;

/// Copies all that is read to an empty file, which takes `expected` bytes of the disk or fewer if nothing changes
/// meanwhile. Shows all bytes to `see`. How many there were.
///
/// # Errors
/// There is less room than that, or the rest of it is gone meanwhile: `StorageFull`. Or reading or writing fails.
pub(crate) fn copy_sparse(
    mut from: impl Read,
    to: &File,
    expected: u64,
    floor: Floor,
    mut see: impl FnMut(&[u8]),
) -> io::Result<u64> {
    floor.admit(to, expected)?;
    let mut block = vec![0; BLOCK_BYTES];
    let (mut len, mut unlooked) = (0, 0);
    loop {
        let filled = fill(&mut from, &mut block)?;
        if filled == 0 {
            to.set_len(len)?;
            return Ok(len);
        }
        let bytes = &block[..filled];
        see(bytes);
        if bytes.iter().any(|byte| *byte != 0) {
            unlooked += filled as u64;
            if LOOK_EVERY <= unlooked {
                floor.admit(to, 0)?;
                unlooked = 0;
            }
            to.write_all_at(bytes, len)?;
        }
        len += filled as u64;
    }
}

/// Reads until the block is full or there is no more.
fn fill(from: &mut impl Read, block: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < block.len() {
        match from.read(&mut block[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_copy_has_the_same_bytes_and_holes_for_zeros() {
        let mut content = vec![0; 40 << 20];
        content[5] = 1;
        content[20 << 20] = 2;
        let to = tempfile::tempfile().unwrap();
        let mut seen = 0;
        let copied = copy_sparse(&content[..], &to, 0, Floor::of(0), |bytes| {
            seen += bytes.len()
        });
        assert_eq!(copied.unwrap(), content.len() as u64);
        assert_eq!(seen, content.len());
        let taken = to.metadata().unwrap().blocks() * 512;
        assert!(taken <= 1 << 20, "{taken} bytes on the disk");
        let mut read = vec![1; content.len()];
        to.read_exact_at(&mut read, 0).unwrap();
        assert!(read == content);
        assert_eq!(to.metadata().unwrap().len(), content.len() as u64);
    }

    #[test]
    fn without_room_nothing_is_written_and_zeros_need_none() {
        let to = tempfile::tempfile().unwrap();
        let full = copy_sparse(&[1; 100][..], &to, u64::MAX, Floor::of(1), |_| {});
        assert!(base::space::is_full(&full.unwrap_err()));
        assert_eq!(to.metadata().unwrap().len(), 0);
        let zeros = io::repeat(0).take(40 << 20);
        copy_sparse(zeros, &to, 0, Floor::of(1), |_| {}).unwrap();
        assert_eq!(to.metadata().unwrap().blocks(), 0);
    }
}
