//! Annotations of a plugin in the words of the crate `decode`, which checks them.

use decode::foreign::{BadAnnotation, ForeignError};
use decode::{Annotation, Value};

use crate::plugin::bindings::decoder::exports::hostd::plugin::decoding as wit;

/// What one call of a decoder with so many classes returned.
pub(super) fn all(
    found: Vec<wit::Annotation>,
    classes: usize,
) -> Result<Vec<Annotation>, ForeignError> {
    found.into_iter().map(|found| one(found, classes)).collect()
}

fn one(found: wit::Annotation, classes: usize) -> Result<Annotation, ForeignError> {
    let class = u8::try_from(found.class).map_err(|_| BadAnnotation::Class {
        class: found.class,
        classes,
    })?;
    Ok(Annotation {
        start: found.start,
        end: found.end,
        class,
        value: match found.value {
            wit::Value::Mark => Value::Mark,
            wit::Value::Number(number) => Value::Number(number),
            wit::Value::Words(words) => Value::Words(words.into()),
            wit::Value::Text(text) => Value::Text(text.into()),
        },
    })
}
