//! Fast signal traces, the format of GTKWave and Surfer: as a [dump](super::vcd), packed.
//!
//! The crate that writes them goes back to what it wrote: to the length of a section, and at the end to the file's header. So a
//! section is held until it is whole, and the header says from the beginning what it would say at the end, but for the number of
//! sections: that is 0, as in a file that is being written, and readers count them themselves.

use std::cell::RefCell;
use std::io::{self, Seek, SeekFrom, Write};
use std::rc::Rc;

use fst_writer::{
    FstBodyWriter, FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalId, FstSignalType,
    FstVarDirection, FstVarType, FstWriteError,
};

use super::super::reader::Reader;
use super::ExportError;
use super::cut::Cut;
use super::timeline::{Step, end, walk};
use super::vcd::{Scale, identifier_name};
use store::captures::ChannelRecord;

/// Changes in time that one section holds, which is held in memory: a byte or two for each, ten for an analog sample.
const SECTION_STEPS: u64 = 1 << 16;

/// Bytes of the header, and where it says the end of time and the number of sections.
const HEADER_BYTES: usize = 330;
const END_TIME_AT: usize = 17;
const COUNTS_AT: usize = 41;

impl From<FstWriteError> for ExportError {
    fn from(error: FstWriteError) -> Self {
        match error {
            FstWriteError::Io(error) => Self::Write(error),
            other => Self::Write(io::Error::other(other)),
        }
    }
}

pub(super) fn write(reader: &Reader, cut: &Cut, out: &mut dyn Write) -> Result<(), ExportError> {
    let channels = cut.channels();
    let rates: Vec<f64> = channels.iter().map(|c| c.sample_rate_hz).collect();
    let scale = Scale::for_rates(&rates);
    let end = end(reader, cut, scale.ticks)?;
    let shelf = Rc::new(RefCell::new(Shelf::default()));
    let (mut body, signals) = begin(&channels, scale, Held(shelf.clone()))?;
    shelf.borrow_mut().head(end, channels.len());
    shelf.borrow_mut().send(out)?;
    let mut trace = Trace {
        signals,
        analog: channels.iter().find(|c| c.la.is_none()).copied(),
        levels: None,
        last: None,
    };
    let mut sections = Sections::default();
    walk(reader, cut, scale.ticks, |step| {
        if sections.is_next(step.at) {
            body.flush()?;
            shelf.borrow_mut().send(out)?;
        }
        trace.step(step, &mut body)
    })?;
    body.time_change(end)?;
    body.finish()?;
    Ok(shelf.borrow_mut().send(out)?)
}

/// The writer of the changes, and the signals in the order of the channels.
fn begin(
    channels: &[&ChannelRecord],
    scale: Scale,
    held: Held,
) -> Result<(FstBodyWriter<Held>, Vec<FstSignalId>), ExportError> {
    let exponent = i8::try_from(scale.ticks.exponent).expect("a tick is a femtosecond or more");
    let mut header = FstHeaderWriter::new(
        held,
        &FstInfo {
            start_time: 0,
            timescale_exponent: -exponent,
            version: version(channels, scale),
            date: String::new(),
            file_type: FstFileType::Verilog,
        },
    )?;
    header.scope("capture", "", FstScopeType::Module)?;
    let mut signals = Vec::with_capacity(channels.len());
    for channel in channels {
        let (signal, kind) = match channel.la {
            Some(_) => (FstSignalType::bit_vec(1), FstVarType::Wire),
            None => (FstSignalType::real(), FstVarType::Real),
        };
        let name = identifier_name(&channel.name);
        let made = header.var(name, signal, kind, FstVarDirection::Implicit, None)?;
        signals.push(made);
    }
    header.up_scope()?;
    Ok((header.finish()?, signals))
}

/// The values written last.
struct Trace<'r> {
    /// Logic channels first.
    signals: Vec<FstSignalId>,
    analog: Option<&'r ChannelRecord>,
    levels: Option<u64>,
    last: Option<u16>,
}

