//! The changes in a stretch of time.
//!
//! For each signal there is a list of its changes, each with how many entries of the table of times it is behind the one before.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{BufRead, Read};

use super::super::ImportError;
use super::super::source::{Sink, Wanted};
use super::blocks::{Block, bounded};
use super::bytes::{Bytes, damaged, varint};
use super::unpack::{Packing, stream, whole};
use super::{CHANGES_BYTES_MAX, SIGNALS_MAX, Signal};

const WHAT: &str = "the changes of the trace";

/// Characters of a level of one bit that is neither.
const UNKNOWN: &[u8; 8] = b"xzhuwl-?";

/// The time that a walk has come to, and what is there.
pub(super) struct State<'s> {
    sink: &'s mut dyn Sink,
    wanted: Wanted,
    is_big_endian: bool,
    pub(super) at: u64,
    levels: u64,
    is_moved: bool,
    pub(super) has_unknown: bool,
}

impl<'s> State<'s> {
    pub(super) fn new(sink: &'s mut dyn Sink, wanted: Wanted, is_big_endian: bool) -> Self {
        Self {
            sink,
            wanted,
            is_big_endian,
            at: 0,
            levels: 0,
            is_moved: false,
            has_unknown: false,
        }
    }

    /// Nothing more happens at this time.
    pub(super) fn pass(&mut self) -> Result<(), ImportError> {
        if std::mem::take(&mut self.is_moved) && self.wanted.logic {
            self.sink.levels(self.at, self.levels)?;
        }
        Ok(())
    }

    fn go_to(&mut self, at: u64) -> Result<(), ImportError> {
        if at < self.at {
            return Err(damaged(WHAT));
        }
        if at > self.at {
            self.pass()?;
            self.at = at;
        }
        Ok(())
    }

    fn number(&self, value: &[u8]) -> Result<f64, ImportError> {
        let bytes = value.try_into().map_err(|_| damaged(WHAT))?;
        Ok(match self.is_big_endian {
            true => f64::from_be_bytes(bytes),
            false => f64::from_le_bytes(bytes),
        })
    }

    /// A signal has this value: a character for each bit, the highest first, or the bytes of a real.
    fn set(&mut self, signal: &Signal, value: &[u8]) -> Result<(), ImportError> {
        if signal.is_real {
            let number = self.number(value)?;
            if signal.is_analog && self.wanted.analog {
                self.sink.value(self.at, number)?;
            }
            return Ok(());
        }
        for (mask, digit) in signal.bits.iter().zip(value.iter().rev()) {
            self.has_unknown |= !matches!(digit, b'0' | b'1');
            self.levels = match digit {
                b'1' => self.levels | mask,
                _ => self.levels & !mask,
            };
        }
        self.is_moved = true;
        Ok(())
    }
}

/// A section whose parts were found.
pub(super) struct Section<'a> {
    begin: u64,
    frame: Frame<'a>,
    times: Times<'a>,
    /// Changes of the signals that are of interest.
    lists: Vec<(usize, List<'a>)>,
    /// Bytes of changes and times.
    pub(super) unpacked: u64,
}

impl<'a> Section<'a> {
    pub(super) fn open(
        block: &Block<'a>,
        signals: &[Signal],
        wanted: Wanted,
    ) -> Result<Self, ImportError> {
        let mut rest = Bytes::new(block.bytes, WHAT);
        let begin = rest.u64()?;
        // The end, and memory.
        rest.take(2 * 8)?;
        let frame = Frame::take(&mut rest)?;
        let times = Times::take(&mut rest)?;
        let count = rest.varint()?;
        if count > SIGNALS_MAX as u64 || count > signals.len() as u64 {
            return Err(rest.wrong());
        }
        let length = rest.last_u64()?;
        let chain = rest.take_last(length)?;
        let packing = match rest.rest.first() {
            Some(b'4') => Packing::Lz4,
            Some(b'F') => Packing::FastLz,
            Some(_) => Packing::Zlib,
            None => return Err(rest.wrong()),
        };
        let count = usize::try_from(count).map_err(|_| rest.wrong())?;
        let places = places(chain, block.is_alias_2, count, rest.rest.len())?;
        let mut lists = Vec::new();
        // Each signal has a place, though a section may say little more of it.
        let (mut budget, mut unpacked) = (CHANGES_BYTES_MAX, times.unpacked + count as u64);
        for (number, (signal, place)) in signals.iter().zip(places).enumerate() {
            let Some((from, to)) = place.filter(|_| signal.is_wanted(wanted)) else {
                continue;
            };
            let list = rest.rest.get(from..to).ok_or_else(|| rest.wrong())?;
            let (list, length) = list_of(list, packing, &mut budget)?;
            unpacked = unpacked.saturating_add(length);
            lists.push((number, list));
        }
        Ok(Self {
            begin,
            frame,
            times,
            lists,
            unpacked,
        })
    }

