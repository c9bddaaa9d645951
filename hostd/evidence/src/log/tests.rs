//! Logs that are whole, torn, damaged and followed.

use std::io::{self, Cursor, Write};

use fastrand::Rng;

use super::{Piece, Reader, Recovered, Stream, Summary, TAIL_BYTES, Writer, recover};

/// Everything from `offset` on: the bytes of output, and how many are reported missing.
fn read(log: &[u8], index: &[u8], offset: u64) -> (Vec<u8>, u64) {
    let mut reader = Reader::new(Cursor::new(log), index, offset).unwrap();
    let (mut all, mut missing) = (Vec::new(), 0);
    while let Some(piece) = reader.next_piece().unwrap() {
        match piece {
            Piece::Output {
                offset: at, bytes, ..
            } => {
                assert_eq!(at, offset + all.len() as u64);
                all.extend(bytes);
            }
            Piece::Dropped(bytes) => missing += bytes,
        }
    }
    assert_eq!(reader.offset().max(offset), offset + all.len() as u64);
    (all, missing)
}

/// A log of random pieces, its index, and what was written.
fn random_log(random: &mut Rng, bytes: usize, cap: u64) -> (Vec<u8>, Vec<u8>, Vec<u8>, Summary) {
    let (mut log, mut index, mut written) = (Vec::new(), Vec::new(), Vec::new());
    let mut writer = Writer::new(&mut log, &mut index, cap);
    let mut time = 0;
    while written.len() < bytes {
        time += random.u64(..1000);
        let len = if random.u8(..20) == 0 {
            random.usize(..200_000)
        } else {
            random.usize(..300)
        };
        let piece: Vec<u8> = (0..len).map(|_| random.u8(..)).collect();
        let stream = random
            .choice([Stream::Output, Stream::Error, Stream::Uart])
            .unwrap();
        writer.push(time, stream, random.u16(..9), &piece);
        written.extend(piece);
        if random.u8(..9) == 0 {
            writer.flush();
        }
    }
    let summary = writer.finish();
    (log, index, written, summary)
}

#[test]
fn what_is_written_is_read_from_any_offset_with_and_without_the_index() {
    let mut random = Rng::with_seed(1);
    for _ in 0..8 {
        let (log, index, written, summary) = random_log(&mut random, 500_000, u64::MAX);
        assert_eq!((summary.bytes, summary.dropped), (written.len() as u64, 0));
        assert!(index.len() / 16 >= written.len() / (200_000 + 65_536));
        for _ in 0..20 {
            let offset = random.usize(..written.len() + 10);
            let rest = written.get(offset..).unwrap_or_default();
            assert!(read(&log, &index, offset as u64).0 == rest);
            assert!(read(&log, &[], offset as u64).0 == rest);
        }
        assert!(read(&log, &index, 0).0 == written);
    }
}

#[test]
fn each_piece_keeps_its_time_stream_and_step() {
    let (mut log, mut index) = (Vec::new(), Vec::new());
    let mut writer = Writer::new(&mut log, &mut index, 100);
    writer.push(5, Stream::Uart, 2, b"boot ok\n");
    writer.push(9, Stream::Error, 3, b"bad");
    writer.finish();
    let mut reader = Reader::new(Cursor::new(&log), &index, 5).unwrap();
    let expected = [
        Piece::Output {
            offset: 5,
            time_us: 5,
            stream: Stream::Uart,
            step: 2,
            bytes: b"ok\n".to_vec(),
        },
        Piece::Output {
            offset: 8,
            time_us: 9,
            stream: Stream::Error,
            step: 3,
            bytes: b"bad".to_vec(),
        },
    ];
    for piece in expected {
        assert_eq!(reader.next_piece().unwrap(), Some(piece));
    }
    assert_eq!(reader.next_piece().unwrap(), None);
}

#[test]
fn past_its_bound_a_log_keeps_its_beginning_and_its_end() {
    let mut random = Rng::with_seed(2);
    let (log, index, written, summary) = random_log(&mut random, 5_000_000, 100_000);
    let (all, missing) = read(&log, &index, 0);
    assert_eq!(
        (all.len() as u64, missing),
        (summary.bytes, summary.dropped)
    );
    assert_eq!(summary.bytes + summary.dropped, written.len() as u64);
    assert_eq!(summary.disk_bytes, log.len() as u64);
    let begin = begin(&log);
    assert!((95_000..100_000).contains(&begin), "{begin}");
    assert!(all[..begin] == written[..begin]);
    let end = &all[begin..];
    assert!(written.ends_with(end));
    assert!(
        (TAIL_BYTES / 2..=TAIL_BYTES).contains(&end.len()),
        "{}",
        end.len()
    );
    assert!(log.len() < 100_000 + TAIL_BYTES + TAIL_BYTES / 2);
    // A log that exceeds its bound only slightly lacks nothing.
    let (log, index, written, summary) = random_log(&mut random, 200_000, 100_000);
    assert_eq!(summary.dropped, 0);
    assert!(read(&log, &index, 0) == (written, 0));
}

/// Bytes of output before the first that are missing.
fn begin(log: &[u8]) -> usize {
    let mut reader = Reader::new(Cursor::new(log), &[], 0).unwrap();
    let mut begin = 0;
    while let Some(Piece::Output { bytes, .. }) = reader.next_piece().unwrap() {
        begin += bytes.len();
    }
    begin
}

