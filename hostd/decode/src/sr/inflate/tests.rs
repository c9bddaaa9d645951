//! What buffers keep.

use super::super::zip::Method;
use super::*;

#[test]
fn buffers_of_long_entries_do_not_add_up() {
    let bytes = vec![5; 12 << 20];
    let entry = |size: usize| Entry {
        name: "logic-1-1".to_owned(),
        method: Method::Stored,
        packed: &bytes[..size],
        size: size as u64,
        crc32: libdeflater::crc32(&bytes[..size]),
    };
    let mut batch = Batch::default();
    for at in 0..6 {
        let mut entries = vec![entry(1); 6];
        entries[at] = entry(bytes.len());
        batch.make_room(&entries);
        for (buffer, entry) in batch.buffers.iter_mut().zip(&entries) {
            buffer.inflate(entry, 1).unwrap();
        }
        let kept: u64 = batch.buffers.iter().map(Buffer::bytes_len).sum();
        assert!(kept <= AHEAD_MAX, "{kept}");
    }
}
