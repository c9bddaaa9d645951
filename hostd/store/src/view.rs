//! A database file opened without being changed: what redb writes while it opens and checks the
//! file stays in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

/// Written parts are kept in memory in multiples of this.
const BLOCK_BYTES: u64 = 4096;

#[derive(Debug)]
pub(super) struct View {
    file: File,
    changes: Mutex<Changes>,
}

#[derive(Debug)]
struct Changes {
    len: u64,
    /// How much of the file is still valid; parts that were truncated and extended again read as
    /// zeros.
    file_len: u64,
    /// Written blocks, by number.
    blocks: BTreeMap<u64, Vec<u8>>,
}

impl View {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        let changes = Changes {
            len,
            file_len: len,
            blocks: BTreeMap::new(),
        };
        Ok(Self {
            file,
            changes: Mutex::new(changes),
        })
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Read the file at this offset; zeros after its end.
    fn read_file(&self, file_len: u64, offset: u64, out: &mut [u8]) -> io::Result<()> {
        out.fill(0);
        let there = file_len.saturating_sub(offset);
        let there = usize::try_from(there).unwrap_or(usize::MAX).min(out.len());
        self.file.read_exact_at(&mut out[..there], offset)
    }
}

/// The part of block `number` that lies in `offset..offset + len`: its start in the block, its start
/// in the part, and its length.
fn overlap(number: u64, offset: u64, len: usize) -> (usize, usize, usize) {
    let begin = number * BLOCK_BYTES;
    let from = begin.max(offset);
    let to = (begin + BLOCK_BYTES).min(offset + len as u64);
    let small = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    (small(from - begin), small(from - offset), small(to - from))
}

impl StorageBackend for View {
    fn len(&self) -> io::Result<u64> {
        Ok(self.changes().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let changes = self.changes();
        let end = offset.checked_add(out.len() as u64);
        let Some(end) = end.filter(|end| *end <= changes.len) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        self.read_file(changes.file_len, offset, out)?;
        let blocks = offset / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES);
        for (number, block) in changes.blocks.range(blocks) {
            let (in_block, in_part, len) = overlap(*number, offset, out.len());
            out[in_part..in_part + len].copy_from_slice(&block[in_block..in_block + len]);
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut changes = self.changes();
        if len < changes.len {
            changes.blocks.split_off(&len.div_ceil(BLOCK_BYTES));
            if let Some(last) = changes.blocks.get_mut(&(len / BLOCK_BYTES)) {
                let keep = usize::try_from(len % BLOCK_BYTES).unwrap_or(0);
                last[keep..].fill(0);
            }
        }
        changes.file_len = changes.file_len.min(len);
        changes.len = len;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut changes = self.changes();
        let end = offset.checked_add(data.len() as u64);
        let Some(end) = end.filter(|end| *end <= changes.len) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let file_len = changes.file_len;
        for number in offset / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES) {
            let block = match changes.blocks.entry(number) {
                std::collections::btree_map::Entry::Occupied(there) => there.into_mut(),
                std::collections::btree_map::Entry::Vacant(place) => {
                    let mut block = vec![0; usize::try_from(BLOCK_BYTES).unwrap_or_default()];
                    self.read_file(file_len, number * BLOCK_BYTES, &mut block)?;
                    place.insert(block)
                }
            };
            let (in_block, in_part, len) = overlap(number, offset, data.len());
            block[in_block..in_block + len].copy_from_slice(&data[in_part..in_part + len]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use base::seeded::Random;

    #[test]
    fn it_reads_as_if_it_were_written_and_the_file_stays_as_it_was() {
        let mut random = Random(77);
        let before: Vec<u8> = (0..20_000u32).map(|n| n.to_le_bytes()[0]).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&before).unwrap();
        let view = View::new(file.try_clone().unwrap()).unwrap();
        let mut expected = before.clone();
        for _ in 0..2_000 {
            let at = random.index(expected.len().max(1));
            match random.below(10) {
                0 => {
                    let len = random.index(30_000);
                    expected.resize(len, 0);
                    view.set_len(len as u64).unwrap();
                }
                1..5 if !expected.is_empty() => {
                    let len = random.index(expected.len() - at);
                    let data = vec![random.next().to_le_bytes()[0]; len];
                    expected[at..at + len].copy_from_slice(&data);
                    view.write(at as u64, &data).unwrap();
                }
                _ => {
                    let len = random.index((expected.len() - at.min(expected.len())).max(1));
                    let mut out = vec![9; len];
                    if at + len <= expected.len() {
                        view.read(at as u64, &mut out).unwrap();
                        assert_eq!(out, expected[at..at + len]);
                    } else {
                        assert!(view.read(at as u64, &mut out).is_err());
                    }
                }
            }
        }
        let mut out = vec![0; before.len()];
        file.read_exact_at(&mut out, 0).unwrap();
        assert_eq!(out, before);
    }
}
