//! A value that does not fit, in the words of serde's errors.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

use crate::problem::{Code, did_you_mean};
use crate::yaml::Span;

/// Why a value was not read.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) code: Code,
    pub(crate) message: String,
    /// The value, once it is known.
    pub(super) node: Option<usize>,
    /// Where, if not at the value.
    pub(super) span: Option<Span>,
    /// The key that is missing.
    pub(super) missing: Option<&'static str>,
    /// Another fault is the reason, and has been noted.
    pub(super) is_consequence: bool,
}

impl Fault {
    pub(super) fn new(code: Code, message: String) -> Self {
        Self {
            code,
            message,
            node: None,
            span: None,
            missing: None,
            is_consequence: false,
        }
    }

    pub(super) fn or_at(self, node: usize) -> Self {
        Self {
            node: self.node.or(Some(node)),
            ..self
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Code::InvalidValue, message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(Code::WrongType, format!("this must be {expected}"))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format!("this must be {expected}"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let variant: String = variant.chars().take(64).collect();
        let hint = did_you_mean(&variant, expected.iter().copied());
        let all = expected.join(", ");
        Self::custom(format!("`{variant}` is none of {all}{hint}"))
    }

    fn missing_field(field: &'static str) -> Self {
        let message = format!("the key `{field}` is missing here: it must be given");
        Self {
            missing: Some(field),
            ..Self::new(Code::MissingKey, message)
        }
    }
}
