//! Why the host refused something, or why a plugin refuses a request.

use std::fmt;

use crate::bindings::handler::hostd::plugin::types;

/// A stable word for programs, and a sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// `not_found`, `not_granted`, `invalid`, `lease_held`, `device_offline`, …
    pub code: String,
    pub message: String,
}

impl Error {
    /// An error of the plugin's own.
    #[must_use]
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
        }
    }

    /// What a request asks for cannot be.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new("invalid", message)
    }

    /// The status with which a request is refused for this.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self.code.as_str() {
            "invalid" => 400,
            "not_granted" | "missing_scope" | "forbidden" | "no_caller" => 403,
            "not_found" => 404,
            "conflict" | "lease_held" | "wrong_state" => 409,
            "too_large" => 413,
            "device_offline" => 503,
            "timeout" => 504,
            "quota_exceeded" => 507,
            "refused" | "bad_answer" | "unreachable" => 502,
            _ => 500,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for Error {}

impl From<Error> for types::Error {
    fn from(error: Error) -> Self {
        Self {
            code: error.code,
            message: error.message,
        }
    }
}

impl From<types::Error> for Error {
    fn from(error: types::Error) -> Self {
        Self {
            code: error.code,
            message: error.message,
        }
    }
}