impl Trace<'_> {
    fn step(&mut self, step: Step, body: &mut FstBodyWriter<Held>) -> Result<(), ExportError> {
        body.time_change(step.at)?;
        if let Some(levels) = step.levels {
            let moved = self.levels.map_or(u64::MAX, |before| before ^ levels);
            let logic = self.signals.len() - usize::from(self.analog.is_some());
            for (channel, signal) in self.signals[..logic].iter().enumerate() {
                if moved >> channel & 1 == 1 {
                    let level = if levels >> channel & 1 == 1 {
                        b"1"
                    } else {
                        b"0"
                    };
                    body.signal_change(*signal, level)?;
                }
            }
            self.levels = Some(levels);
        }
        let count = step.count.filter(|count| self.last != Some(*count));
        if let (Some(count), Some(channel), Some(signal)) =
            (count, self.analog, self.signals.last())
        {
            body.signal_change(*signal, &channel.value(count).to_le_bytes())?;
            self.last = Some(count);
        }
        Ok(())
    }
}

/// What wrote the file, and how many samples there are of each kind at which exact rate, which the format has no other place for.
fn version(channels: &[&ChannelRecord], scale: Scale) -> String {
    let mut text = format!("hostd {}", env!("CARGO_PKG_VERSION"));
    for (is_logic, kind) in [(true, "logic"), (false, "analog")] {
        if let Some(channel) = channels.iter().find(|c| c.la.is_some() == is_logic) {
            let (samples, rate) = (channel.samples, scale.exact(channel.sample_rate_hz));
            text.push_str(&format!("; {kind}: {samples} at {rate} Hz"));
        }
    }
    text
}

/// Where sections end: before a change in time that finds the last one full.
#[derive(Default)]
struct Sections {
    steps: u64,
    at: u64,
}

impl Sections {
    /// Whether what happens `at` this time begins a section.
    fn is_next(&mut self, at: u64) -> bool {
        if at <= self.at {
            return false;
        }
        self.at = at;
        self.steps += 1;
        let is_next = self.steps > SECTION_STEPS;
        if is_next {
            self.steps = 1;
        }
        is_next
    }
}

/// A part of a file that may still change.
#[derive(Default)]
struct Shelf {
    /// Bytes of the file in front of those held.
    sent: u64,
    held: Vec<u8>,
    /// Where the file is written next.
    at: u64,
}

impl Shelf {
    /// Say in the header what the writer would say at the end.
    fn head(&mut self, end: u64, variables: usize) {
        debug_assert!(self.sent == 0 && self.held.len() >= HEADER_BYTES);
        self.held[END_TIME_AT..END_TIME_AT + 8].copy_from_slice(&end.to_be_bytes());
        let variables = variables as u64;
        let scopes = 1_u64;
        for (place, count) in [scopes, variables, variables].into_iter().enumerate() {
            let at = COUNTS_AT + place * 8;
            self.held[at..at + 8].copy_from_slice(&count.to_be_bytes());
        }
    }

    /// What is held changes no more.
    fn send(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.held)?;
        self.sent += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }
}

/// The file as its writer sees it.
struct Held(Rc<RefCell<Shelf>>);

impl Write for Held {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut shelf = self.0.borrow_mut();
        // The header is sent, and says this already.
        let is_new = shelf.at >= shelf.sent;
        if is_new {
            let from = usize::try_from(shelf.at - shelf.sent).map_err(io::Error::other)?;
            let to = from + bytes.len();
            if shelf.held.len() < to {
                shelf.held.resize(to, 0);
            }
            shelf.held[from..to].copy_from_slice(bytes);
        }
        shelf.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Held {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let mut shelf = self.0.borrow_mut();
        let end = shelf.sent + shelf.held.len() as u64;
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => shelf.at.checked_add_signed(by),
            SeekFrom::End(by) => end.checked_add_signed(by),
        };
        shelf.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(shelf.at)
    }
}
