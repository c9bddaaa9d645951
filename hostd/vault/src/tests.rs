//! Secrets of a store on disk, with its key file, and what is wrong with either.

mod keys;
mod writes;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use base::clock::{Clock, Hand};
use store::Store;
use tempfile::TempDir;

use super::*;

const ORG: &str = "01ARYZ6S410000000000000000";
const OTHER: &str = "01ARYZ6S410000000000000001";
const VALUE: &str = "correct horse battery staple";

struct Safe {
    vault: Arc<Vault>,
    store: Store,
    hand: Hand,
    dir: TempDir,
}

impl Safe {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 4).unwrap();
        let (clock, hand) = Clock::manual(1_000);
        Self {
            vault: Vault::new(dir.path(), store.clone(), clock),
            store,
            hand,
            dir,
        }
    }

    async fn put(&self, org: &str, name: &str, value: &str) -> Result<(Shown, bool), SecretError> {
        self.put_for(org, name, value, None).await
    }

    async fn put_for(
        &self,
        org: &str,
        name: &str,
        value: &str,
        refs: Option<&[&str]>,
    ) -> Result<(Shown, bool), SecretError> {
        let new = NewSecret {
            name: name.to_owned(),
            value: value.to_owned(),
            refs: refs.map(|refs| refs.iter().map(ToString::to_string).collect()),
        };
        self.vault.put(&by(org), new).await
    }

    fn open(&self, org: &str, name: &str, reference: Option<&str>) -> Result<String, Unavailable> {
        let mut values = self.vault.open(org, &BTreeSet::from([name]), reference)?;
        Ok(values.remove(name).unwrap())
    }

    async fn state(&self, org: &str, name: &str) -> State {
        let listed = self.vault.list(org).await.unwrap();
        let found = listed.into_iter().find(|secret| secret.name == name);
        found.unwrap().state
    }

    fn key(&self) -> PathBuf {
        self.dir.path().join(base::folder::SECRETS_KEY)
    }
}

fn by(org: &str) -> Writer {
    Writer {
        org: org.to_owned(),
        user: "ann".to_owned(),
    }
}
