//! Inflates samples that are mostly runs (RFC 1951), and passes long runs on without writing them out.
//!
//! A library writes every byte. Of a signal that rests, a bit of input stands for over a hundred bytes, and to write them, to
//! sum them up and to read them again is nearly all of the work. Here a run is one block of it and how often that is repeated,
//! and equal matches are counted in the input, 28 of them at a time.

mod bits;
mod codes;

use bits::Bits;
use codes::{Codes, Lengths};
use std::ops::Range;

/// How far back a match reaches.
const WINDOW: usize = 32 << 10;

/// Bytes of a run that are written out: more than a match reaches back, and whole samples of every size.
pub(super) const RUN_BLOCK: usize = 65_520;

/// Bytes of the shortest run that is passed on as one: shorter ones would cost no less.
const RUN_MIN: u64 = 2 * RUN_BLOCK as u64;

/// Bytes of the longest match.
const MATCH_MAX: usize = 258;

/// Bytes between equal ones that are looked for, at most: those of a few samples.
const DISTANCE_MAX: usize = 64;

/// Room that [`Inflater::read`] needs beyond the bytes that it is to write.
pub(super) const SLACK: usize = RUN_BLOCK + MATCH_MAX;

/// Bytes of a buffer beyond those that are to be written.
pub(super) const RESERVE: u64 = (WINDOW + SLACK) as u64;

/// The end of a block.
const END: u16 = 256;

/// Shortest length and extra bits of the symbols from 257 on.
const LENGTHS: [(u16, u32); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];

/// The input is no deflate stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// What was inflated, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// These bytes of the buffer.
    Bytes(Range<usize>),
    /// So many times these [`RUN_BLOCK`] bytes of the buffer, which are equal samples.
    Run { block: Range<usize>, times: u64 },
}

impl Part {
    /// Bytes that it stands for.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Run { block, times } => times.saturating_mul(block.len() as u64),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A block begins.
    Header,
    /// So many bytes of a block are stored.
    Stored(usize),
    /// In a block of symbols.
    Symbols,
    /// Behind the last block.
    End,
}

/// An entry being inflated.
pub(super) struct Inflater<'a> {
    input: Bits<'a>,
    /// Bytes of a sample.
    unit: usize,
    state: State,
    is_last: bool,
    literals: Codes,
    distances: Codes,
    /// A distance, and bytes that are to be copied from there.
    pending: Option<(usize, u64)>,
    /// What was written last.
    window: Vec<u8>,
}

impl<'a> Inflater<'a> {
    /// Of samples of `unit` bytes, 1..=8.
    pub(super) fn new(packed: &'a [u8], unit: usize) -> Self {
        debug_assert!(RUN_BLOCK.is_multiple_of(unit));
        Self {
            input: Bits::new(packed),
            unit,
            state: State::Header,
            is_last: false,
            literals: Codes::default(),
            distances: Codes::default(),
            pending: None,
            window: Vec::with_capacity(WINDOW),
        }
    }

    /// Goes on until `room` bytes, less [`SLACK`] at most, are written into `buffer`, which grows as needed; returns whether the
    /// entry ended. `parts` say what there is.
    pub(super) fn read(
        &mut self,
        buffer: &mut Vec<u8>,
        parts: &mut Vec<Part>,
        room: usize,
    ) -> Result<bool, Damaged> {
        debug_assert!(room >= SLACK);
        let needed = WINDOW + room;
        if buffer.len() < needed {
            // Memory that is not written costs nothing.
            *buffer = vec![0; needed];
        }
        parts.clear();
        let known = self.window.len();
        buffer[..known].copy_from_slice(&self.window);
        let mut out = Out {
            bytes: &mut buffer[..known + room],
            at: known,
            from: known,
            parts,
        };
        let ended = self.fill(&mut out)?;
        out.close();
        let at = out.at;
        self.window.clear();
        self.window
            .extend_from_slice(&buffer[at.saturating_sub(WINDOW)..at]);
        Ok(ended)
    }

    fn fill(&mut self, out: &mut Out<'_>) -> Result<bool, Damaged> {
        loop {
            if !self.settle(out) {
                return Ok(false);
            }
            match self.state {
                State::Header if self.is_last => self.state = State::End,
                State::Header => self.header()?,
                State::Stored(0) => self.state = State::Header,
                State::Stored(left) => {
                    let now = left.min(out.room());
                    if now == 0 {
                        return Ok(false);
                    }
                    self.input.bytes(out.next(now))?;
                    self.state = State::Stored(left - now);
                }
                State::Symbols => {
                    if !self.symbols(out)? {
                        return Ok(false);
                    }
                }
                State::End => return Ok(true),
            }
        }
    }

