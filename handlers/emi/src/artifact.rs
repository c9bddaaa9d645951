//! Artifacts: the files that a run makes. What the endpoints about them share.

use guest::Time;
use guest::emi::Artifact;
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) mod file;
pub(crate) mod link;
pub(crate) mod list;

/// A file that a run made.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Artifact")]
pub(crate) struct Record<'a> {
    /// Relative path, `/` between its parts.
    name: &'a str,
    content_type: &'a str,
    size_bytes: u64,
    /// Lower-case hexadecimal.
    sha256: &'a str,
    #[schemars(with = "Time")]
    created_at: &'a str,
}

impl<'a> From<&'a Artifact> for Record<'a> {
    fn from(artifact: &'a Artifact) -> Self {
        Self {
            name: &artifact.name,
            content_type: &artifact.content_type,
            size_bytes: artifact.size_bytes,
            sha256: &artifact.sha256,
            created_at: &artifact.created_at,
        }
    }
}
