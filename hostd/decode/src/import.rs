//! Recordings of other tools, read into what the store keeps: value change dumps, fast signal traces, tables, sigrok
//! sessions, Saleae's binary exports and WAV files.
//!
//! A file is recognised by what it holds, never by its name, and read twice: the first time to learn its channels, its
//! rates and the range of its values, the second time to pass its samples on. Nothing here keeps more than a block of
//! them, and [`Limits`] bounds what is accepted at all.

mod choice;
mod csv;
mod decimal;
mod error;
mod feed;
mod fst;
mod kind;
mod limits;
mod memory;
mod names;
mod rate;
mod saleae;
mod scale;
mod session;
mod source;
mod survey;
mod vcd;
mod vector;
mod wav;

pub use error::ImportError;
pub use kind::Kind;
pub use limits::Limits;
pub use memory::Memory;
pub use names::unique_names;

use std::ops::ControlFlow;

use choice::Choice;
use feed::{AnalogFeed, Feed, LogicFeed};
use rate::Rate;
use scale::Scale;
use source::{Known, Shape, Source, Wanted};
use survey::Survey;

/// What a caller may say of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Samples per second of its channels, for files that say times alone; the coarsest rate at which no time is lost
    /// when it is left out.
    pub rate_hz: Option<f64>,
    /// The channels to take, by name, in this order; all when it is empty.
    pub channels: Vec<String>,
}

/// The logic channels of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Logic {
    /// Unique names, 1..=64 of them; a channel's number is its bit in a sample.
    pub names: Vec<String>,
    /// Samples per second.
    pub sample_rate_hz: f64,
    /// Samples of each channel.
    pub samples: u64,
}

/// The analog channel of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Analog {
    /// Its name.
    pub name: String,
    /// `V`, `A`, or whatever the file says; empty when it does not.
    pub unit: String,
    /// Samples per second.
    pub sample_rate_hz: f64,
    /// Number of samples.
    pub samples: u64,
    /// Value of 65,536 counts, in `unit`.
    pub full_scale: f64,
    /// Value of count 0, in `unit`.
    pub offset: f64,
}

/// Takes the samples of a file. `Break` ends the import; the store knows why.
pub trait Store: Send {
    /// Raw logic samples of `unit` bytes, little-endian.
    fn samples(&mut self, raw: &[u8], unit: usize) -> ControlFlow<()>;

    /// Samples at which logic channels change, ascending, with the levels from there on; they are known up to `upto`.
    fn edges(&mut self, edges: &[(u64, u64)], upto: u64) -> ControlFlow<()>;

    /// The next analog samples.
    fn counts(&mut self, counts: &[u16]) -> ControlFlow<()>;
}

/// A file that was looked through and can be imported.
pub struct Import<'a> {
    kind: Kind,
    source: Box<dyn Source + 'a>,
    logic: Option<(Logic, Rate)>,
    analog: Option<(Analog, Rate, Scale)>,
    notes: Vec<String>,
}

/// The rate that a caller asks for.
fn asked(rate_hz: Option<f64>) -> Result<Option<Known>, ImportError> {
    let known = |hz| {
        let rate = Rate::of_hz(hz).ok_or(ImportError::Rate { hz })?;
        Ok(Known {
            rate,
            samples: None,
        })
    };
    rate_hz.map(known).transpose()
}

/// Names of the channels that are taken, each once in the whole file: logic, then analog.
fn names(shape: &Shape, choice: &Choice) -> Vec<String> {
    let logic = choice.logic.iter().map(|&c| shape.logic[c].clone());
    let analog = choice.analog.map(|c| shape.analog[c].name.clone());
    unique_names(&logic.chain(analog).collect::<Vec<_>>())
}

