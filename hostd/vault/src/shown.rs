//! What is told of a secret: everything but its value.

use store::org_secrets::OrgSecret;

/// Whether a value can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It can.
    Ready,
    /// The key file is missing, or cannot be used.
    NoKey,
    /// The key file has another key than the one it is sealed under.
    OtherKey,
    /// The key is right and the record is not.
    Damaged,
}

/// A secret without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// As jobs name it.
    pub name: String,
    /// Whether its value can be read.
    pub state: State,
    /// Patterns of the branches and tags whose jobs may have it; empty = all.
    pub refs: Vec<String>,
    /// User id.
    pub created_by: String,
    /// Milliseconds since 1970.
    pub created_ms: u64,
    /// User id of whoever wrote the value last.
    pub updated_by: String,
    /// Milliseconds since 1970.
    pub updated_ms: u64,
}

impl Shown {
    pub(crate) fn of(secret: OrgSecret, state: State) -> Self {
        Self {
            name: secret.name,
            state,
            refs: secret.refs,
            created_by: secret.created_by,
            created_ms: secret.created_ms,
            updated_by: secret.updated_by,
            updated_ms: secret.updated_ms,
        }
    }
}
