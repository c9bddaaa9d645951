//! The decoders that a plugin declares, checked, and described as the built-in ones are.

use std::collections::BTreeSet;
use std::sync::Arc;

use decode::foreign::{CHANNELS_MAX, Input};
use decode::{Accepts, Channel, Class, Decoder, OptionInfo, Row};

use super::Known;
use crate::plugin::bindings::decoder::exports::hostd::plugin::decoding as wit;

/// Decoders of one plugin.
const DECODERS_MAX: usize = 16;

/// Annotation classes of one decoder: a set of them is a machine word.
const CLASSES_MAX: usize = 64;

/// Rows of one decoder.
const ROWS_MAX: usize = 64;

/// Options of one decoder.
const OPTIONS_MAX: usize = 32;

/// Values that one option lists.
const VALUES_MAX: usize = 64;

/// Bytes of an id.
const ID_LEN_MAX: usize = 32;

/// Bytes of a name, a text or a value.
const TEXT_BYTES_MAX: usize = 128;

/// Hexadecimal digits of the largest number.
const HEX_DIGITS_MAX: u8 = 16;

/// Query parameters of `/decode` that are no option and no channel.
const TAKEN: [&str; 3] = ["protocol", "format", "annotations"];

/// Why the decoders of a plugin cannot be used. Fits "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodersError {
    #[error("use its decoders: it declares {0}; there must be 1 to {DECODERS_MAX}")]
    Count(usize),
    #[error("use its decoder {decoder:?}: {rule}")]
    Rule { decoder: String, rule: String },
}

/// Check what the plugin `id` declares.
///
/// # Errors
/// The first rule that is broken.
pub(super) fn checked(
    id: &str,
    declared: Vec<wit::DecoderInfo>,
) -> Result<Vec<Known>, DecodersError> {
    if !(1..=DECODERS_MAX).contains(&declared.len()) {
        return Err(DecodersError::Count(declared.len()));
    }
    let ids: Vec<String> = declared.iter().map(|d| d.id.clone()).collect();
    let known = declared.into_iter().map(|declared| {
        let name: String = declared.id.chars().take(ID_LEN_MAX).collect();
        one(id, declared).map_err(|rule| DecodersError::Rule {
            decoder: name,
            rule,
        })
    });
    let known = known.collect::<Result<Vec<_>, _>>()?;
    if let Some(twice) = twice(ids.iter().map(String::as_str)) {
        return Err(DecodersError::Rule {
            decoder: twice.to_owned(),
            rule: "another has the same id".to_owned(),
        });
    }
    Ok(known)
}

/// A text as one line of at most so many bytes as names have.
pub(super) fn line(text: &str) -> String {
    let cut = &text[..text.floor_char_boundary(4 * TEXT_BYTES_MAX)];
    let shown = |letter: char| if letter.is_control() { ' ' } else { letter };
    cut.chars().map(shown).collect()
}

fn one(plugin: &str, declared: wit::DecoderInfo) -> Result<Known, String> {
    is_id("its id", &declared.id)?;
    is_text("its name", &declared.name)?;
    let counts = [
        ("channels", declared.channels.len(), 1..=CHANNELS_MAX),
        ("options", declared.options.len(), 0..=OPTIONS_MAX),
        ("classes", declared.classes.len(), 1..=CLASSES_MAX),
        ("rows", declared.rows.len(), 0..=ROWS_MAX),
    ];
    for (what, count, range) in counts {
        if !range.contains(&count) {
            let (least, most) = (range.start(), range.end());
            return Err(format!(
                "it has {count} {what}; there must be {least} to {most}"
            ));
        }
    }
    let channels = declared.channels.iter().map(|c| c.id.as_str());
    let parameters = channels.chain(declared.options.iter().map(|o| o.id.as_str()));
    if let Some(name) = twice(parameters.chain(TAKEN)) {
        return Err(format!(
            "the name {name:?} means two things; channels and options have names of their own, not {}",
            TAKEN.join(", ")
        ));
    }
    let classes = declared.classes.iter().map(|class| class.id.as_str());
    if let Some(name) = twice(classes) {
        return Err(format!("two classes have the id {name:?}"));
    }
    if let Some(name) = twice(declared.rows.iter().map(|row| row.id.as_str())) {
        return Err(format!("two rows have the id {name:?}"));
    }
    let rows = declared.rows.into_iter().map(|r| row(r, &declared.classes));
    let rows = rows.collect::<Result<_, _>>()?;
    let channels = declared.channels.into_iter().map(channel);
    let options = declared.options.into_iter().map(option);
    let classes = declared.classes.into_iter().map(class);
    let decoder = Decoder {
        id: format!("{plugin}/{}", declared.id),
        name: declared.name,
        channels: channels.collect::<Result<_, _>>()?,
        options: options.collect::<Result<_, _>>()?,
        classes: classes.collect::<Result<_, _>>()?,
        rows,
        byte_streams: Vec::new(),
    };
    Ok(Known {
        id: declared.id,
        decoder: Arc::new(decoder),
        input: match declared.input {
            wit::Input::Changes => Input::Changes,
            wit::Input::Samples => Input::Samples,
        },
    })
}

