//! What a link opens: one file of one capture.

use identity::scope::Scope;
use identity::{AuthError, Identity, Verified};
use lab::captures::export::{Asked, Content, Format};
use serde::{Deserialize, Serialize};

/// Things that links are made to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Linked {
    Export(Exported),
}

/// A capture as a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exported {
    capture: String,
    format: Format,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Content>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    channels: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<u64>,
}

impl Linked {
    pub(super) fn export(capture: String, format: Format, asked: Asked) -> Self {
        Self::Export(Exported {
            capture,
            format,
            content: asked.content,
            channels: asked.channels,
            from: asked.from,
            to: asked.to,
        })
    }
}

/// Who made a link to this file of this capture, as they may do things now, and what it has of the capture.
///
/// # Errors
/// It is no such link, or not any more: a sentence.
pub(super) fn opened(
    auth: &Identity,
    token: &str,
    capture: &str,
    format: Format,
) -> Result<(Verified, Asked), String> {
    let (by, Linked::Export(file)) = auth.open_link(token).map_err(sentence)?;
    if (&*file.capture, file.format) != (capture, format) {
        return Err(sentence(AuthError::Invalid));
    }
    if !by.has_scope(Scope::BenchControl.as_str()) {
        return Err(sentence(AuthError::Revoked));
    }
    let asked = Asked {
        content: file.content,
        channels: file.channels,
        from: file.from,
        to: file.to,
    };
    Ok((by, asked))
}

fn sentence(error: AuthError) -> String {
    let why = match error {
        AuthError::Expired => "the time of this address is over",
        AuthError::Revoked => "the right of who made this address has ended",
        AuthError::Missing | AuthError::Invalid | AuthError::Empty | AuthError::Scheme => {
            "this address is not as this server made it"
        }
    };
    format!("{why}; ask for another one")
}
