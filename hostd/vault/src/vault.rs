//! The secrets of all organisations, as the rest of the server uses them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use base::clock::Clock;
use store::org_secrets::{self, OrgSecret, OrgSecretError};
use store::webhooks::{self, SigningKey};
use store::{Store, StoreError};
use tokio::sync::Mutex;
use tracing::{info, warn};

use crate::error::{KeyError, SealError, SecretError, Unavailable};
use crate::key::{Key, KeyFile};
use crate::limits::{self, COUNT_MAX};
use crate::seal::{self, Subject};
use crate::shown::{Shown, State};

/// Names that the log lists when secrets cannot be read.
pub(crate) const NAMED_MAX: usize = 20;

/// Who writes a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    /// Organisation id.
    pub org: String,
    /// User id.
    pub user: String,
}

/// A secret to write.
pub struct NewSecret {
    /// As jobs name it.
    pub name: String,
    /// What it is.
    pub value: String,
    /// Patterns of the branches and tags whose jobs may have it, none of them = all. Left out: those that it has.
    pub refs: Option<Vec<String>>,
}

/// Why a job may not name a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The organisation has none of the name.
    Unknown,
    /// It is not for the job's branch or tag.
    Refused,
}

/// The secrets of all organisations.
#[derive(Debug)]
pub struct Vault {
    pub(crate) store: Store,
    clock: Clock,
    pub(crate) file: KeyFile,
    /// Held while something is sealed, so that one key is made.
    pub(crate) writing: Mutex<()>,
}

/// What becomes of a key file that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// One is made if nothing was sealed yet.
    MadeAtFirstNeed,
    /// One is made if no secret was sealed yet.
    MadeWithoutSecrets,
}

