//! Projects: boards of one design, and their runs. What the endpoints about them share.

use guest::emi::{Project, SourceKind};
use guest::{Request, Time, words};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) mod create;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod remove;
pub(crate) mod report;

/// The placeholder of the path, and what it is.
pub(crate) const ID: (&str, &str) = ("id", "Project id.");

/// Project id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

words! {
    pub(crate) const SOURCE_KINDS: SourceKind = {
        Kicad = "kicad",
        Gerber = "gerber",
    };
}

/// A project.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Project")]
pub(crate) struct Record<'a> {
    /// ULID.
    id: &'a str,
    organization_id: &'a str,
    /// Several projects may have the same.
    name: &'a str,
    /// What its maker said that its boards are. What a file is, the file says.
    #[schemars(extend("enum" = SOURCE_KINDS.all()))]
    source_kind: &'static str,
    /// User id.
    created_by: &'a str,
    #[schemars(with = "Time")]
    created_at: &'a str,
}

impl<'a> From<&'a Project> for Record<'a> {
    fn from(project: &'a Project) -> Self {
        Self {
            id: &project.id,
            organization_id: &project.organization_id,
            name: &project.name,
            source_kind: SOURCE_KINDS.word(project.source_kind),
            created_by: &project.created_by,
            created_at: &project.created_at,
        }
    }
}
