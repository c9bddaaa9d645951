//! Decoders on top of each other, checked and described as one.

use crate::decoding::Decoder as Engine;
use crate::described::Described;
use crate::error::SigrokError;
use crate::program::Sigrok;
use decode::foreign::{CHANNELS_MAX, Foreign};
use decode::{Channel, Class, Decoder, OptionInfo, Row};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Most decoders on top of each other.
pub const DECODERS_MAX: usize = 8;

/// Longest id of a decoder, channel or option.
const ID_CHARS_MAX: usize = 64;

/// Longest value of an option.
const VALUE_CHARS_MAX: usize = 128;

/// Most classes of a decoder in [`decode`].
const CLASSES_MAX: usize = 64;

/// What a decoder takes that reads samples.
const SAMPLES: &str = "logic";

/// What separates the decoders of a stack, as `-P` does.
const SEPARATOR: char = ',';

/// Options of decoders that a request cannot have, since these words mean something else there. Such an option has its
/// decoder's name before it: `uart.format`.
const RESERVED: [&str; 11] = [
    "annotations",
    "engine",
    "format",
    "from",
    "glitch",
    "hysteresis",
    "limit",
    "protocol",
    "summary",
    "threshold",
    "to",
];

/// Whether a text is a name of something of libsigrokdecode, and nothing else.
pub(crate) fn is_id(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    (1..=ID_CHARS_MAX).contains(&text.len()) && !text.starts_with('-') && text.chars().all(fits)
}

/// Whether a text can stand behind `=` in what `-P` takes, and end nothing there.
pub(crate) fn is_value(text: &str) -> bool {
    let ends = |c: char| c.is_control() || ":=,".contains(c);
    (1..=VALUE_CHARS_MAX).contains(&text.chars().count()) && !text.chars().any(ends)
}

/// Decoders on top of each other: the first one reads samples, and the annotations are those of the last one.
#[derive(Debug, Clone)]
pub struct Stack {
    sigrok: Arc<Sigrok>,
    decoders: Vec<Described>,
}

impl Stack {
    /// Of decoders such as `i2c,ds1307`. Blocks while they are asked for.
    ///
    /// # Errors
    /// One is not known, or they do not fit.
    pub fn find(sigrok: &Arc<Sigrok>, text: &str) -> Result<Self, SigrokError> {
        Self::of(sigrok, text, |id| sigrok.describe(id))
    }

    /// The same of what the program said before, without asking it. None if it has to be asked.
    #[must_use]
    pub fn kept(sigrok: &Arc<Sigrok>, text: &str) -> Option<Self> {
        let unknown = |id: &str| SigrokError::Unknown(id.to_owned());
        Self::of(sigrok, text, |id| {
            sigrok.kept(id).ok_or_else(|| unknown(id))
        })
        .ok()
    }

    fn of(
        sigrok: &Arc<Sigrok>,
        text: &str,
        describe: impl Fn(&str) -> Result<Described, SigrokError>,
    ) -> Result<Self, SigrokError> {
        let ids: Vec<&str> = text.split(SEPARATOR).map(str::trim).collect();
        if DECODERS_MAX < ids.len() {
            return Err(SigrokError::Stack(format!(
                "name {DECODERS_MAX} decoders on top of each other at most"
            )));
        }
        let decoders = ids.into_iter().map(|id| match is_id(id) {
            true => describe(id),
            false => Err(SigrokError::Unknown(
                id.chars().take(ID_CHARS_MAX).collect(),
            )),
        });
        let decoders: Vec<Described> = decoders.collect::<Result<_, _>>()?;
        let mut before: Option<&Described> = None;
        for decoder in &decoders {
            let fits = match before {
                None => decoder.inputs.iter().any(|one| one == SAMPLES),
                Some(before) => before
                    .outputs
                    .iter()
                    .any(|one| decoder.inputs.contains(one)),
            };
            if !fits {
                let takes = decoder.inputs.join(" or ");
                return Err(SigrokError::Stack(format!(
                    "the decoder {} takes {takes}; put one that gives it before it, as in i2c,ds1307",
                    decoder.id
                )));
            }
            before = Some(decoder);
        }
        Ok(Self {
            sigrok: sigrok.clone(),
            decoders,
        })
    }

