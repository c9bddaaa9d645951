//! The value changes of a dump.

use std::collections::HashMap;

use super::super::ImportError;
use super::super::choice::Choice;
use super::super::source::{Sink, Wanted};
use super::header::Header;
use super::tokens::Tokens;

/// The first of the characters that identifiers are made of, and how many there are.
const FIRST: u8 = b'!';
const CHARACTERS: usize = 94;

/// What a value change touches.
#[derive(Clone, Debug, Default)]
struct Target {
    /// For each bit of the value, from the lowest: the bits of the levels that it sets.
    bits: Vec<u64>,
    /// Whether it is the chosen analog channel.
    is_analog: bool,
}

/// The chosen channels by identifier.
#[derive(Clone, Debug, Default)]
pub(super) struct Targets {
    /// Of identifiers that are one character.
    short: Vec<Option<Target>>,
    long: HashMap<Vec<u8>, Target>,
}

impl Targets {
    pub(super) fn new(header: &Header<'_>, choice: &Choice) -> Self {
        let channels = header
            .variables
            .iter()
            .filter_map(|variable| Some(variable.channel + variable.bits?));
        let bits = choice.bits(channels.max().unwrap_or(0));
        let mut targets = Self {
            short: vec![None; CHARACTERS],
            long: HashMap::new(),
        };
        for variable in &header.variables {
            let target = match targets.place(variable.id) {
                Some(place) => targets.short[place].get_or_insert_default(),
                None => targets.long.entry(variable.id.to_vec()).or_default(),
            };
            // An identifier may stand for several variables.
            match variable.bits {
                None => target.is_analog |= choice.analog == Some(variable.channel),
                Some(width) => {
                    target.bits.resize(target.bits.len().max(width), 0);
                    for (of, bit) in target.bits.iter_mut().zip(&bits[variable.channel..]) {
                        *of |= bit.map_or(0, |bit| 1 << bit);
                    }
                }
            }
        }
        targets
    }

    fn place(&self, id: &[u8]) -> Option<usize> {
        match id {
            [one] => Some(usize::from(one.checked_sub(FIRST)?)).filter(|place| *place < CHARACTERS),
            _ => None,
        }
    }

    fn find(&self, id: &[u8]) -> Option<&Target> {
        match self.place(id) {
            Some(place) => self.short.get(place)?.as_ref(),
            None => self.long.get(id),
        }
    }
}

/// Whether a dump has levels that are neither high nor low.
pub(super) fn has_unknown(mut tokens: Tokens<'_>) -> Result<bool, ImportError> {
    while let Some(word) = tokens.next()? {
        let value = match word {
            [b'x' | b'X' | b'z' | b'Z', _, ..] => return Ok(true),
            [b'b' | b'B', value @ ..] => value,
            b"$comment" => {
                tokens.until_end()?;
                continue;
            }
            [b'r' | b'R' | b's' | b'S', ..] => {
                tokens.next()?;
                continue;
            }
            _ => continue,
        };
        if value.iter().any(|digit| !matches!(digit, b'0' | b'1')) {
            return Ok(true);
        }
        tokens.next()?;
    }
    Ok(false)
}

/// The time that a walk has come to, and the levels there.
struct State<'s> {
    sink: &'s mut dyn Sink,
    at: u64,
    levels: u64,
    /// Whether something has changed at this time.
    is_moved: bool,
}

impl State<'_> {
    fn pass(&mut self, wanted: Wanted) -> Result<(), ImportError> {
        if std::mem::take(&mut self.is_moved) && wanted.logic {
            self.sink.levels(self.at, self.levels)?;
        }
        Ok(())
    }

    fn set(&mut self, mask: u64, high: bool) {
        self.levels = if high {
            self.levels | mask
        } else {
            self.levels & !mask
        };
        self.is_moved = true;
    }
}

pub(super) fn walk(
    mut tokens: Tokens<'_>,
    targets: &Targets,
    wanted: Wanted,
    sink: &mut dyn Sink,
) -> Result<u64, ImportError> {
    let mut state = State {
        sink,
        at: 0,
        levels: 0,
        is_moved: false,
    };
    while let Some(word) = tokens.next()? {
        let (first, rest) = word.split_first().unwrap_or((&b' ', &[]));
        match first {
            b'#' => {
                let at = number(rest).ok_or_else(|| tokens.wrong("no such time"))?;
                if at < state.at {
                    return Err(tokens.wrong("a time lies before the one above"));
                }
                if at > state.at {
                    state.pass(wanted)?;
                    state.at = at;
                }
            }
            b'0' | b'1' | b'x' | b'X' | b'z' | b'Z' => {
                if let Some(target) = targets.find(rest) {
                    let mask = target.bits.first().copied().unwrap_or(0);
                    state.set(mask, *first == b'1');
                }
            }
            b'b' | b'B' => {
                let id = tokens
                    .next()?
                    .ok_or_else(|| tokens.wrong("a value without an identifier"))?;
                if let Some(target) = targets.find(id) {
                    // Digits that are left out are 0 (or x or z, which are read as 0).
                    let digits = rest.iter().rev().chain(std::iter::repeat(&b'0'));
                    for (mask, digit) in target.bits.iter().zip(digits) {
                        state.set(*mask, *digit == b'1');
                    }
                }
            }
            b'r' | b'R' => {
                let id = tokens
                    .next()?
                    .ok_or_else(|| tokens.wrong("a value without an identifier"))?;
                if targets.find(id).is_some_and(|target| target.is_analog) && wanted.analog {
                    let value = std::str::from_utf8(rest)
                        .ok()
                        .and_then(|text| text.parse().ok());
                    let value = value.ok_or_else(|| tokens.wrong("no such number"))?;
                    state.sink.value(state.at, value)?;
                }
            }
            b's' | b'S' => {
                tokens.next()?;
            }
            b'$' if word == b"$comment" => {
                tokens.until_end()?;
            }
            b'$' => {}
            _ => return Err(tokens.wrong("no such value change")),
        }
    }
    let end = state.at;
    state.pass(wanted)?;
    Ok(end)
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 20 {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}
