//! What `sigrok-cli --show` writes about an instrument: its channels, its rates and what it can be told.

use crate::error::AcquireError;
use crate::rates::Rates;

/// Channels of one instrument.
const CHANNELS_MAX: usize = 256;

/// Rates that one instrument lists.
const RATES_MAX: usize = 256;

/// Characters of a channel's name, and of a model's.
const NAME_CHARS_MAX: usize = 64;

/// What an instrument says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// What it calls itself.
    pub(crate) model: String,
    /// Names of its logic channels, in the order of their bits.
    pub(crate) logic: Vec<String>,
    /// Names of its analog channels.
    pub(crate) analog: Vec<String>,
    /// Its rates.
    pub(crate) rates: Rates,
    /// It samples until it is stopped.
    pub(crate) is_continuous: bool,
    /// It can be told how many samples to take.
    pub(crate) has_samples: bool,
    /// It can be told how many of its own recordings to send.
    pub(crate) has_frames: bool,
    /// What it waits for by itself, as single letters: `0`, `1`, `r`, `f` and others.
    pub(crate) triggers: String,
    /// Where the trigger lies in what it records can be told.
    pub(crate) has_ratio: bool,
}

impl Shown {
    /// Reads the whole text.
    pub(crate) fn parse(text: &str) -> Result<Self, AcquireError> {
        let malformed = |what: &str| AcquireError::Malformed {
            what: what.to_owned(),
        };
        let device = text.lines().find_map(device);
        let (model, names) = device.ok_or_else(|| malformed("it names no channels"))?;
        let says = |wanted: &str| text.lines().any(|line| line.trim() == wanted);
        let has = |option: &str| {
            let is_option = |line: &str| {
                let rest = line
                    .strip_prefix("    ")
                    .and_then(|line| line.strip_prefix(option));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ' ']))
            };
            text.lines().any(is_option)
        };
        // Which channel is of which kind is not said. Where there may be both, levels have names of this form.
        let is_analyzer = says("Logic analyzer");
        let has_levels = |name: &str| {
            let number = name.strip_prefix('D').unwrap_or_default();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        };
        let is_mixed = ["Oscilloscope", "Multimeter"].into_iter().any(says);
        let (logic, analog) = names
            .into_iter()
            .partition(|name| is_analyzer && (!is_mixed || has_levels(name)));
        let mut triggers = text.lines().filter_map(|line| {
            let letters = line.trim_start().strip_prefix("Supported triggers:")?;
            Some(
                letters
                    .chars()
                    .filter(char::is_ascii_alphanumeric)
                    .collect(),
            )
        });
        Ok(Self {
            model,
            logic,
            analog,
            rates: rates(text).ok_or_else(|| malformed("its sample rates are malformed"))?,
            is_continuous: has("continuous"),
            has_samples: has("limit_samples"),
            has_frames: has("limit_frames"),
            triggers: triggers.next().unwrap_or_default(),
            has_ratio: has("captureratio"),
        })
    }
}

/// `demo - Demo device with 3 channels: D0 D1 A0`.
fn device(line: &str) -> Option<(String, Vec<String>)> {
    let (_, rest) = line.split_once(" - ")?;
    let (head, names) = rest.rsplit_once(": ")?;
    let (model, count) = head.rsplit_once(" with ")?;
    let count: usize = count.split_once(" channel")?.0.parse().ok()?;
    let names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
    let are_names = |name: &String| {
        name.len() <= NAME_CHARS_MAX
            && name
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && !b",=:".contains(&byte))
            && !name.starts_with('-')
    };
    let is_whole = (1..=CHANNELS_MAX).contains(&count) && names.len() == count;
    let model = model.chars().filter(|char| !char.is_control());
    (is_whole && names.iter().all(are_names)).then(|| (model.take(NAME_CHARS_MAX).collect(), names))
}

/// The rates: a list, steps, or nothing. `None` if what stands there is neither.
fn rates(text: &str) -> Option<Rates> {
    let mut lines = text.lines();
    let found = lines.find_map(|line| {
        let rest = line.trim_start().strip_prefix("samplerate")?;
        rest.starts_with([' ', ':']).then_some(rest.trim())
    });
    let Some(found) = found else {
        return Some(Rates::Own);
    };
    if let Some(steps) = found
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    {
        let (ends, step) = steps.split_once(" in steps of ")?;
        let (min, max) = ends.split_once(" - ")?;
        let (min, max, step) = (hertz(min)?, hertz(max)?, hertz(step)?);
        return (0 < min && min <= max && 0 < step).then_some(Rates::Stepped { min, max, step });
    }
    if found != "- supported samplerates:" {
        return Some(Rates::Own);
    }
    let mut rates: Vec<u64> = lines.map_while(hertz).take(RATES_MAX).collect();
    rates.retain(|rate| *rate > 0);
    rates.sort_unstable();
    rates.dedup();
    (!rates.is_empty()).then_some(Rates::Listed(rates))
}

/// `24 MHz`, `12.5 MHz`, `1 Hz`.
fn hertz(text: &str) -> Option<u64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let factor: u64 = match unit {
        "Hz" => 1,
        "kHz" => 1_000,
        "MHz" => 1_000_000,
        "GHz" => 1_000_000_000,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) || fraction.len() > 9 {
        return None;
    }
    let parts: u64 = format!("{fraction:0<9}").parse().ok()?;
    let whole: u64 = whole.parse().ok()?;
    whole
        .checked_mul(factor)?
        .checked_add(parts * (factor / 1_000) / 1_000_000)
}

#[cfg(test)]
pub(crate) mod tests;
