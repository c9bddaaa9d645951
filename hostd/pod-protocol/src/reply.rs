//! The reply of a single-reply command: one line with `status`, and `data` or `message`.

use serde::Deserialize;
use serde_json::Value;

use super::refusal::Refusal;

/// Most characters of a bad line that an error repeats.
const EXCERPT_CHARS_MAX: usize = 80;

/// What a pod answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The command succeeded; its data, null if there is none.
    Done(Value),
    /// The pod refused it.
    Refused(Refusal),
}

/// Why a line is not a reply.
#[derive(Debug, thiserror::Error)]
pub enum ReplyError {
    /// Not a JSON object with the fields a reply has.
    #[error("the pod's answer is not a reply: `{excerpt}`")]
    NotReply {
        /// The beginning of the line.
        excerpt: String,
        /// Where the parser stopped.
        #[source]
        source: serde_json::Error,
    },
    /// A status word the protocol does not have.
    #[error("the pod's answer has the unknown status `{status}`")]
    UnknownStatus {
        /// The word.
        status: String,
    },
}

#[derive(Deserialize)]
struct RawReply {
    status: String,
    #[serde(default)]
    data: Value,
    #[serde(default)]
    message: String,
}

impl Reply {
    /// Reads one reply line.
    ///
    /// # Errors
    /// [`ReplyError`] when the line is not a reply.
    pub fn parse(line: &[u8]) -> Result<Self, ReplyError> {
        let raw: RawReply =
            serde_json::from_slice(line).map_err(|source| not_reply(line, source))?;
        match raw.status.as_str() {
            "ok" | "chunk" => Ok(Self::Done(raw.data)),
            "error" => Ok(Self::Refused(Refusal::new(raw.message))),
            _ => Err(ReplyError::UnknownStatus {
                status: shorten(&raw.status),
            }),
        }
    }
}

pub(crate) fn not_reply(line: &[u8], source: serde_json::Error) -> ReplyError {
    ReplyError::NotReply {
        excerpt: shorten(&String::from_utf8_lossy(line)),
        source,
    }
}

fn shorten(text: &str) -> String {
    let printable = text.chars().map(|letter| {
        if letter.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            letter
        }
    });
    printable.take(EXCERPT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests;
