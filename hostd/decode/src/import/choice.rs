//! Which of a file's channels become a capture.

use super::ImportError;
use super::source::Shape;
use crate::segment::CHANNELS_MAX;

/// Names in a message, at most.
const SHOWN_MAX: usize = 32;

/// Channels of a file, by their place in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Choice {
    /// In the order of the bits.
    pub(super) logic: Vec<usize>,
    pub(super) analog: Option<usize>,
}

impl Choice {
    /// The bit of each channel; none for those that were not chosen.
    pub(super) fn bits(&self, channels: usize) -> Vec<Option<u8>> {
        let mut bits = vec![None; channels];
        for (bit, channel) in (0..).zip(&self.logic) {
            bits[*channel] = Some(bit);
        }
        bits
    }
}

/// Choose the channels that were asked for, or all that a capture can hold; what is left out is noted.
pub(super) fn choose(
    shape: &Shape,
    asked: &[String],
    notes: &mut Vec<String>,
) -> Result<Choice, ImportError> {
    let mut choice = Choice::default();
    if asked.is_empty() {
        choice.logic = (0..shape.logic.len()).collect();
        choice.analog = (!shape.analog.is_empty()).then_some(0);
        if let [first, rest @ ..] = shape.analog.as_slice()
            && !rest.is_empty()
        {
            let left: Vec<&str> = rest.iter().map(|channel| channel.name.as_str()).collect();
            notes.push(format!(
                "A capture holds one analog channel, and this has `{}`. Left out: {}. Choose with `channels`.",
                first.name,
                listed(&left)
            ));
        }
    }
    for name in asked {
        if let Some(channel) = shape.logic.iter().position(|known| known == name) {
            if !choice.logic.contains(&channel) {
                choice.logic.push(channel);
            }
        } else if let Some(channel) = shape.analog.iter().position(|known| known.name == *name) {
            if let Some(first) = choice.analog.filter(|first| *first != channel) {
                return Err(ImportError::TwoAnalog {
                    first: shape.analog[first].name.clone(),
                    second: name.clone(),
                });
            }
            choice.analog = Some(channel);
        } else {
            let logic = shape.logic.iter().map(String::as_str);
            let analog = shape.analog.iter().map(|channel| channel.name.as_str());
            let valid: Vec<&str> = logic.chain(analog).collect();
            let (name, valid) = (name.clone(), listed(&valid));
            return Err(ImportError::UnknownChannel { name, valid });
        }
    }
    let channels = choice.logic.len();
    if channels > CHANNELS_MAX {
        return Err(ImportError::Channels { channels });
    }
    Ok(choice)
}

fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(SHOWN_MAX)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = match names.len().saturating_sub(SHOWN_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    shown.join(", ") + &more
}