    pub(super) fn walk(
        self,
        signals: &[Signal],
        is_first: bool,
        state: &mut State<'_>,
    ) -> Result<(), ImportError> {
        let Self {
            begin,
            frame,
            mut times,
            mut lists,
            ..
        } = self;
        if is_first && times.first()?.is_none_or(|first| first > begin) {
            state.go_to(begin)?;
            let frame = frame.unpacked()?;
            let mut rest = Bytes::new(&frame, WHAT);
            for signal in signals {
                let value = rest.take(signal.width as u64)?;
                // A real without a value yet is no number.
                let is_unset = signal.is_real && state.number(value)?.is_nan();
                if signal.is_wanted(state.wanted) && !is_unset {
                    state.set(signal, value)?;
                }
            }
        }
        // Which list goes on at which entry of the table.
        let mut next = BinaryHeap::new();
        for (place, (signal, list)) in lists.iter_mut().enumerate() {
            let delta = list.next(&signals[*signal])?;
            next.extend(delta.map(|delta| Reverse((delta, place))));
        }
        while let Some(Reverse((entry, place))) = next.pop() {
            state.go_to(times.at(entry)?)?;
            let (signal, list) = &mut lists[place];
            let signal = &signals[*signal];
            list.pass(signal, state)?;
            if let Some(delta) = list.next(signal)? {
                let entry = entry.checked_add(delta).ok_or_else(|| damaged(WHAT))?;
                next.push(Reverse((entry, place)));
            }
        }
        Ok(())
    }
}

/// Values at the beginning of a section. Those of the first one alone are looked at.
struct Frame<'a> {
    packed: &'a [u8],
    length: u64,
}

impl<'a> Frame<'a> {
    fn take(rest: &mut Bytes<'a>) -> Result<Self, ImportError> {
        let (length, packed, _) = (bounded(rest.varint()?)?, rest.varint()?, rest.varint()?);
        let packed = rest.take(packed)?;
        Ok(Self { packed, length })
    }

    fn unpacked(&self) -> Result<Cow<'a, [u8]>, ImportError> {
        if self.length == self.packed.len() as u64 {
            return Ok(Cow::Borrowed(self.packed));
        }
        let whole = whole(Packing::Zlib, self.packed, self.length);
        whole.map(Cow::Owned).ok_or_else(|| damaged(WHAT))
    }
}

/// The table of times, which is read once.
struct Times<'a> {
    input: Box<dyn BufRead + 'a>,
    unpacked: u64,
    count: u64,
    /// Entries that were read, and the time of the last.
    read: u64,
    time: u64,
}

impl<'a> Times<'a> {
    /// At the end of a section.
    fn take(rest: &mut Bytes<'a>) -> Result<Self, ImportError> {
        let (count, packed, unpacked) = (rest.last_u64()?, rest.last_u64()?, rest.last_u64()?);
        let bytes = rest.take_last(packed)?;
        let input: Box<dyn BufRead + 'a> = match packed == unpacked {
            true => Box::new(bytes),
            false => stream(Packing::Zlib, bytes, unpacked).ok_or_else(|| rest.wrong())?,
        };
        Ok(Self {
            input,
            unpacked,
            count,
            read: 0,
            time: 0,
        })
    }

    /// The time of the first entry, if there is one.
    fn first(&mut self) -> Result<Option<u64>, ImportError> {
        match self.count {
            0 => Ok(None),
            _ => self.at(0).map(Some),
        }
    }

    /// The time of an entry, which does not lie before the last that was asked for.
    fn at(&mut self, entry: u64) -> Result<u64, ImportError> {
        if entry >= self.count {
            return Err(damaged(WHAT));
        }
        while self.read <= entry {
            let delta = varint(&mut *self.input).map_err(|_| damaged(WHAT))?;
            self.time = self.time.checked_add(delta).ok_or_else(|| damaged(WHAT))?;
            self.read += 1;
        }
        Ok(self.time)
    }
}

/// Where the changes of a signal are, in bytes from the kind of packing.
type Place = Option<(usize, usize)>;

/// Reads where the changes of each signal are; the last end at `end`.
fn places(
    chain: &[u8],
    is_alias_2: bool,
    count: usize,
    end: usize,
) -> Result<Vec<Place>, ImportError> {
    let mut rest = Bytes::new(chain, WHAT);
    let mut chain = Chain {
        places: vec![None; count],
        next: 0,
        last: None,
    };
    let mut aliases = Vec::new();
    let mut before = 0;
    while !rest.rest.is_empty() {
        let is_place = rest.rest.first().is_some_and(|byte| byte & 1 == 1);
        if is_alias_2 && is_place {
            let value = rest.signed()? >> 1;
            if value > 0 {
                chain.place(value.unsigned_abs())?;
                continue;
            }
            if value < 0 {
                before = value.unsigned_abs() - 1;
            }
            aliases.push((chain.next, before));
            chain.skip(1)?;
            continue;
        }
        match rest.varint()? {
            0 => {
                let of = rest.varint()?.checked_sub(1).ok_or_else(|| rest.wrong())?;
                aliases.push((chain.next, of));
                chain.skip(1)?;
            }
            value if value & 1 == 1 => chain.place(value >> 1)?,
            value => chain.skip(value >> 1)?,
        }
    }
    chain.end(end)?;
    let mut places = chain.places;
    for (signal, of) in aliases {
        let of = usize::try_from(of).ok().and_then(|of| places.get(of));
        let of = *of.ok_or_else(|| rest.wrong())?;
        *places.get_mut(signal).ok_or_else(|| rest.wrong())? = of;
    }
    Ok(places)
}

