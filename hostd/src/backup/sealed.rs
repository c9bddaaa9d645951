//! What a backup holds and nobody reads who has the backup alone.

use serde::{Deserialize, Serialize};

use super::Manifest;

/// What cannot be read without a key that no backup has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// Secrets of organisations.
    #[serde(default)]
    pub secrets: u64,
    /// Webhooks whose messages are signed with sealed keys.
    #[serde(default)]
    pub webhooks: u64,
}

impl Sealed {
    /// What the tables of a backup have of it.
    pub(super) fn of(manifest: &Manifest) -> Self {
        let count = |table| manifest.tables.get(table).copied().unwrap_or_default();
        Self {
            secrets: count(store::org_secrets::TABLE),
            webhooks: count(store::webhooks::TABLE),
        }
    }

    /// All of it in words; none if there is nothing.
    #[must_use]
    pub fn told(self) -> Option<String> {
        let Self { secrets, webhooks } = self;
        match (secrets, webhooks) {
            (0, 0) => None,
            (_, 0) => Some(format!("{secrets} secrets")),
            (0, _) => Some(format!("the keys of {webhooks} webhooks")),
            _ => Some(format!(
                "{secrets} secrets and the keys of {webhooks} webhooks"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_sealed_is_told() {
        let told = |secrets, webhooks| Sealed { secrets, webhooks }.told();
        assert_eq!(told(0, 0), None);
        assert_eq!(told(2, 0).unwrap(), "2 secrets");
        assert_eq!(told(0, 1).unwrap(), "the keys of 1 webhooks");
        assert_eq!(told(1, 2).unwrap(), "1 secrets and the keys of 2 webhooks");
    }

    #[test]
    fn a_server_that_counts_less_is_understood() {
        let told = |text: &str| serde_json::from_str::<Sealed>(text).unwrap();
        assert_eq!(told("{}"), Sealed::default());
        let secrets = Sealed {
            secrets: 3,
            webhooks: 0,
        };
        assert_eq!(told(r#"{"secrets": 3}"#), secrets);
    }
}
