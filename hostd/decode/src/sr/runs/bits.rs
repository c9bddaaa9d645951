//! Bits of a deflate stream, the lowest of each byte first.

use super::Damaged;

/// Bits that are there after a refill, unless the input ends.
const REFILLED: u32 = 56;

/// What is left of a stream.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    rest: &'a [u8],
    /// The next bits; those above `count` are what follows, or 0.
    buffer: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            buffer: 0,
            count: 0,
        }
    }

    /// Has 56 bits at hand, or all that there are: enough for a length and its distance.
    #[inline(always)]
    pub(super) fn refill(&mut self) {
        if let Some(word) = self.rest.first_chunk() {
            self.buffer |= u64::from_le_bytes(*word) << self.count;
            let taken = (63 - self.count) / 8;
            self.rest = &self.rest[taken as usize..];
            self.count += taken * 8;
            return;
        }
        while self.count <= REFILLED
            && let Some((first, later)) = self.rest.split_first()
        {
            self.buffer |= u64::from(*first) << self.count;
            self.count += 8;
            self.rest = later;
        }
    }

    /// The next bits, without taking them; what is behind the end is 0.
    #[inline(always)]
    pub(super) fn peek(&self) -> u64 {
        self.buffer
    }

    /// Passes over bits.
    #[inline(always)]
    pub(super) fn skip(&mut self, count: u32) -> Result<(), Damaged> {
        if count > self.count {
            return Err(Damaged);
        }
        self.buffer >>= count;
        self.count -= count;
        Ok(())
    }

    /// Takes a number of up to 16 bits.
    #[inline(always)]
    pub(super) fn take(&mut self, count: u32) -> Result<usize, Damaged> {
        let [low, high, ..] = (self.buffer & ((1 << count) - 1)).to_le_bytes();
        self.skip(count)?;
        Ok(u16::from_le_bytes([low, high]).into())
    }

    /// Passes over what was taken since `before` as often as it follows once more; returns how often that is.
    pub(super) fn repeats(&mut self, before: &Self) -> u64 {
        let consumed = 8 * (before.rest.len() - self.rest.len());
        let bits = u32::try_from(consumed).unwrap_or(u32::MAX) + before.count - self.count;
        if bits == 0 || bits > REFILLED {
            return 0;
        }
        let one = before.buffer & ((1 << bits) - 1);
        let each = REFILLED / bits;
        let many = (0..each).fold(0, |many, place| many | one << (place * bits));
        let mut times = 0;
        for (pattern, each) in [(many, each), (one, 1)] {
            let width = each * bits;
            let mask = (1 << width) - 1;
            loop {
                self.refill();
                if self.buffer & mask != pattern || self.skip(width).is_err() {
                    break;
                }
                times += u64::from(each);
            }
        }
        times
    }

    /// Length of a stored block, whose bytes follow.
    pub(super) fn stored_length(&mut self) -> Result<usize, Damaged> {
        self.skip(self.count % 8)?;
        self.refill();
        let (length, check) = (self.take(16)?, self.take(16)?);
        if length ^ check == 0xffff {
            Ok(length)
        } else {
            Err(Damaged)
        }
    }

    /// Takes whole bytes.
    pub(super) fn bytes(&mut self, out: &mut [u8]) -> Result<(), Damaged> {
        let held = out.len().min(self.count as usize / 8);
        let (first, later) = out.split_at_mut(held);
        for byte in first {
            *byte = self.buffer.to_le_bytes()[0];
            self.skip(8)?;
        }
        if later.is_empty() {
            return Ok(());
        }
        // What is above the count is in `rest`, too.
        (self.buffer, self.count) = (0, 0);
        let (now, rest) = self.rest.split_at_checked(later.len()).ok_or(Damaged)?;
        later.copy_from_slice(now);
        self.rest = rest;
        Ok(())
    }
}
