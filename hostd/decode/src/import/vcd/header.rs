//! The definitions of a dump: its unit of time, its variables, and what comments say of rates.

use super::super::rate::Rate;
use super::super::source::{AnalogName, Known, Shape};
use super::super::vector::{BITS_MAX, bit_names, left_out, whole_name};
use super::super::{ImportError, Limits};
use super::tokens::Tokens;

/// A variable.
pub(super) struct Variable<'a> {
    pub(super) id: &'a [u8],
    /// Its place among the logic or the analog channels, and its bits; none for a real.
    pub(super) channel: usize,
    pub(super) bits: Option<usize>,
}

/// What was read.
pub(super) struct Header<'a> {
    pub(super) variables: Vec<Variable<'a>>,
    logic: Vec<String>,
    analog: Vec<AnalogName>,
    tick: Option<Rate>,
    logic_rate: Option<Known>,
    analog_rate: Option<Known>,
    left_out: u64,
}

impl<'a> Header<'a> {
    pub(super) fn read(tokens: &mut Tokens<'a>, limits: &Limits) -> Result<Self, ImportError> {
        let mut header = Self {
            variables: Vec::new(),
            logic: Vec::new(),
            analog: Vec::new(),
            tick: None,
            logic_rate: None,
            analog_rate: None,
            left_out: 0,
        };
        let mut scopes: Vec<&[u8]> = Vec::new();
        while let Some(word) = tokens.next()? {
            if !word.starts_with(b"$") {
                return Err(tokens.wrong("a definition begins with `$`"));
            }
            let words = tokens.until_end()?;
            match word {
                b"$enddefinitions" => return Ok(header),
                b"$timescale" => {
                    header.tick =
                        Some(timescale(&words).ok_or_else(|| tokens.wrong("no such timescale"))?)
                }
                b"$scope" => scopes.push(words.get(1).copied().unwrap_or_default()),
                b"$upscope" => {
                    scopes.pop();
                }
                b"$comment" => header.comment(&words),
                b"$var" => {
                    let wrong = "a variable has a kind, a size, an identifier and a name";
                    header
                        .variable(&words, &scopes)
                        .ok_or_else(|| tokens.wrong(wrong))?;
                    let channels = header.logic.len() + header.analog.len();
                    let max = limits.channels_max;
                    if channels > max {
                        return Err(ImportError::TooManyChannels { channels, max });
                    }
                }
                _ => {}
            }
        }
        Err(tokens.wrong("`$enddefinitions` is missing"))
    }

    pub(super) fn shape(&self) -> Shape {
        let mut notes = Vec::new();
        if self.left_out > 0 {
            notes.push(left_out(self.left_out));
        }
        if self.tick.is_none() {
            notes.push("The file has no timescale; its times were read as nanoseconds.".to_owned());
        }
        Shape {
            logic: self.logic.clone(),
            analog: self.analog.clone(),
            tick: self.tick.unwrap_or(Rate::decimal(9)),
            is_sampled: false,
            ends_with_sample: false,
            logic_rate: self.logic_rate,
            analog_rate: self.analog_rate,
            scale: None,
            notes,
        }
    }

    /// `wire 8 ! data [7:0]`.
    fn variable(&mut self, words: &[&'a [u8]], scopes: &[&[u8]]) -> Option<()> {
        let [kind, size, id, name, range @ ..] = words else {
            return None;
        };
        let size: u64 = std::str::from_utf8(size).ok()?.parse().ok()?;
        let text = String::from_utf8_lossy(name);
        // The outermost scope is the dump itself.
        let inner = scopes.iter().skip(1);
        let inner = inner.map(|scope| String::from_utf8_lossy(scope));
        let (name, glued) = whole_name(inner, &text)?;
        if matches!(
            *kind,
            b"real" | b"realtime" | b"shortreal" | b"real_parameter"
        ) {
            self.variables.push(Variable {
                id,
                channel: self.analog.len(),
                bits: None,
            });
            self.analog.push(AnalogName {
                name,
                unit: String::new(),
            });
            return Some(());
        }
        if size == 0 || size > BITS_MAX || matches!(*kind, b"string" | b"event") {
            self.left_out += 1;
            return Some(());
        }
        let range = range
            .iter()
            .map(|word| String::from_utf8_lossy(word))
            .collect::<String>();
        let range = glued + &range;
        self.variables.push(Variable {
            id,
            channel: self.logic.len(),
            bits: usize::try_from(size).ok(),
        });
        let width = usize::try_from(size).ok()?;
        self.logic.extend(bit_names(&name, &range, width));
        Some(())
    }

    /// What our own exports and sigrok say of rates.
    fn comment(&mut self, words: &[&[u8]]) {
        let words: Vec<String> = words
            .iter()
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        let text = words.join(" ");
        if let Some((_, rate)) = text
            .strip_prefix("Acquisition with ")
            .and_then(|rest| rest.split_once(" channels at "))
        {
            let known = spoken_rate(rate).map(|rate| Known {
                rate,
                samples: None,
            });
            (self.logic_rate, self.analog_rate) = (known, known);
        } else if let Some(said) = text.strip_prefix("logic samples: ") {
            self.logic_rate = own_rate(said);
        } else if let Some(said) = text.strip_prefix("analog samples: ") {
            self.analog_rate = own_rate(said);
        }
    }
}

/// `10 ns` or `10ns`: ticks in a second.
fn timescale(words: &[&[u8]]) -> Option<Rate> {
    let text = String::from_utf8_lossy(&words.concat()).into_owned();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let number: u32 = number.parse().ok()?;
    let units = ["s", "ms", "us", "ns", "ps", "fs"];
    let thousands = units.iter().position(|known| *known == unit)?;
    let per_unit = 1000_u128.pow(u32::try_from(thousands).ok()?);
    Rate::new(per_unit, number.into())
}

/// `200 kHz`.
fn spoken_rate(text: &str) -> Option<Rate> {
    Rate::of_hz(crate::sr::spoken_rate(text)?)
}

/// `12000000 Hz, 83.333 ticks apart, 1200 of them at 12000000 Hz`; the last part says the exact rate, as a fraction where
/// it is none of whole hertz.
fn own_rate(text: &str) -> Option<Known> {
    if let Some((before, exact)) = text.split_once(" of them at ") {
        let samples = before.rsplit(' ').next()?.parse().ok()?;
        let rate = Rate::said(exact.strip_suffix(" Hz")?)?;
        return Some(Known {
            rate,
            samples: Some(samples),
        });
    }
    let hz = text.split(' ').next()?.parse().ok()?;
    Some(Known {
        rate: Rate::of_hz(hz)?,
        samples: None,
    })
}