impl Vault {
    /// Those of the data folder `data` and its store.
    #[must_use]
    pub fn new(data: &Path, store: Store, clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            store,
            clock,
            file: KeyFile::new(data),
            writing: Mutex::new(()),
        })
    }

    /// The secrets of an organisation, by name.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn list(&self, org: &str) -> Result<Vec<Shown>, StoreError> {
        let (org, file) = (org.to_owned(), self.file.clone());
        self.store
            .read(move |s| {
                let found = org_secrets::of_org(s, &org)?;
                let key = file.read();
                let shown = found.into_iter().map(|secret| {
                    let state = state(&key, &secret);
                    Shown::of(secret, state)
                });
                Ok(shown.collect())
            })
            .await
    }

    /// Writes a secret, new or in place of the one that has its name. Whether it is new.
    ///
    /// # Errors
    /// Something is out of bounds, there are too many, the key cannot be used, or the storage failed.
    pub async fn put(&self, by: &Writer, new: NewSecret) -> Result<(Shown, bool), SecretError> {
        limits::check_name(&new.name)?;
        limits::check_value(&new.value)?;
        limits::check_refs(new.refs.as_deref().unwrap_or_default())?;
        let _one = self.writing.lock().await;
        let key = self.key(Missing::MadeAtFirstNeed).await?;
        let now_ms = self.clock.now_ms();
        let secret = OrgSecret {
            sealed: seal::seal(
                &key,
                Subject::Secret(&by.org, &new.name),
                new.value.as_bytes(),
            ),
            key: key.fingerprint(),
            org: by.org.clone(),
            name: new.name,
            refs: Vec::new(),
            created_by: by.user.clone(),
            created_ms: now_ms,
            updated_by: by.user.clone(),
            updated_ms: now_ms,
        };
        let written = self.store.org_secret_put(secret, new.refs, COUNT_MAX).await;
        let (secret, is_new) = written.map_err(|error| match error {
            OrgSecretError::Full(count) => SecretError::Full(count),
            OrgSecretError::Store(error) => error.into(),
        })?;
        info!(
            org = by.org,
            user = by.user,
            name = secret.name,
            is_new,
            "secret written"
        );
        Ok((Shown::of(secret, State::Ready), is_new))
    }

    /// Deletes a secret for good.
    ///
    /// # Errors
    /// There is none of the name, or the storage failed.
    pub async fn remove(&self, by: &Writer, name: &str) -> Result<(), SecretError> {
        if !self.store.org_secret_remove(&by.org, name).await? {
            return Err(SecretError::NotFound);
        }
        info!(org = by.org, user = by.user, name, "secret removed");
        Ok(())
    }

    /// Those of `names` that a job of this branch or tag may not have, each with the reason. Blocks on the disk.
    ///
    /// # Errors
    /// The storage failed.
    pub fn refused(
        &self,
        org: &str,
        names: &BTreeSet<&str>,
        reference: Option<&str>,
    ) -> Result<BTreeMap<String, Refusal>, StoreError> {
        let snapshot = self.store.snapshot()?;
        let mut refused = BTreeMap::new();
        for name in names {
            let refusal = match org_secrets::by_name(&snapshot, org, name)? {
                None => Refusal::Unknown,
                Some(secret) if !limits::admits(&secret.refs, reference) => Refusal::Refused,
                Some(_) => continue,
            };
            refused.insert((*name).to_owned(), refusal);
        }
        Ok(refused)
    }

    /// The values of the secrets `names`, for a job of this branch or tag. Blocks on the disk.
    ///
    /// # Errors
    /// One of them cannot be had.
    pub fn open(
        &self,
        org: &str,
        names: &BTreeSet<&str>,
        reference: Option<&str>,
    ) -> Result<BTreeMap<String, String>, Unavailable> {
        let Some(first) = names.first() else {
            return Ok(BTreeMap::new());
        };
        let own = |name: &str| name.to_owned();
        let failed = |name: &str| {
            let name = own(name);
            move |error| Unavailable::Store(name, error)
        };
        let snapshot = self.store.snapshot().map_err(failed(first))?;
        let mut secrets = Vec::new();
        for name in names {
            let found = org_secrets::by_name(&snapshot, org, name).map_err(failed(name))?;
            let secret = found.ok_or_else(|| Unavailable::Gone(own(name)))?;
            if !limits::admits(&secret.refs, reference) {
                return Err(Unavailable::Refused(own(name)));
            }
            secrets.push(secret);
        }
        let key = self
            .file
            .read()
            .and_then(|key| key.ok_or(KeyError::Missing));
        let key = key.map_err(|error| Unavailable::Key(own(first), error))?;
        let fingerprint = key.fingerprint();
        let value = |secret: OrgSecret| {
            if secret.key != fingerprint {
                let OrgSecret { name, key, .. } = secret;
                return Err(Unavailable::OtherKey(name, key, fingerprint.clone()));
            }
            match opened(&key, &secret) {
                Some(value) => Ok((secret.name, value)),
                None => Err(Unavailable::Damaged(secret.name)),
            }
        };
        secrets.into_iter().map(value).collect()
    }

    /// Warns of secrets and keys of webhooks that cannot be read, as after a restore without the key file.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn warn_of_unreadable(&self) -> Result<(), StoreError> {
        let file = self.file.clone();
        let (key, all) = self
            .store
            .read(move |s| Ok::<_, StoreError>((file.read(), org_secrets::all(s)?)))
            .await?;
        let unreadable: Vec<&OrgSecret> = all
            .iter()
            .filter(|secret| state(&key, secret) != State::Ready)
            .collect();
        if unreadable.is_empty() {
            return self.warn_of_lost_webhook_keys().await;
        }
        let named: Vec<&str> = unreadable
            .iter()
            .map(|s| &*s.name)
            .take(NAMED_MAX)
            .collect();
        let (count, names) = (unreadable.len(), named.join(" "));
        let why = match key {
            Ok(Some(_)) => "they are sealed under another key, or damaged".to_owned(),
            Ok(None) => format!("failed to {}", KeyError::Missing),
            Err(error) => format!("failed to {error}"),
        };
        warn!(
            count,
            names, why, "secrets cannot be read; jobs that use them will fail"
        );
        self.warn_of_lost_webhook_keys().await
    }

    /// The key, made if it is `missing` and there was no need of one. `writing` is held.
    pub(crate) async fn key(&self, missing: Missing) -> Result<Key, SealError> {
        let file = self.file.clone();
        self.store
            .read(move |s| {
                if let Some(key) = file.read()? {
                    return Ok(key);
                }
                let is_sealed =
                    |webhook: &webhooks::Webhook| matches!(webhook.key, SigningKey::Sealed { .. });
                let is_needed = !org_secrets::all(s)?.is_empty()
                    || (missing == Missing::MadeAtFirstNeed
                        && webhooks::all(s)?.iter().any(is_sealed));
                if is_needed {
                    return Err(KeyError::Missing.into());
                }
                Ok(file.make()?)
            })
            .await
    }
}

fn state(key: &Result<Option<Key>, KeyError>, secret: &OrgSecret) -> State {
    let Ok(Some(key)) = key else {
        return State::NoKey;
    };
    if key.fingerprint() != secret.key {
        return State::OtherKey;
    }
    match opened(key, secret) {
        Some(_) => State::Ready,
        None => State::Damaged,
    }
}

/// The value of a secret; none if its record is damaged.
fn opened(key: &Key, secret: &OrgSecret) -> Option<String> {
    let subject = Subject::Secret(&secret.org, &secret.name);
    String::from_utf8(seal::open(key, subject, &secret.sealed)?).ok()
}