    /// Its description, with those channels alone that are required or named.
    #[must_use]
    pub fn decoder(&self, named: &[&str]) -> Decoder {
        let (first, last) = (&self.decoders[0], self.top());
        let channels = first.channels.iter();
        let wanted = |role: &&Channel| role.required || named.contains(&role.id.as_str());
        let (classes, rows) = shown(last);
        Decoder {
            id: last.id.clone(),
            name: last.name.clone(),
            channels: channels.filter(wanted).cloned().collect(),
            options: self
                .options()
                .into_iter()
                .map(|(_, option)| option)
                .collect(),
            classes,
            rows,
            byte_streams: Vec::new(),
        }
    }

    /// All channels of the first decoder, those that need not be there as well.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        &self.decoders[0].channels
    }

    /// The decoder, for a job that names these channels and options.
    ///
    /// # Errors
    /// It has more channels than can be decoded at once.
    pub fn foreign(&self, named: &[&str]) -> Result<Arc<dyn Foreign>, SigrokError> {
        let described = self.decoder(named);
        let count = described.channels.len();
        if CHANNELS_MAX < count {
            return Err(SigrokError::Stack(format!(
                "name {CHANNELS_MAX} channels at most for a decoder of sigrok-cli; these are {count}"
            )));
        }
        Ok(Arc::new(Engine::new(self.clone(), described)))
    }

    pub(crate) fn sigrok(&self) -> &Arc<Sigrok> {
        &self.sigrok
    }

    /// The decoder whose annotations are shown.
    pub(crate) fn top(&self) -> &Described {
        self.decoders.last().unwrap_or(&self.decoders[0])
    }

    /// Index of each class of the last decoder in the description.
    pub(crate) fn classes(&self) -> HashMap<String, u8> {
        let last = self.top();
        let (shown, _) = shown(last);
        let index = |id: &str| shown.iter().position(|class| class.id == id);
        let of = |class: &Class| {
            let row = last.rows.iter().find(|row| row.classes.contains(&class.id));
            let at = index(&class.id)
                .or_else(|| index(&row?.id))
                .unwrap_or(shown.len().saturating_sub(1));
            (class.id.clone(), u8::try_from(at).unwrap_or(0))
        };
        last.classes.iter().map(of).collect()
    }

    /// All options with the decoder that each is of. One whose name is taken has its
    /// decoder's name before it.
    pub(crate) fn options(&self) -> Vec<(usize, OptionInfo)> {
        let roles = self.decoders[0].channels.iter().map(|role| role.id.clone());
        let reserved = RESERVED.map(str::to_owned);
        let mut taken: HashSet<String> = roles.chain(reserved).collect();
        let mut all = Vec::new();
        for (index, decoder) in self.decoders.iter().enumerate() {
            for option in &decoder.options {
                let mut option = option.clone();
                if !taken.insert(option.id.clone()) {
                    option.id = format!("{}.{}", decoder.id, option.id);
                }
                all.push((index, option));
            }
        }
        all
    }

    /// What `-P` takes: channels by their numbers, and the options that are not as they would be anyway.
    pub(crate) fn argument(
        &self,
        channels: &[(String, usize)],
        options: &[(String, String)],
    ) -> Result<String, SigrokError> {
        let known = self.options();
        let mut parts: Vec<String> = self.decoders.iter().map(|one| one.id.clone()).collect();
        for (role, number) in channels {
            parts[0].push_str(&format!(":{role}={number}"));
        }
        for (name, value) in options {
            let found = known.iter().find(|(_, option)| option.id == *name);
            let Some((index, option)) = found else {
                continue;
            };
            if *value == option.default {
                continue;
            }
            if !is_value(value) {
                return Err(SigrokError::Stack(format!(
                    "the value of {name} must be 1 to {VALUE_CHARS_MAX} characters without `:`, `=` and `,`"
                )));
            }
            let own = option.id.rsplit('.').next().unwrap_or(&option.id);
            parts[*index].push_str(&format!(":{own}={value}"));
        }
        Ok(parts.join(","))
    }
}

/// Classes and rows of a decoder. Where there are too many classes, each row is one.
fn shown(decoder: &Described) -> (Vec<Class>, Vec<Row>) {
    if decoder.classes.len() <= CLASSES_MAX {
        return (decoder.classes.clone(), decoder.rows.clone());
    }
    let rows = decoder.rows.iter().take(CLASSES_MAX - 1);
    let mut classes: Vec<Class> = rows
        .map(|row| Class {
            id: row.id.clone(),
            text: row.text.clone(),
            hex_digits: 0,
        })
        .collect();
    classes.push(Class {
        id: "other".to_owned(),
        text: "In no row".to_owned(),
        hex_digits: 0,
    });
    (classes, Vec::new())
}
