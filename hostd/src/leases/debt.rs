//! A debt: the safe state that a device owes after a lease, or before it is removed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A safe state that is owed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Debt {
    pub fence: u64,
    pub why: Why,
    /// By the wall clock, for people.
    pub since_ms: u64,
    /// By the steady clock.
    pub(super) began_ms: u64,
}

/// Why a safe state is owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    Released,
    /// By an administrator.
    TakenAway,
    Expired,
    /// The device is to be removed.
    Removal,
}

impl Debt {
    /// As it was stored.
    #[must_use]
    pub fn stored(fence: u64, why: Why, since_ms: u64) -> Self {
        Self {
            fence,
            why,
            since_ms,
            began_ms: 0,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Released => "released",
            Self::TakenAway => "taken away",
            Self::Expired => "expired",
            Self::Removal => "removal",
        })
    }
}
