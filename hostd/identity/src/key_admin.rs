//! Making, listing, changing and revoking API keys.

use std::collections::BTreeSet;

use tracing::info;

use super::error::KeyError;
use super::scope::{self, Scope};
use super::{Identity, Secret, Verified, credential};
use crate::verified::Credential;
use base::id;
use store::keys::Key;
use store::users::Role;

/// Longest name of a key, in characters.
const NAME_CHARS_MAX: usize = 100;

/// Keys that one user may have.
const KEYS_PER_USER_MAX: usize = 100;

/// Shortest and longest lifetime of a key, in seconds: a minute to ten years.
const TTL_S: std::ops::RangeInclusive<u64> = 60..=10 * 365 * 24 * 3600;

/// A key with its text, which exists nowhere else.
#[derive(Debug, Clone)]
pub struct CreatedKey {
    pub key: Key,
    /// `<prefix>_<kid>_<secret>`
    pub secret: Secret,
}

/// Whose keys a caller may see and change.
enum Reach {
    Own,
    Organisation,
}

impl Identity {
    /// Keys that the caller may see, oldest first, without revoked ones.
    ///
    /// # Errors
    /// The credential may not manage keys.
    pub async fn keys_list(&self, caller: &Verified) -> Result<Vec<Key>, KeyError> {
        let reach = reach(caller)?;
        let index = self.index();
        let mut found: Vec<Key> = index
            .keys
            .values()
            .filter(|entry| !entry.is_revoked() && sees(caller, &reach, &entry.record))
            .map(|entry| entry.shown())
            .collect();
        found.sort_by(|a, b| (a.created_at_ms, &a.kid).cmp(&(b.created_at_ms, &b.kid)));
        Ok(found)
    }

    /// Make a key for the caller. `ttl_s` none = it does not expire. A key cannot make a key that
    /// can do more, or lives longer, than itself.
    ///
    /// # Errors
    /// The credential may not manage keys, a value is out of bounds, or the storage failed.
    pub async fn key_create(
        &self,
        caller: &Verified,
        name: &str,
        scopes: &[String],
        ttl_s: Option<u64>,
    ) -> Result<CreatedKey, KeyError> {
        reach(caller)?;
        let scopes = check_scopes(scopes, caller.is_admin())?;
        within_own(caller, &scopes)?;
        let until_ms = self.key_expiry(caller);
        self.new_key((caller.org(), caller.user()), name, scopes, ttl_s, until_ms)
            .await
    }

    /// Make a key for any user; for the command line. The owner's role bounds the scopes.
    pub async fn key_create_for(
        &self,
        owner: &store::users::User,
        name: &str,
        scopes: &[String],
        ttl_s: Option<u64>,
    ) -> Result<CreatedKey, KeyError> {
        let scopes = check_scopes(scopes, owner.role >= Role::Admin)?;
        self.new_key((&owner.org, &owner.id), name, scopes, ttl_s, None)
            .await
    }

    /// Change name or scopes of a key; none leaves it.
    ///
    /// # Errors
    /// The key does not exist for the caller, a value is out of bounds, or the storage failed.
    pub async fn key_update(
        &self,
        caller: &Verified,
        kid: &str,
        name: Option<String>,
        scopes: Option<Vec<String>>,
    ) -> Result<Key, KeyError> {
        self.find(caller, kid)?;
        let name = name.map(|name| check_name(&name)).transpose()?;
        let scopes = scopes
            .map(|scopes| check_scopes(&scopes, caller.is_admin()))
            .transpose()?;
        if let Some(scopes) = &scopes {
            within_own(caller, scopes)?;
        }
        let (store, id) = (self.store.clone(), kid.to_owned());
        let write = async move { store.key_update(&id, name, scopes.map(texts)).await };
        self.change(write, |index, key| index.put_key(key.clone()))
            .await?;
        self.find(caller, kid)
    }

    /// Revoke a key for good, with every session token that was minted from it.
    ///
    /// # Errors
    /// The key does not exist for the caller, or the storage failed.
    pub async fn key_revoke(&self, caller: &Verified, kid: &str) -> Result<(), KeyError> {
        self.find(caller, kid)?;
        self.revoke(kid).await
    }

    /// Revoke anybody's key; for the command line.
    pub async fn revoke(&self, kid: &str) -> Result<(), KeyError> {
        let (store, id, now_ms) = (self.store.clone(), kid.to_owned(), self.clock.now_ms());
        let write = async move { store.key_revoke(&id, now_ms).await };
        self.change(write, |index, key| index.put_key(key.clone()))
            .await?;
        info!(kid, "key revoked");
        Ok(())
    }

    /// All keys of all organisations that are not revoked, oldest first; for the command line.
    pub fn all_keys(&self) -> Vec<Key> {
        let index = self.index();
        let live = index.keys.values().filter(|entry| !entry.is_revoked());
        let mut keys: Vec<Key> = live.map(|entry| entry.shown()).collect();
        keys.sort_by(|a, b| (a.created_at_ms, &a.kid).cmp(&(b.created_at_ms, &b.kid)));
        keys
    }

