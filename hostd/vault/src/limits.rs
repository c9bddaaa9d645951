//! Bounds of secrets, and their checks. A name's are those of pipelines, a value's those of what keeps it out of logs.

use std::ops::RangeInclusive;

use evidence::redact::{SECRET_BYTES_MAX, SECRET_BYTES_MIN};
use pipeline::refs;

use crate::error::SecretError;

/// Secrets of one organisation.
pub const COUNT_MAX: usize = 100;

/// Bytes of a value.
pub const VALUE_BYTES: RangeInclusive<usize> = SECRET_BYTES_MIN..=SECRET_BYTES_MAX;

pub(crate) fn check_name(name: &str) -> Result<(), SecretError> {
    pipeline::check_secret_name(name).map_err(|why| SecretError::invalid("name", fragment(&why)))
}

/// Nothing of the value is in the message.
pub(crate) fn check_value(value: &str) -> Result<(), SecretError> {
    let (least, most) = (VALUE_BYTES.start(), VALUE_BYTES.end());
    // White space around it may be lost on the way to the log, and is in every log.
    if value.trim_ascii().len() < *least {
        let message = format!(
            "must have at least {least} bytes beside white space at its ends: a shorter one cannot be kept out of logs"
        );
        return Err(SecretError::invalid("value", message));
    }
    if value.len() > *most {
        let message = format!("must have at most {most} bytes");
        return Err(SecretError::invalid("value", message));
    }
    if value.contains('\0') {
        let message = "must not have the character NUL, which no variable can carry";
        return Err(SecretError::invalid("value", message));
    }
    Ok(())
}

pub(crate) fn check_refs(patterns: &[String]) -> Result<(), SecretError> {
    refs::check(patterns).map_err(|why| SecretError::invalid("refs", why))
}

/// Whether a job of this branch or tag may have a secret with these patterns.
pub(crate) fn admits(patterns: &[String], reference: Option<&str>) -> bool {
    patterns.is_empty() || refs::any_has(patterns, reference)
}

fn fragment(why: &str) -> String {
    format!("must be another one: {why}")
}
