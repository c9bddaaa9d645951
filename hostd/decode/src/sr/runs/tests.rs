//! Against libdeflate, at every level, on what signals look like, and on damage.

use super::{Damaged, Inflater, Part, RUN_BLOCK, SLACK};
use libdeflater::{CompressionLvl, Compressor};

/// A sequence of numbers that is the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 20).unwrap() % end
    }
}

fn packed(bytes: &[u8], level: i32) -> Vec<u8> {
    let mut deflater = Compressor::new(CompressionLvl::new(level).unwrap());
    let mut packed = vec![0; deflater.deflate_compress_bound(bytes.len())];
    let len = deflater.deflate_compress(bytes, &mut packed).unwrap();
    packed.truncate(len);
    packed
}

/// All bytes, read with so much room; and how many of them were in runs.
fn inflated(
    packed: &[u8],
    unit: usize,
    room: usize,
    max: usize,
) -> Result<(Vec<u8>, u64), Damaged> {
    let mut inflater = Inflater::new(packed, unit);
    let (mut buffer, mut parts) = (Vec::new(), Vec::new());
    let (mut all, mut in_runs) = (Vec::new(), 0);
    loop {
        let ended = inflater.read(&mut buffer, &mut parts, room)?;
        for part in &parts {
            match part {
                Part::Bytes(range) => all.extend_from_slice(&buffer[range.clone()]),
                Part::Run { block, times } => {
                    let block = &buffer[block.clone()];
                    assert!(block.len() == RUN_BLOCK && *times > 1);
                    let samples = block.chunks(unit);
                    assert!(samples.clone().all(|sample| *sample == block[..unit]));
                    in_runs += part.len();
                    if all.len() + usize::try_from(part.len()).unwrap() > max {
                        return Err(Damaged);
                    }
                    (0..*times).for_each(|_| all.extend_from_slice(block));
                }
            }
        }
        if all.len() > max {
            return Err(Damaged);
        }
        if ended {
            return Ok((all, in_runs));
        }
    }
}

/// Samples that rest for `rest` at most between bursts, at times out of step with the size of a sample.
fn signal(random: &mut Random, unit: usize, rest: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..6 {
        let sample = random.next().to_le_bytes();
        let long = random.below(rest + 1);
        bytes.extend(sample[..unit].iter().cycle().take(long * unit));
        for _ in 0..random.below(400) {
            let odd = random.next() & random.next() & 0x0303_0303_0303_0303;
            let held = 1 + random.below(20);
            bytes.extend(odd.to_le_bytes()[..unit].iter().cycle().take(held * unit));
        }
        let stray = random.below(3);
        bytes.extend(&sample[..stray.min(unit)]);
    }
    bytes
}

#[test]
fn what_is_packed_comes_back() {
    let mut random = Random(0x5EED);
    for unit in 1..=8 {
        for level in [0, 1, 6, 9, 12] {
            let bytes = signal(&mut random, unit, 200_000);
            let packed = packed(&bytes, level);
            for room in [
                SLACK,
                SLACK + 1 + random.below(100_000),
                bytes.len() + SLACK,
            ] {
                let (found, _) = inflated(&packed, unit, room, bytes.len()).unwrap();
                assert!(found == bytes, "{unit} {level} {room}");
            }
        }
    }
    for bytes in [&b""[..], b"a", b"abcabcabcabcabcabc"] {
        for level in [0, 1, 6] {
            let found = inflated(&packed(bytes, level), 1, SLACK, bytes.len());
            assert_eq!(found, Ok((bytes.to_vec(), 0)));
        }
    }
}

#[test]
fn long_runs_are_not_written_out() {
    for unit in 1..=8 {
        let mut bytes: Vec<u8> = (0..1000_u32).map(|n| n.to_le_bytes()[0]).collect();
        bytes.truncate(1000 / unit * unit);
        let sample = [7, 1, 0, 2, 0, 9, 0, 3];
        bytes.extend(sample[..unit].iter().cycle().take(unit * 2_000_000));
        bytes.extend([1; 24]);
        let (found, in_runs) = inflated(&packed(&bytes, 6), unit, SLACK, bytes.len()).unwrap();
        assert!(found == bytes, "{unit}");
        // Blocks of the stream end runs.
        assert!(in_runs > (unit * 1_500_000) as u64, "{unit}: {in_runs}");
    }
}

#[test]
fn damage_is_an_error_or_other_bytes() {
    let mut random = Random(0xDA_4A6E);
    let bytes = signal(&mut random, 1, 100_000);
    let whole = packed(&bytes, 6);
    let mut refused = 0;
    for round in 0..3000 {
        let mut damaged = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(damaged.len());
            damaged[at] = random.next().to_le_bytes()[0];
        }
        if round % 3 == 0 {
            damaged.truncate(random.below(damaged.len()));
        }
        refused += usize::from(inflated(&damaged, 1, SLACK, 1 << 21).is_err());
    }
    assert!(refused > 1000, "{refused}");
    for len in 0..whole.len().min(500) {
        assert_eq!(inflated(&whole[..len], 1, SLACK, 1 << 21), Err(Damaged));
    }
}
