//! Recordings of a serial line and of a line that toggles, as sigrok would have made them.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Samples a second.
pub(super) const RATE_HZ: u64 = 192_000;

/// Samples of a bit at 19,200 baud.
const BIT: usize = 10;

/// A recording of the channels `LINE` and `MORE`, a byte for each sample.
pub(super) fn recording(samples: &[u8]) -> Vec<u8> {
    let mut file = ZipWriter::new(Cursor::new(Vec::new()));
    let metadata = format!(
        "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\ntotal probes=2\n\
         samplerate={RATE_HZ} Hz\ntotal analog=0\nprobe1=LINE\nprobe2=MORE\nunitsize=1\n"
    );
    for (name, content) in [
        ("version", b"2".as_slice()),
        ("metadata", metadata.as_bytes()),
        ("logic-1-1", samples),
    ] {
        let options = SimpleFileOptions::default();
        file.start_file(name, options).unwrap();
        file.write_all(content).unwrap();
    }
    file.finish().unwrap().into_inner()
}

/// A line that changes every `every` samples.
pub(super) fn toggling(samples: usize, every: usize) -> Vec<u8> {
    (0..samples)
        .map(|at| u8::from(at / every % 2 == 1))
        .collect()
}

/// Frames with their checksums on one line, a long silence around each: 8 data bits, even parity.
pub(super) fn serial(frames: &[&[u8]]) -> Vec<u8> {
    let mut samples = vec![1; 100 * BIT];
    let bit = |samples: &mut Vec<u8>, high: bool| samples.extend([u8::from(high); BIT]);
    for frame in frames {
        let check = crc(frame).to_le_bytes();
        for byte in frame.iter().chain(&check) {
            bit(&mut samples, false);
            for index in 0..8 {
                bit(&mut samples, byte >> index & 1 == 1);
            }
            bit(&mut samples, byte.count_ones() % 2 == 1);
            bit(&mut samples, true);
        }
        samples.extend([1; 100 * BIT]);
    }
    samples
}

/// The checksum of Modbus RTU, by its definition.
fn crc(frame: &[u8]) -> u16 {
    let mut crc = 0xffff_u16;
    for byte in frame {
        crc ^= u16::from(*byte);
        for _ in 0..8 {
            let carry = crc & 1;
            crc >>= 1;
            if carry == 1 {
                crc ^= 0xa001;
            }
        }
    }
    crc
}