fn channel(declared: wit::Channel) -> Result<Channel, String> {
    is_id("a channel's id", &declared.id)?;
    is_text("a channel's name", &declared.name)?;
    Ok(Channel {
        id: declared.id,
        name: declared.name,
        required: declared.required,
    })
}

fn option(declared: wit::OptionInfo) -> Result<OptionInfo, String> {
    is_id("an option's id", &declared.id)?;
    let id = &declared.id;
    is_text("an option's text", &declared.text)?;
    is_text("an option's default", &declared.default)?;
    let values = &declared.values;
    if VALUES_MAX < values.len() {
        return Err(format!(
            "its option {id:?} lists {} values; the limit is {VALUES_MAX}",
            values.len()
        ));
    }
    for value in values {
        is_text("an option's value", value)?;
        // What is chosen is compared without the spaces around it.
        if value.trim() != value {
            return Err(format!(
                "its option {id:?} lists {value:?}, which begins or ends with a space"
            ));
        }
    }
    if !values.is_empty() && !values.contains(&declared.default) {
        return Err(format!(
            "its option {id:?} does not accept its own default {:?}",
            declared.default
        ));
    }
    Ok(OptionInfo {
        accepts: if declared.values.is_empty() {
            Accepts::Any
        } else {
            Accepts::OneOf(declared.values)
        },
        id: declared.id,
        text: declared.text,
        default: declared.default,
    })
}

fn class(declared: wit::Class) -> Result<Class, String> {
    is_id("a class's id", &declared.id)?;
    is_text("a class's text", &declared.text)?;
    if HEX_DIGITS_MAX < declared.hex_digits {
        return Err(format!(
            "its class {:?} has {} hexadecimal digits; numbers have at most {HEX_DIGITS_MAX}",
            declared.id, declared.hex_digits
        ));
    }
    Ok(Class {
        id: declared.id,
        text: declared.text,
        hex_digits: declared.hex_digits,
    })
}

fn row(declared: wit::Row, classes: &[wit::Class]) -> Result<Row, String> {
    is_id("a row's id", &declared.id)?;
    is_text("a row's text", &declared.text)?;
    let is_class = |id: &&String| classes.iter().any(|class| class.id == **id);
    if let Some(unknown) = declared.classes.iter().find(|id| !is_class(id)) {
        let unknown: String = unknown.chars().take(ID_LEN_MAX).collect();
        return Err(format!(
            "its row {:?} names the class {unknown:?}, which it does not have",
            declared.id
        ));
    }
    if declared.classes.is_empty() || classes.len() < declared.classes.len() {
        return Err(format!(
            "its row {:?} must name each class once",
            declared.id
        ));
    }
    Ok(Row {
        id: declared.id,
        text: declared.text,
        classes: declared.classes,
    })
}

fn is_id(what: &str, id: &str) -> Result<(), String> {
    let is_letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    if (1..=ID_LEN_MAX).contains(&id.len()) && id.bytes().all(is_letter) {
        return Ok(());
    }
    let id: String = id.chars().take(ID_LEN_MAX).collect();
    Err(format!(
        "{what} {id:?} must be 1 to {ID_LEN_MAX} of a-z 0-9 _ -"
    ))
}

fn is_text(what: &str, text: &str) -> Result<(), String> {
    if text.len() <= TEXT_BYTES_MAX && !text.chars().any(char::is_control) {
        return Ok(());
    }
    Err(format!(
        "{what} must be one line of at most {TEXT_BYTES_MAX} bytes"
    ))
}

/// A name that comes a second time.
fn twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    let mut names = names;
    names.find(|name| !seen.insert(*name))
}

#[cfg(test)]
mod tests;
