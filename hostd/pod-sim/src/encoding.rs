//! How the samples of a capture are sent, as a request asks.

use pod_protocol::chunk::raw;

use super::args::Args;
use super::refuse::Refuse;

/// How samples are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Counts in decimal, words as edges.
    Text,
    /// Counts as base64, words as edges.
    Base64,
    /// Bytes after the line.
    Raw,
}

impl Encoding {
    /// What a request asks for; words that are unknown mean nothing.
    pub(crate) fn asked(args: &Args<'_>) -> Result<Self, Refuse> {
        Ok(match args.text("enc")? {
            Some("b64") => Self::Base64,
            Some(raw::ENCODING) => Self::Raw,
            _ => Self::Text,
        })
    }

    /// As [`asked`](Self::asked), for what is sent in lines only.
    pub(crate) fn in_lines(args: &Args<'_>) -> Result<Self, Refuse> {
        Ok(match Self::asked(args)? {
            Self::Raw => Self::Text,
            encoding => encoding,
        })
    }
}