/// Places being read.
struct Chain {
    places: Vec<Place>,
    /// The signal that is next.
    next: usize,
    /// The signal that has changes last, and where they begin.
    last: Option<(usize, usize)>,
}

impl Chain {
    /// The next signal has changes, so many bytes behind the last that has.
    fn place(&mut self, behind: u64) -> Result<(), ImportError> {
        let behind = usize::try_from(behind).ok();
        let from = self.last.map_or(0, |(_, from)| from);
        let from = behind.and_then(|behind| from.checked_add(behind));
        let from = from.ok_or_else(|| damaged(WHAT))?;
        self.end(from)?;
        self.last = Some((self.next, from));
        self.skip(1)
    }

    /// The next signals have none of their own.
    fn skip(&mut self, count: u64) -> Result<(), ImportError> {
        let count = usize::try_from(count).ok();
        let next = count.and_then(|count| self.next.checked_add(count));
        self.next = next
            .filter(|next| *next <= self.places.len())
            .ok_or_else(|| damaged(WHAT))?;
        Ok(())
    }

    /// The last changes end here.
    fn end(&mut self, at: usize) -> Result<(), ImportError> {
        if let Some((signal, from)) = self.last {
            if at < from {
                return Err(damaged(WHAT));
            }
            self.places[signal] = Some((from, at));
        }
        Ok(())
    }
}

/// The changes of a signal, being read.
struct List<'a> {
    input: Box<dyn BufRead + 'a>,
    /// The number in front of the change that is next.
    head: u64,
}

/// Begins to read changes, and says how many bytes they are; what has to be unpacked at once is taken off the budget.
fn list_of<'a>(
    bytes: &'a [u8],
    packing: Packing,
    budget: &mut u64,
) -> Result<(List<'a>, u64), ImportError> {
    let mut rest = Bytes::new(bytes, WHAT);
    let length = rest.varint()?;
    let input: Box<dyn BufRead + 'a> = match length {
        0 => Box::new(rest.rest),
        _ => {
            if packing != Packing::Zlib {
                *budget = budget.checked_sub(length).ok_or(ImportError::Unsupported {
                    what: "changes of the chosen signals that take more than 32 MiB in a section",
                })?;
            }
            stream(packing, rest.rest, length).ok_or_else(|| rest.wrong())?
        }
    };
    let unpacked = length.max(rest.rest.len() as u64);
    Ok((List { input, head: 0 }, unpacked))
}

impl List<'_> {
    /// How many entries of the table the next change is behind the one before; none at the end.
    fn next(&mut self, signal: &Signal) -> Result<Option<u64>, ImportError> {
        let buffered = self.input.fill_buf().map_err(|_| damaged(WHAT))?;
        if buffered.is_empty() {
            return Ok(None);
        }
        self.head = varint(&mut *self.input).map_err(|_| damaged(WHAT))?;
        Ok(Some(match (signal.width, self.head & 1) {
            (1, 0) => self.head >> 2,
            (1, _) => self.head >> 4,
            _ => self.head >> 1,
        }))
    }

    /// Passes the change on whose head was read.
    fn pass(&mut self, signal: &Signal, state: &mut State<'_>) -> Result<(), ImportError> {
        let is_plain = self.head & 1 == 0;
        let [low, ..] = (self.head >> 1).to_le_bytes();
        match signal.width {
            0 => {
                let length = varint(&mut *self.input).map_err(|_| damaged(WHAT))?;
                self.read(bounded(length)?)?;
                Ok(())
            }
            1 if is_plain => state.set(signal, &[b'0' | low & 1]),
            1 => state.set(signal, &[UNKNOWN[usize::from(low & 7)]]),
            width if is_plain => {
                let bytes = self.read(width.div_ceil(8) as u64)?;
                let bit = |at: usize| b'0' | bytes[at / 8] >> (7 - at % 8) & 1;
                let value: Vec<u8> = (0..width).map(bit).collect();
                state.set(signal, &value)
            }
            width => {
                let value = self.read(width as u64)?;
                state.set(signal, &value)
            }
        }
    }

    fn read(&mut self, count: u64) -> Result<Vec<u8>, ImportError> {
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(count).read_to_end(&mut bytes);
        match read {
            Ok(read) if read as u64 == count => Ok(bytes),
            _ => Err(damaged(WHAT)),
        }
    }
}
