//! Checks option texts against a decoder's description.

use super::error::{SpecError, nearest};
use crate::decoder::{Accepts, Decoder, OptionInfo};
use std::sync::Arc;

/// Every option of a decoder with its value.
pub(super) struct Options {
    decoder: Arc<Decoder>,
    values: Vec<String>,
}

impl Options {
    pub(super) fn parse(decoder: &Arc<Decoder>, given: &[(&str, &str)]) -> Result<Self, SpecError> {
        let mut values: Vec<Option<String>> = vec![None; decoder.options.len()];
        for &(name, value) in given {
            let Some(index) = decoder.options.iter().position(|known| known.id == name) else {
                let known = decoder.options.iter();
                let valid: Vec<&str> = known.map(|known| known.id.as_str()).collect();
                return Err(SpecError::UnknownOption {
                    decoder: decoder.id.clone(),
                    name: name.to_owned(),
                    hint: nearest(name, &valid),
                    valid: valid.join(", "),
                });
            };
            let value = check(&decoder.options[index], value)?;
            if values[index].replace(value).is_some() {
                return Err(SpecError::RepeatedOption {
                    name: name.to_owned(),
                });
            }
        }
        let values = values.into_iter().zip(&decoder.options);
        let values = values.map(|(value, known)| value.unwrap_or_else(|| known.default.clone()));
        Ok(Self {
            decoder: decoder.clone(),
            values: values.collect(),
        })
    }

    /// Every option and its value.
    pub(super) fn pairs(&self) -> Vec<(String, String)> {
        let known = self.decoder.options.iter().map(|known| known.id.clone());
        known.zip(self.values.iter().cloned()).collect()
    }

    /// The value of an option.
    pub(super) fn text(&self, name: &str) -> &str {
        let index = self
            .decoder
            .options
            .iter()
            .position(|known| known.id == name);
        &self.values[index.expect("decoders ask only for options they describe")]
    }

    pub(super) fn integer(&self, name: &str) -> i64 {
        self.text(name).parse().expect("`check` let it pass")
    }

    pub(super) fn number(&self, name: &str) -> f64 {
        self.text(name).parse().expect("`check` let it pass")
    }
}

/// The value as the description has it: `1` means `1.0` if that is in the list.
fn check(option: &OptionInfo, text: &str) -> Result<String, SpecError> {
    let text = text.trim();
    let invalid = |valid: String, hint: Option<String>| SpecError::InvalidValue {
        option: option.id.clone(),
        value: text.to_owned(),
        hint,
        valid,
    };
    match &option.accepts {
        Accepts::OneOf(list) => {
            let same = |known: &&String| {
                **known == text
                    || known
                        .parse::<f64>()
                        .is_ok_and(|known| text.parse() == Ok(known))
            };
            let found = list.iter().find(same).cloned();
            found.ok_or_else(|| {
                let valid: Vec<&str> = list.iter().map(String::as_str).collect();
                invalid(valid.join(", "), nearest(text, &valid))
            })
        }
        Accepts::Any if text.chars().any(char::is_control) => {
            Err(invalid("one line of text".to_owned(), None))
        }
        Accepts::Any => Ok(text.to_owned()),
        &Accepts::Integer(min, max) => match text.parse::<i64>() {
            Ok(value) if (min..=max).contains(&value) => Ok(value.to_string()),
            _ => Err(invalid(format!("whole numbers {min} to {max}"), None)),
        },
        &Accepts::Number(min, max) => match text.parse::<f64>() {
            Ok(value) if (min..=max).contains(&value) => Ok(value.to_string()),
            _ => Err(invalid(format!("numbers {min} to {max}"), None)),
        },
    }
}