    /// Writes what is pending; returns whether it had room.
    fn settle(&mut self, out: &mut Out<'_>) -> bool {
        let Some((distance, mut count)) = self.pending.take() else {
            return true;
        };
        if count >= RUN_MIN && out.is_run(distance, self.unit) {
            if out.room() < RUN_BLOCK {
                self.pending = Some((distance, count));
                return false;
            }
            out.run(distance, count / RUN_BLOCK as u64);
            count %= RUN_BLOCK as u64;
        }
        let now = usize::try_from(count).map_or(out.room(), |count| count.min(out.room()));
        out.repeat(distance, now);
        let left = count - now as u64;
        self.pending = (left > 0).then_some((distance, left));
        left == 0
    }

    fn header(&mut self) -> Result<(), Damaged> {
        self.input.refill();
        self.is_last = self.input.take(1)? == 1;
        match self.input.take(2)? {
            0 => self.state = State::Stored(self.input.stored_length()?),
            1 => {
                self.literals.build(&codes::fixed_literals())?;
                self.distances.build(&codes::FIXED_DISTANCES)?;
                self.state = State::Symbols;
            }
            2 => {
                let lengths = Lengths::read(&mut self.input)?;
                self.literals.build(lengths.literals())?;
                self.distances.build(lengths.distances())?;
                self.state = State::Symbols;
            }
            _ => return Err(Damaged),
        }
        Ok(())
    }

    /// Goes on in a block; returns whether there may be more room.
    fn symbols(&mut self, out: &mut Out<'_>) -> Result<bool, Damaged> {
        while out.room() >= MATCH_MAX {
            self.input.refill();
            let before = self.input;
            let symbol = self.literals.read(&mut self.input)?;
            if symbol < END {
                out.push(symbol.to_le_bytes()[0]);
                continue;
            }
            if symbol == END {
                self.state = State::Header;
                return Ok(true);
            }
            let (length, distance) = self.matched(symbol)?;
            if distance > out.at {
                return Err(Damaged);
            }
            if length < MATCH_MAX || distance > DISTANCE_MAX {
                out.repeat(distance, length);
                continue;
            }
            let more = self.input.repeats(&before);
            self.pending = Some((distance, (MATCH_MAX as u64).saturating_mul(1 + more)));
            if !self.settle(out) {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Length and distance of the match that begins with a symbol.
    #[inline(always)]
    fn matched(&mut self, symbol: u16) -> Result<(usize, usize), Damaged> {
        let of_length = usize::from(symbol - END - 1);
        let (length, extra) = *LENGTHS.get(of_length).ok_or(Damaged)?;
        let length = usize::from(length) + self.input.take(extra)?;
        let symbol = u32::from(self.distances.read(&mut self.input)?);
        if symbol > 29 {
            return Err(Damaged);
        }
        let distance = match symbol {
            0..4 => symbol as usize + 1,
            _ => {
                let extra = symbol / 2 - 1;
                let base = (2 + (symbol as usize & 1)) << extra;
                base + 1 + self.input.take(extra)?
            }
        };
        Ok((length, distance))
    }
}

/// A buffer being written.
struct Out<'b> {
    bytes: &'b mut [u8],
    /// Where the next byte goes; those in front may be copied.
    at: usize,
    /// Where the part begins that is not listed yet.
    from: usize,
    parts: &'b mut Vec<Part>,
}

impl Out<'_> {
    #[inline(always)]
    fn room(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[inline(always)]
    fn push(&mut self, byte: u8) {
        self.bytes[self.at] = byte;
        self.at += 1;
    }

    /// The next bytes, to be written.
    fn next(&mut self, count: usize) -> &mut [u8] {
        let from = self.at;
        self.at += count;
        &mut self.bytes[from..self.at]
    }

    /// Copies from `distance` bytes back, which are as many as there are at least.
    #[inline(always)]
    fn repeat(&mut self, distance: usize, count: usize) {
        let (from, to) = (self.at - distance, self.at);
        if count <= distance {
            self.bytes.copy_within(from..from + count, to);
        } else if distance == 1 {
            let byte = self.bytes[from];
            self.bytes[to..to + count].fill(byte);
        } else {
            // Twice as many at each step.
            let mut done = 0;
            while done < count {
                let now = (distance + done).min(count - done);
                self.bytes.copy_within(from..from + now, to + done);
                done += now;
            }
        }
        self.at += count;
    }

    /// Whether bytes that are copied from `distance` back make equal samples of `unit` bytes.
    fn is_run(&self, distance: usize, unit: usize) -> bool {
        if unit.is_multiple_of(distance) {
            return true;
        }
        let last = &self.bytes[self.at - distance..self.at];
        distance.is_multiple_of(unit) && last.chunks(unit).all(|sample| *sample == last[..unit])
    }

    /// Writes a block, copied from `distance` back, that is repeated.
    fn run(&mut self, distance: usize, times: u64) {
        self.close();
        self.repeat(distance, RUN_BLOCK);
        let block = self.from..self.at;
        self.parts.push(Part::Run { block, times });
        self.from = self.at;
    }

    /// Lists what was written since.
    fn close(&mut self) {
        if self.from < self.at {
            self.parts.push(Part::Bytes(self.from..self.at));
            self.from = self.at;
        }
    }
}

#[cfg(test)]
mod tests;