    async fn new_key(
        &self,
        (org, owner): (&str, &str),
        name: &str,
        scopes: Vec<Scope>,
        ttl_s: Option<u64>,
        until_ms: Option<u64>,
    ) -> Result<CreatedKey, KeyError> {
        let name = check_name(name)?;
        if let Some(ttl_s) = ttl_s
            && !TTL_S.contains(&ttl_s)
        {
            let message = format!("must be {} to {} seconds", TTL_S.start(), TTL_S.end());
            return Err(invalid("ttl_seconds", message));
        }
        let is_own = |key: &Key| key.owner == owner && key.revoked_at_ms.is_none();
        let own = self
            .index()
            .keys
            .values()
            .filter(|e| is_own(&e.record))
            .count();
        if own >= KEYS_PER_USER_MAX {
            let message = format!(
                "you have {KEYS_PER_USER_MAX} keys, the most there can be; revoke one first"
            );
            return Err(invalid("name", message));
        }
        let kid = self.new_kid();
        let secret = id::base62(credential::SECRET_LEN);
        let now_ms = self.clock.now_ms();
        let key = Key {
            org: org.to_owned(),
            owner: owner.to_owned(),
            name,
            scopes: texts(scopes),
            hash: self.hasher.key(&kid, &secret).to_text(),
            created_at_ms: now_ms,
            last_used_at_ms: None,
            expires_at_ms: [ttl_s.map(|ttl_s| now_ms + ttl_s * 1000), until_ms]
                .into_iter()
                .flatten()
                .min(),
            revoked_at_ms: None,
            kid,
        };
        let secret = Secret::new(format!("{}_{}_{secret}", self.prefix, key.kid));
        self.add_key(key.clone()).await?;
        info!(kid = key.kid, owner, "key created");
        Ok(CreatedKey { key, secret })
    }

    pub(super) async fn add_key(&self, key: Key) -> Result<(), KeyError> {
        let (store, new) = (self.store.clone(), key.clone());
        let write = async move { store.key_add(new).await };
        let added = self.change(write, |index, ()| index.put_key(key)).await;
        Ok(added?)
    }

    /// A key id that no current or recent key has.
    pub(super) fn new_kid(&self) -> String {
        let index = self.index();
        loop {
            let kid = id::base62(id::KEY_ID_LEN);
            if !index.keys.contains_key(&kid) && !index.jobs.contains_key(&kid) {
                return kid;
            }
        }
    }

    /// A live key that the caller may see.
    fn find(&self, caller: &Verified, kid: &str) -> Result<Key, KeyError> {
        let reach = reach(caller)?;
        let entry = self.index().keys.get(kid).cloned();
        entry
            .filter(|entry| !entry.is_revoked() && sees(caller, &reach, &entry.record))
            .map(|entry| entry.shown())
            .ok_or(KeyError::NotFound)
    }
}

fn reach(caller: &Verified) -> Result<Reach, KeyError> {
    if caller.credential() == Credential::CloudSession {
        return Err(KeyError::Forbidden("a cloud session token cannot manage keys; sign in, or use a key with the scope bench:admin".to_owned()));
    }
    if caller.is_admin() {
        return Ok(Reach::Organisation);
    }
    if caller.credential() == Credential::UserSession {
        return Ok(Reach::Own);
    }
    Err(KeyError::Forbidden(
        "this key cannot manage keys; sign in, or use a key with the scope bench:admin".to_owned(),
    ))
}

/// A key passes on only scopes that it has itself.
fn within_own(caller: &Verified, scopes: &[Scope]) -> Result<(), KeyError> {
    if caller.credential() == Credential::UserSession {
        return Ok(());
    }
    let Some(lacking) = scopes.iter().find(|scope| !caller.has(**scope)) else {
        return Ok(());
    };
    Err(KeyError::Forbidden(format!(
        "this key lacks the scope {} itself and cannot give it to a key; sign in to do so",
        lacking.as_str()
    )))
}

fn sees(caller: &Verified, reach: &Reach, key: &Key) -> bool {
    key.org == caller.org()
        && match reach {
            Reach::Organisation => true,
            Reach::Own => key.owner == caller.user(),
        }
}

fn check_name(name: &str) -> Result<String, KeyError> {
    let name = name.trim();
    let chars = name.chars().count();
    if !(1..=NAME_CHARS_MAX).contains(&chars) || name.chars().any(char::is_control) {
        let message =
            format!("must be 1 to {NAME_CHARS_MAX} characters without control characters");
        return Err(invalid("name", message));
    }
    Ok(name.to_owned())
}

fn check_scopes(names: &[String], is_admin: bool) -> Result<Vec<Scope>, KeyError> {
    let mut scopes = BTreeSet::new();
    for name in names {
        let Some(scope) = Scope::parse(name) else {
            let message = format!("must each be one of {}", scope::names());
            return Err(invalid("scopes", message));
        };
        scopes.insert(scope);
    }
    if scopes.is_empty() {
        let message = format!("must be at least one of {}", scope::names());
        return Err(invalid("scopes", message));
    }
    if scopes.contains(&Scope::BenchAdmin) && !is_admin {
        return Err(KeyError::Forbidden(
            "only an admin or owner can give a key the scope bench:admin".to_owned(),
        ));
    }
    Ok(scopes.into_iter().collect())
}

fn texts(scopes: Vec<Scope>) -> Vec<String> {
    scopes.into_iter().map(|s| s.as_str().to_owned()).collect()
}

fn invalid(field: &'static str, message: String) -> KeyError {
    KeyError::Invalid { field, message }
}
