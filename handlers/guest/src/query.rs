//! Strict reading of a query string, with the same shapes and errors as a body.

use serde_json::Value;

use crate::error::clip;
use crate::fields::NAME_BYTES_MAX;
use crate::{ApiError, Fields, Members};

/// Longest query string, in bytes as sent.
const QUERY_BYTES_MAX: usize = 8 << 10;

/// Most parameters.
const PARAMETERS_MAX: usize = 64;

/// Parameters, decoded.
#[derive(Debug)]
#[must_use = "unknown parameters are only told by `read`"]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// # Errors
    /// 400: too long, badly encoded, or a parameter given twice.
    pub fn parse(query: &str) -> Result<Self, ApiError> {
        if query.len() > QUERY_BYTES_MAX {
            return Err(ApiError::invalid(format!(
                "the query string is over {QUERY_BYTES_MAX} bytes"
            )));
        }
        Self::of_form(query)
    }

    /// Those of a form that a page sends as `application/x-www-form-urlencoded`, whose length the route's body limit bounds.
    ///
    /// # Errors
    /// 400: badly encoded, too many, or a parameter given twice.
    pub fn of_form(form: &str) -> Result<Self, ApiError> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for pair in form.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name)?, decode(value)?);
            if pairs.iter().any(|(n, _)| *n == name) {
                return Err(ApiError::field(
                    clip(&name, NAME_BYTES_MAX),
                    "is given twice",
                ));
            }
            if pairs.len() == PARAMETERS_MAX {
                return Err(ApiError::invalid(format!(
                    "the query has more than {PARAMETERS_MAX} parameters"
                )));
            }
            pairs.push((name, value));
        }
        Ok(Self { pairs })
    }

    /// Read all parameters as a [`crate::Members`] type.
    ///
    /// # Errors
    /// 400 with all problems, unknown parameters among them.
    pub fn read<T: Members>(self) -> Result<T, ApiError> {
        Fields::of_texts(self.pairs).read()
    }

    /// Read the parameters that `T` knows, and return the others, by name.
    ///
    /// # Errors
    /// 400 with all problems.
    pub fn read_open<T: Members>(self) -> Result<(T, Vec<(String, String)>), ApiError> {
        let (known, others) = Fields::of_texts(self.pairs).read_open()?;
        let text = |(name, value)| match value {
            Value::String(text) => Some((name, text)),
            _ => None,
        };
        Ok((known, others.into_iter().filter_map(text).collect()))
    }
}

/// Undo percent-encoding as HTML forms and every HTTP client write it (`+` is a space).
fn decode(text: &str) -> Result<String, ApiError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => rest
                .next()
                .zip(rest.next())
                .and_then(|(high, low)| Some(hex(high)? << 4 | hex(low)?))
                .ok_or_else(|| {
                    ApiError::invalid("the query has a % that two hex digits do not follow")
                })?,
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|_| ApiError::invalid("the query is not UTF-8 once decoded"))
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
