//! Whose a kept tree is: an organisation's, and in it of all refs that it trusts together, or of a single other one.
//!
//! | a job | reads | writes |
//! |---|---|---|
//! | of a trusted ref | the shared layer | the shared layer |
//! | of another ref | the ref's own, then the shared layer | the ref's own |
//! | without a ref | the user's own, then the shared layer | the user's own |

use std::fmt;

use sha2::{Digest, Sha256};

use super::add;

/// Hex digits of the name of an organisation's folder.
const FOLDER_CHARS: usize = 32;

/// The layer of an organisation's caches that a job writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layer {
    /// What trusted refs keep, for all jobs of the organisation.
    Shared,
    /// What jobs of one ref keep that is not trusted, for jobs of that ref.
    Ref(String),
    /// What jobs without a ref keep that one user submits, for those.
    User(String),
}

/// For whom a job keeps what its builds keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheOwner {
    org: String,
    layer: Layer,
}

impl CacheOwner {
    /// A job of an organisation.
    #[must_use]
    pub fn new(org: impl Into<String>, layer: Layer) -> Self {
        let org = org.into();
        Self { org, layer }
    }

    /// Whoever runs this program, for a job that no server has.
    #[must_use]
    pub fn local() -> Self {
        Self::new("", Layer::Shared)
    }

    /// Which layer it writes.
    pub(crate) fn written(&self) -> &Layer {
        &self.layer
    }

    /// Which layers it reads: the first one that has something counts.
    pub(crate) fn read(&self) -> impl Iterator<Item = &Layer> {
        let below = (self.layer != Layer::Shared).then_some(&Layer::Shared);
        [&self.layer].into_iter().chain(below)
    }

    /// Name of the folder of all that the organisation keeps.
    pub(super) fn folder(&self) -> String {
        let mut name = hex::encode(Sha256::digest(&self.org));
        name.truncate(FOLDER_CHARS);
        name
    }
}

impl Layer {
    /// Adds what tells it from all other layers of the organisation.
    pub(super) fn add_to(&self, digest: &mut Sha256) {
        let (kind, name) = match self {
            Self::Shared => ("shared", ""),
            Self::Ref(name) => ("ref", name.as_str()),
            Self::User(name) => ("user", name.as_str()),
        };
        add(digest, kind.as_bytes());
        add(digest, name.as_bytes());
    }
}

/// As the log of a job says it.
impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared => f.write_str("shared"),
            Self::Ref(name) => write!(f, "of the ref {name}"),
            Self::User(_) => f.write_str("of jobs without a ref"),
        }
    }
}