impl<'a> Import<'a> {
    /// Recognise a file, and look through it. `bytes` is the whole file, best memory-mapped.
    ///
    /// # Errors
    /// The file is of no known kind, is damaged, exceeds a limit, or lacks a channel that was asked for.
    pub fn open(bytes: &'a [u8], options: &Options, limits: &Limits) -> Result<Self, ImportError> {
        let kind = Kind::of(bytes).ok_or(ImportError::Unknown)?;
        let mut source: Box<dyn Source + 'a> = match kind {
            Kind::Session => Box::new(session::Session::open(bytes, options.rate_hz, limits)?),
            Kind::Vcd => Box::new(vcd::Dump::open(bytes, limits)?),
            Kind::Fst => Box::new(fst::Trace::open(bytes, limits)?),
            Kind::Csv => Box::new(csv::Table::open(bytes, options.rate_hz, limits)?),
            Kind::Saleae => Box::new(saleae::Export::open(bytes)?),
            Kind::Wav => Box::new(wav::Wave::open(bytes, limits)?),
        };
        let mut notes = source.shape().notes.clone();
        let choice = choice::choose(source.shape(), &options.channels, &mut notes)?;
        let (has_logic, has_analog) = (!choice.logic.is_empty(), choice.analog.is_some());
        source.choose(&choice);
        let shape = source.shape().clone();
        let mut names = names(&shape, &choice);
        let asked = asked(options.rate_hz.filter(|_| !shape.is_sampled))?;
        let mut survey = Survey::new(shape.tick);
        let wanted = Wanted {
            logic: has_logic && !shape.is_sampled,
            analog: has_analog,
        };
        let end = source.walk(wanted, &mut survey)?;
        survey.finish(end, &mut notes);
        notes.extend(source.remark().map(str::to_owned));
        let last = shape.ends_with_sample.then_some(end);
        let mut import = Self {
            kind,
            source,
            logic: None,
            analog: None,
            notes,
        };
        if has_logic {
            let known = asked.or(shape.logic_rate);
            let known = known.unwrap_or_else(|| survey.logic_rate());
            let last = last.or(survey.last_logic());
            let samples = length(known, end, last, shape.tick, limits.samples_max)?;
            let logic = Logic {
                names: names.drain(..choice.logic.len()).collect(),
                sample_rate_hz: known.rate.hz(),
                samples,
            };
            import.logic = (samples > 0).then_some((logic, known.rate));
        }
        if let Some(channel) = choice.analog {
            let known = asked.or(shape.analog_rate);
            let known = known.unwrap_or_else(|| survey.analog_rate());
            let last = last.or(survey.last_analog());
            let samples = length(known, end, last, shape.tick, limits.analog_samples_max)?;
            let scale = shape
                .scale
                .unwrap_or_else(|| survey.scale(&mut import.notes));
            let analog = Analog {
                name: names.pop().unwrap_or_default(),
                unit: shape.analog[channel].unit.clone(),
                sample_rate_hz: known.rate.hz(),
                samples,
                full_scale: scale.full,
                offset: scale.offset,
            };
            import.analog = (samples > 0).then_some((analog, known.rate, scale));
        }
        if import.logic.is_none() && import.analog.is_none() {
            return Err(ImportError::Empty);
        }
        Ok(import)
    }

    /// What the file is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its logic channels, if it has samples of any.
    pub fn logic(&self) -> Option<&Logic> {
        self.logic.as_ref().map(|(logic, _)| logic)
    }

    /// Its analog channel, if it has samples of one.
    pub fn analog(&self) -> Option<&Analog> {
        self.analog.as_ref().map(|(analog, ..)| analog)
    }

    /// What a reader should know: what was left out, and what was taken for something else. A sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Pass all samples to `store`.
    ///
    /// # Errors
    /// The file is damaged where only its samples are, or the store ended the import.
    pub fn feed(&self, store: &mut dyn Store) -> Result<(), ImportError> {
        let shape = self.source.shape();
        let logic = self
            .logic
            .as_ref()
            .map(|(logic, rate)| LogicFeed::new(*rate, logic.samples));
        let analog = self.analog.as_ref();
        let analog =
            analog.map(|(analog, rate, scale)| AnalogFeed::new(*rate, *scale, analog.samples));
        let wanted = Wanted {
            logic: logic.is_some(),
            analog: analog.is_some(),
        };
        let mut feed = Feed::new(store, shape.tick, logic, analog);
        self.source.walk(wanted, &mut feed)?;
        feed.finish()
    }
}

/// Samples of a channel of a file that ends at tick `end`, of which something happens at `last` last.
fn length(
    known: Known,
    end: u64,
    last: Option<u64>,
    tick: Rate,
    max: u64,
) -> Result<u64, ImportError> {
    let samples = match known.samples {
        Some(samples) => samples,
        None => known.rate.samples_until(end, tick, last)?,
    };
    if samples > max {
        return Err(ImportError::TooLong { samples, max });
    }
    Ok(samples)
}
