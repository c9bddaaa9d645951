//! What a plugin is called: part of its routes, of its keys in the store and of its labels in metrics, so it has few
//! letters to choose from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Shortest and longest id, in bytes.
pub const LEN_MIN: usize = 3;
/// See [`LEN_MIN`].
pub(crate) const LEN_MAX: usize = 64;

/// An id such as `acme.rail-report`: `[a-z0-9.-]`, a letter or digit at both ends, no two dots in a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PluginId(String);

/// A text is no id; what an id must be, as a fragment that follows a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must have {LEN_MIN} to {LEN_MAX} characters a-z, 0-9, . and -, begin and end with a letter or digit, and have no two dots in a row, such as acme.rail-report"
)]
pub struct IdError;

impl PluginId {
    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PluginId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let bytes = text.as_bytes();
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let has_length = (LEN_MIN..=LEN_MAX).contains(&bytes.len());
        let is_id = has_length
            && bytes
                .iter()
                .all(|b| is_plain(*b) || matches!(b, b'.' | b'-'))
            && bytes.first().is_some_and(|b| is_plain(*b))
            && bytes.last().is_some_and(|b| is_plain(*b))
            && !text.contains("..");
        if is_id {
            Ok(Self(text.to_owned()))
        } else {
            Err(IdError)
        }
    }
}

impl TryFrom<String> for PluginId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<PluginId> for String {
    fn from(id: PluginId) -> Self {
        id.0
    }
}

impl fmt::Display for PluginId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_plain() {
        for good in [
            "abc",
            "acme.rail-report",
            "0.0",
            "a--b",
            &"x".repeat(LEN_MAX),
        ] {
            assert_eq!(good.parse::<PluginId>().unwrap().as_str(), good);
        }
        for bad in [
            "",
            "ab",
            "Acme",
            ".abc",
            "abc.",
            "-abc",
            "abc-",
            "a..b",
            "a/b",
            "a\0b",
            "a b",
            "a_b",
            "äbc",
            &"x".repeat(LEN_MAX + 1),
        ] {
            assert_eq!(bad.parse::<PluginId>(), Err(IdError), "{bad}");
        }
        assert!(serde_json::from_str::<PluginId>("\"../x\"").is_err());
    }
}
