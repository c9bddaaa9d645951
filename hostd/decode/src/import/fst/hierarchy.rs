//! The names of a trace: scopes, and the variables in them.

use super::super::source::{AnalogName, Shape};
use super::super::vector::{BITS_MAX, bit_names, whole_name};
use super::super::{ImportError, Limits};
use super::SIGNALS_MAX;
use super::blocks::Blocks;
use super::bytes::Bytes;

/// Kinds of entries beside variables.
const SCOPE: u8 = 254;
const UP: u8 = 255;
const ATTRIBUTE: u8 = 252;
const ATTRIBUTE_END: u8 = 253;
const VARIABLES: std::ops::RangeInclusive<u8> = 0..=29;

/// Kinds of variables.
const EVENT: u8 = 0;
const REALS: [u8; 4] = [3, 4, 20, 29];
const PORT: u8 = 18;
const TEXT: u8 = 21;

/// Attributes whose name is a number: where something is in the sources.
const MISC: u8 = 0;
const SOURCES: [u8; 2] = [4, 5];

/// Scopes inside each other.
const DEPTH_MAX: usize = 256;

/// A variable.
pub(super) struct Variable {
    pub(super) signal: usize,
    /// Its place among the logic or the analog channels, and its bits; none for a real.
    pub(super) channel: usize,
    pub(super) bits: Option<usize>,
}

/// What was read.
#[derive(Default)]
pub(super) struct Names {
    pub(super) variables: Vec<Variable>,
    logic: Vec<String>,
    analog: Vec<AnalogName>,
    scopes: Vec<String>,
    /// Signals so far.
    signals: usize,
    left_out: u64,
}

impl Names {
    pub(super) fn read(bytes: &[u8], signals: usize, limits: &Limits) -> Result<Self, ImportError> {
        let mut names = Self::default();
        let mut rest = Bytes::new(bytes, "the names of the signals");
        while !rest.rest.is_empty() {
            match rest.byte()? {
                SCOPE => {
                    rest.byte()?;
                    names.scopes.push(rest.text()?);
                    rest.text()?;
                    if names.scopes.len() > DEPTH_MAX {
                        return Err(rest.wrong());
                    }
                }
                UP => {
                    names.scopes.pop();
                }
                ATTRIBUTE => {
                    let (kind, more) = (rest.byte()?, rest.byte()?);
                    match (kind, SOURCES.contains(&more)) {
                        (MISC, true) => {
                            rest.varint()?;
                            rest.byte()?;
                        }
                        _ => {
                            rest.text()?;
                        }
                    }
                    rest.varint()?;
                }
                ATTRIBUTE_END => {}
                kind if VARIABLES.contains(&kind) => names.variable(kind, &mut rest, signals)?,
                _ => return Err(rest.wrong()),
            }
            let channels = names.logic.len() + names.analog.len();
            let max = limits.channels_max;
            if channels > max {
                return Err(ImportError::TooManyChannels { channels, max });
            }
        }
        Ok(names)
    }

    fn variable(
        &mut self,
        kind: u8,
        rest: &mut Bytes<'_>,
        signals: usize,
    ) -> Result<(), ImportError> {
        rest.byte()?;
        let (text, width, alias) = (rest.text()?, rest.varint()?, rest.varint()?);
        let signal = match alias {
            0 => {
                self.signals += 1;
                self.signals
            }
            alias => usize::try_from(alias).unwrap_or(usize::MAX),
        };
        if signal > signals || self.signals > SIGNALS_MAX {
            return Err(rest.wrong());
        }
        let signal = signal - 1;
        // The outermost scope is the trace itself.
        let named = whole_name(self.scopes.iter().skip(1), &text);
        let (name, range) = named.ok_or_else(|| rest.wrong())?;
        if REALS.contains(&kind) {
            let channel = self.analog.len();
            self.variables.push(Variable {
                signal,
                channel,
                bits: None,
            });
            self.analog.push(AnalogName {
                name,
                unit: String::new(),
            });
            return Ok(());
        }
        let width = match kind {
            // With blanks between, and the strengths.
            PORT => width.saturating_sub(2) / 3,
            _ => width,
        };
        let is_left_out = matches!(kind, EVENT | TEXT | PORT) || width == 0 || width > BITS_MAX;
        let Some(width) = usize::try_from(width).ok().filter(|_| !is_left_out) else {
            self.left_out += 1;
            return Ok(());
        };
        self.variables.push(Variable {
            signal,
            channel: self.logic.len(),
            bits: Some(width),
        });
        self.logic.extend(bit_names(&name, &range, width));
        Ok(())
    }

    pub(super) fn shape(&self, blocks: &Blocks<'_>) -> Shape {
        let mut notes = Vec::new();
        if self.left_out > 0 {
            notes.push(super::super::vector::left_out(self.left_out));
        }
        Shape {
            logic: self.logic.clone(),
            analog: self.analog.clone(),
            tick: blocks.tick,
            is_sampled: false,
            ends_with_sample: false,
            logic_rate: blocks.logic_rate,
            analog_rate: blocks.analog_rate,
            scale: None,
            notes,
        }
    }
}
