//! Frames: bytes that are packed together, with a checksum of their own.

use super::SegmentError;
use crate::varint;
use libdeflater::crc32;
use zstd::bulk::{Compressor, Decompressor};

/// Fewer bytes than this are stored unpacked.
const PACK_MIN: usize = 64;

/// Unpacking must save one byte in so many, or bytes are stored as they are.
const WORTH: usize = 32;

/// A frame that was located; its checksum is not verified yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    bytes: &'a [u8],
    crc: u32,
    /// Bytes unpacked.
    pub(super) size: usize,
}

impl<'a> Frame<'a> {
    /// Takes what `describe` wrote off the front of a row, and the frame off the front of the frames.
    pub(super) fn take(row: &mut &'a [u8], frames: &mut &'a [u8], size: usize) -> Option<Self> {
        let length = usize::try_from(varint::take(row)?).ok()?;
        let (crc, behind) = row.split_first_chunk::<4>()?;
        *row = behind;
        let (bytes, behind) = frames.split_at_checked(length)?;
        *frames = behind;
        let crc = u32::from_le_bytes(*crc);
        (length <= size).then_some(Self { bytes, crc, size })
    }

    /// Whether the checksum is right.
    pub(super) fn is_sound(&self) -> bool {
        crc32(self.bytes) == self.crc
    }

    /// Unpacks it into `out`, in place of what is there. `start` is the first sample of the block, for an error.
    pub(super) fn unpack(
        &self,
        start: u64,
        decompressor: &mut Decompressor<'static>,
        out: &mut Vec<u8>,
    ) -> Result<(), SegmentError> {
        if !self.is_sound() {
            return Err(SegmentError::Checksum { start });
        }
        out.clear();
        if self.bytes.len() == self.size {
            out.extend_from_slice(self.bytes);
            return Ok(());
        }
        out.reserve_exact(self.size);
        let done = decompressor.decompress_to_buffer(self.bytes, out);
        match done {
            Ok(size) if size == self.size => Ok(()),
            _ => Err(super::DAMAGED),
        }
    }
}

/// Makes frames.
pub(super) struct Framer {
    quick: Compressor<'static>,
    thorough: Vec<(Effort, Compressor<'static>)>,
    packed: Vec<u8>,
    better: Vec<u8>,
    /// Nanoseconds that may be spent to make frames smaller than the quickest way does.
    credit: u64,
}

/// A level of zstd.
struct Effort {
    level: i32,
    /// Samples of a channel that a byte stands for, at least.
    samples: u64,
    /// About as many nanoseconds are spent for a byte.
    cost: u64,
}

/// What is worth it, best first. Levels between these are no smaller for the same time.
const EFFORTS: [Effort; 2] = [
    Effort {
        level: 15,
        samples: 512,
        cost: 130,
    },
    Effort {
        level: 10,
        samples: 0,
        cost: 13,
    },
];

/// The quickest level.
const QUICK: i32 = 1;

/// Where a byte stands for fewer samples than these, packing must have halved it, or no effort is worth it.
const SPARSE_SAMPLES: u64 = 256;

/// Nanoseconds of effort for so many samples of all channels: two for five.
const CREDIT: (u64, u64) = (2, 5);

/// What there is at first, so that short captures are small, too: five milliseconds.
const CREDIT_AT_FIRST: u64 = 5_000_000;

/// Most credit that is saved: twenty milliseconds.
const CREDIT_MAX: u64 = 20_000_000;

impl Framer {
    pub(super) fn new() -> Self {
        let compressor = |level| Compressor::new(level).expect("zstd has the level");
        let thorough = EFFORTS.map(|effort| {
            let level = effort.level;
            (effort, compressor(level))
        });
        Self {
            quick: compressor(QUICK),
            thorough: thorough.into(),
            packed: Vec::new(),
            better: Vec::new(),
            credit: CREDIT_AT_FIRST,
        }
    }

    /// So many samples of all channels came.
    pub(super) fn earn(&mut self, samples: u32) {
        let (of, each) = CREDIT;
        self.credit = CREDIT_MAX.min(self.credit + u64::from(samples) * of / each);
    }

    /// Packs what stands for so many samples of a channel, and appends it to `frames` and its description to `row`.
    pub(super) fn push(
        &mut self,
        plain: &[u8],
        samples: u64,
        row: &mut Vec<u8>,
        frames: &mut Vec<u8>,
    ) {
        self.packed.clear();
        if plain.len() >= PACK_MIN {
            self.pack(plain, samples / plain.len() as u64);
        }
        let packed = self.packed.len();
        let frame = match packed > 0 && packed + plain.len() / WORTH < plain.len() {
            true => &self.packed,
            false => plain,
        };
        varint::push(row, frame.len() as u64);
        row.extend(crc32(frame).to_le_bytes());
        frames.extend_from_slice(frame);
    }

    /// Puts it into `packed`. A byte stands for `each` samples.
    fn pack(&mut self, plain: &[u8], each: u64) {
        compress(&mut self.quick, plain, &mut self.packed);
        if each < SPARSE_SAMPLES && self.packed.len() * 2 > plain.len() {
            return;
        }
        let credit = self.credit;
        let cost = |effort: &Effort| effort.cost * plain.len() as u64;
        let mut efforts = self.thorough.iter_mut();
        let found = efforts.find(|(effort, _)| effort.samples <= each && cost(effort) <= credit);
        let Some((effort, compressor)) = found else {
            return;
        };
        self.credit -= cost(effort);
        compress(compressor, plain, &mut self.better);
        if self.better.len() < self.packed.len() {
            std::mem::swap(&mut self.better, &mut self.packed);
        }
    }
}

fn compress(compressor: &mut Compressor<'static>, plain: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.reserve(zstd::zstd_safe::compress_bound(plain.len()));
    let done = compressor.compress_to_buffer(plain, out);
    done.expect("the room is enough for anything");
}
