//! Uploads: the bytes of boards, each sent at most once.

use guest::Shape;
use schemars::Schema;
use serde_json::Value;

pub(crate) mod begin;
pub(crate) mod put;

/// Characters of a SHA-256.
const DIGEST_CHARS: usize = 64;

/// A SHA-256 in hexadecimal, which is read in lower case.
#[derive(Debug)]
pub(crate) struct Digest;

impl Shape for Digest {
    type Value = String;

    fn read(&self, value: &Value) -> Result<String, String> {
        let text = value
            .as_str()
            .ok_or_else(|| "must be a string".to_owned())?;
        self.read_text(text)
    }

    fn read_text(&self, text: &str) -> Result<String, String> {
        let shape = guest::spelled(DIGEST_CHARS..=DIGEST_CHARS, "0-9A-Fa-f");
        shape
            .read_text(text)
            .map(|digest| digest.to_ascii_lowercase())
    }

    fn schema(&self) -> Schema {
        guest::spelled(DIGEST_CHARS..=DIGEST_CHARS, "0-9A-Fa-f").schema()
    }
}
