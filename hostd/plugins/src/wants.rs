//! What a plugin asks for. Asking gives nothing: an operator grants.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::allow::Pattern;
use crate::cron::Cron;
use crate::interface::Interface;

/// A timer that a plugin wants to be called by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Timer {
    /// Its name within the plugin.
    pub id: String,
    /// When it is due.
    pub cron: Cron,
}

/// All that a plugin asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wants {
    /// Interfaces of the host, without those that everyone has. Who asks for addresses or secrets asks for the interface.
    pub interfaces: BTreeSet<Interface>,
    /// Scopes that its calls may use.
    pub scopes: BTreeSet<String>,
    /// Where it sends requests.
    pub http: BTreeSet<Pattern>,
    /// Kinds of events that it is told of.
    pub events: BTreeSet<String>,
    /// When it is called.
    pub timers: BTreeSet<Timer>,
    /// Names of secrets that it reads.
    pub secrets: BTreeSet<String>,
    /// Whether it answers callers without a credential.
    pub public: bool,
    /// Room for keys of its own; 0 if it wants none.
    pub store_mib: u32,
}

impl Wants {
    /// What tells these wants from others: hexadecimal SHA-256. A grant says what it was given for.
    #[must_use]
    pub fn digest(&self) -> String {
        let text = serde_json::to_vec(self).expect("names and numbers are JSON");
        hex::encode(Sha256::digest(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_what_is_wanted() {
        let mut wants = Wants::default();
        let none = wants.digest();
        wants.scopes.extend(["b".to_owned(), "a".to_owned()]);
        let mut same = Wants::default();
        same.scopes.extend(["a".to_owned(), "b".to_owned()]);
        assert_eq!(wants.digest(), same.digest());
        assert_ne!(wants.digest(), none);
        same.public = true;
        assert_ne!(wants.digest(), same.digest());
        let text = serde_json::to_string(&same).unwrap();
        assert_eq!(serde_json::from_str::<Wants>(&text).unwrap(), same);
    }
}