/// A program that writes byte by byte: to one stream, or to two by turns.
#[test]
fn single_bytes_take_no_more_of_the_disk_than_the_bound() {
    const BYTES: u64 = 300_000;
    for streams in [
        [Stream::Output, Stream::Output],
        [Stream::Output, Stream::Error],
    ] {
        let (mut log, mut index) = (Vec::new(), Vec::new());
        let mut writer = Writer::new(&mut log, &mut index, 200_000);
        for time in 0..BYTES {
            let stream = streams[usize::try_from(time % 2).unwrap()];
            writer.push(time, stream, 0, &[b'0' + u8::try_from(time % 10).unwrap()]);
            if time % 100_000 == 99_999 {
                writer.flush();
            }
        }
        let summary = writer.finish();
        assert_eq!(summary.disk_bytes, log.len() as u64);
        assert!(log.len() < 200_000 + TAIL_BYTES, "{}", log.len());
        let (all, missing) = read(&log, &index, 0);
        assert_eq!(all.len() as u64 + missing, BYTES);
        assert!(all.starts_with(b"0123456789"));
        // By turns, each byte is a frame; one stream alone is a frame every few milliseconds.
        let is_one = streams[0] == streams[1];
        assert_eq!(missing == 0, is_one, "{missing}");
        assert!(!is_one || log.len() < 302_000, "{}", log.len());
    }
}

/// What comes later than a few milliseconds has its own time, and another step its own frame.
#[test]
fn pieces_are_merged_by_time_stream_and_step() {
    let (mut log, mut index) = (Vec::new(), Vec::new());
    let mut writer = Writer::new(&mut log, &mut index, u64::MAX);
    for (time, stream, step, text) in [
        (1, Stream::Output, 0, "a"),
        (9_000, Stream::Output, 0, "b"),
        (10_002, Stream::Output, 0, "c"),
        (10_003, Stream::Error, 0, "d"),
        (10_004, Stream::Error, 1, "e"),
        (10_005, Stream::Error, 1, "f"),
    ] {
        writer.push(time, stream, step, text.as_bytes());
    }
    writer.finish();
    let mut reader = Reader::new(Cursor::new(&log), &index, 0).unwrap();
    let mut found = Vec::new();
    while let Some(Piece::Output { time_us, bytes, .. }) = reader.next_piece().unwrap() {
        found.push((time_us, String::from_utf8(bytes).unwrap()));
    }
    let expected = [(1, "ab"), (10_002, "c"), (10_003, "d"), (10_004, "ef")];
    assert_eq!(found, expected.map(|(time, text)| (time, text.to_owned())));
}

#[test]
fn a_follower_sees_what_was_flushed_and_goes_on_from_there() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = Writer::new(file.reopen().unwrap(), io::sink(), 1000);
    writer.push(1, Stream::Output, 0, b"one ");
    let mut follower = Reader::new(file.reopen().unwrap(), &[], 0).unwrap();
    assert_eq!(follower.next_piece().unwrap(), None);
    writer.flush();
    assert!(
        matches!(follower.next_piece().unwrap(), Some(Piece::Output { bytes, .. }) if bytes == b"one ")
    );
    assert_eq!(follower.next_piece().unwrap(), None);
    writer.push(2, Stream::Output, 0, b"two");
    writer.finish();
    assert!(
        matches!(follower.next_piece().unwrap(), Some(Piece::Output { offset: 4, bytes, .. }) if bytes == b"two")
    );
}

#[test]
fn a_torn_log_is_whole_up_to_the_frame_that_was_torn() {
    let mut random = Rng::with_seed(3);
    let (log, index, written, _) = random_log(&mut random, 20_000, u64::MAX);
    for _ in 0..300 {
        let torn = &log[..random.usize(..log.len())];
        let found = recover(&mut Cursor::new(torn)).unwrap();
        let (all, _) = read(torn, &index, 0);
        assert!(written.starts_with(&all));
        assert_eq!(found.bytes, all.len() as u64);
        assert!(found.file_bytes <= torn.len() as u64);
        let cut = &torn[..usize::try_from(found.file_bytes).unwrap()];
        assert_eq!(recover(&mut Cursor::new(cut)).unwrap(), found);
        // After a crash a disk may also return zeros for data that never reached it.
        let mut zeros = torn.to_vec();
        zeros.resize(log.len() + 100, 0);
        assert_eq!(recover(&mut Cursor::new(zeros)).unwrap(), found);
    }
    let whole = recover(&mut Cursor::new(&log)).unwrap();
    let expected = Recovered {
        file_bytes: log.len() as u64,
        bytes: written.len() as u64,
        dropped: 0,
    };
    assert_eq!(whole, expected);
}

/// A disk with room for this many bytes.
struct Disk(Vec<u8>, usize);

impl Write for &mut Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > self.1 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_stops_the_log_and_not_whoever_writes() {
    let mut disk = Disk(Vec::new(), 300_000);
    let mut writer = Writer::new(&mut disk, io::sink(), u64::MAX);
    for time in 0..1000 {
        writer.push(time, Stream::Output, 0, &[b'x'; 4000]);
    }
    let summary = writer.finish();
    assert_eq!(summary.error.unwrap().kind(), io::ErrorKind::StorageFull);
    assert_eq!(summary.bytes + summary.dropped, 4_000_000);
    assert!(
        (200_000..300_000).contains(&summary.bytes),
        "{}",
        summary.bytes
    );
    assert_eq!(read(&disk.0, &[], 0).0.len() as u64, summary.bytes);
}
