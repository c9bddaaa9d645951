//! The first start: the server's secrets, the first organisation and its owner; and the demo's key.

use super::error::{IdentityError, KeyError, SignInError};
use super::hash::Hasher;
use super::scope;
use super::{Identity, Secret, credential};
use base::clock::Clock;
use base::id;
use store::keys::Key;
use store::orgs::{self, Org};
use store::secrets::{self, Purpose, ServerSecret};
use store::users::{self, Role, User};
use store::{Store, StoreError};

/// Name of the organisation that the first start makes.
const DEFAULT_ORG: &str = "default";

/// Login of the user that the first start makes.
const FIRST_LOGIN: &str = "owner";

/// Name of the demo's key.
const DEMO_KEY_NAME: &str = "demo";

/// What [`Identity::bootstrap`] found or made.
#[derive(Clone)]
pub struct First {
    /// Id of the organisation `default`.
    pub org: String,
    /// Login of the first user.
    pub login: String,
    /// One-time sign-in code of the first user; none once it has signed in or has a password.
    pub sign_in_code: Option<String>,
}

impl std::fmt::Debug for First {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("First")
            .field("org", &self.org)
            .field("login", &self.login)
            .field("has_code", &self.sign_in_code.is_some())
            .finish()
    }
}

/// What a demo needs to be used.
#[derive(Clone)]
pub struct DemoKey {
    /// Organisation id.
    pub org: String,
    /// The whole key text, meant to be printed.
    pub api_key: String,
}

impl std::fmt::Debug for DemoKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DemoKey")
            .field("org", &self.org)
            .finish_non_exhaustive()
    }
}

impl Identity {
    /// What a server tells its operator at start. Until the first user has signed in or set a
    /// password, each start issues a new one-time code for them. A code that somebody asked for
    /// stays valid beside it.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn bootstrap(&self) -> Result<First, SignInError> {
        let user = self.store.read(|s| users::by_login(s, FIRST_LOGIN)).await?;
        let locked_out = |u: &User| u.password_hash.is_none() && u.signed_in_ms.is_none();
        let code = match user.filter(locked_out) {
            Some(user) => Some(self.new_code(&user.id, true).await?),
            None => None,
        };
        Ok(First {
            org: self.default_org(),
            login: FIRST_LOGIN.to_owned(),
            sign_in_code: code.map(|code| code.expose().to_owned()),
        })
    }

    /// The demo's key, with every scope, in the organisation `default`. It is derived from the
    /// server's own secret, so every start of the same demo shows the same key; a revoked key is
    /// replaced by another.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn ensure_demo(&self) -> Result<DemoKey, KeyError> {
        let owner = self.store.read(|s| users::by_login(s, FIRST_LOGIN)).await?;
        let owner = owner.ok_or(KeyError::NotFound)?;
        let org = self.default_org();
        for round in 0u32.. {
            let (kid, secret) = demo_parts(&self.hasher, round);
            let there = self.index().keys.get(&kid).cloned();
            if there.as_ref().is_some_and(|entry| entry.is_revoked()) {
                continue;
            }
            if there.is_none() {
                let key = Key {
                    kid: kid.clone(),
                    org: org.clone(),
                    owner: owner.id.clone(),
                    name: DEMO_KEY_NAME.to_owned(),
                    scopes: scope::ALL.map(|s| s.as_str().to_owned()).to_vec(),
                    hash: self.hasher.key(&kid, &secret).to_text(),
                    created_at_ms: self.clock.now_ms(),
                    last_used_at_ms: None,
                    expires_at_ms: None,
                    revoked_at_ms: None,
                };
                self.add_key(key).await?;
            }
            let text = Secret::new(format!("{}_{kid}_{secret}", self.prefix));
            return Ok(DemoKey {
                org,
                api_key: text.expose().to_owned(),
            });
        }
        Err(KeyError::NotFound)
    }
}

impl Identity {
    /// Revoke the demo's keys: they were printed for everybody to see, so they must not outlive the
    /// demo on this data.
    ///
    /// # Errors
    /// The storage failed.
    pub async fn end_demo(&self) -> Result<(), KeyError> {
        for round in 0u32.. {
            let (kid, _) = demo_parts(&self.hasher, round);
            let there = self.index().keys.get(&kid).cloned();
            match there {
                None => break,
                Some(entry) if entry.is_revoked() => {}
                Some(_) => self.revoke(&kid).await?,
            }
        }
        Ok(())
    }
}

fn demo_parts(hasher: &Hasher, round: u32) -> (String, String) {
    let part = |label: &str, len: usize| {
        // 64 bytes give 62 characters on average; more are derived as needed.
        let mut text = String::new();
        for block in 0u32.. {
            let bytes = hasher.derive(label, &format!("{round}.{block}"));
            text.extend(id::base62_of(&bytes));
            if text.len() >= len {
                break;
            }
        }
        text.truncate(len);
        text
    };
    (
        part("demo-kid", id::KEY_ID_LEN),
        part("demo-secret", credential::SECRET_LEN),
    )
}

/// The server's secrets, made if there are none.
pub(super) async fn ensure_secrets(
    store: &Store,
    clock: &Clock,
) -> Result<Vec<ServerSecret>, StoreError> {
    let there = store.read(secrets::all).await?;
    let wanted = [Purpose::Hash, Purpose::Sign];
    let missing = |p: &Purpose| !there.iter().any(|s| s.purpose == *p);
    if !wanted.iter().any(missing) {
        return Ok(there);
    }
    let now_ms = clock.now_ms();
    let new = wanted.map(|purpose| new_secret(purpose, now_ms));
    store.secret_ensure(new.to_vec()).await
}

/// 32 random bytes for `purpose`.
pub(super) fn new_secret(purpose: Purpose, now_ms: u64) -> ServerSecret {
    let mut bytes = [0; 32];
    id::fill_random(&mut bytes);
    ServerSecret {
        id: id::base62(id::KEY_ID_LEN),
        purpose,
        bytes,
        created_ms: now_ms,
        retired_ms: None,
    }
}

/// The key that hashes secrets. It cannot be rotated: the secrets themselves are not known.
pub(super) fn hash_key(secrets: &[ServerSecret]) -> Result<&[u8; 32], IdentityError> {
    let key = secrets.iter().find(|s| s.purpose == Purpose::Hash);
    key.map(|s| &s.bytes).ok_or(IdentityError::NoSecret("hash"))
}

/// The organisation `default` with a first user; returns its id.
pub(super) async fn ensure_first(store: &Store, clock: &Clock) -> Result<String, IdentityError> {
    let (org, owner) = store
        .read(|s| {
            let org = orgs::by_name(s, DEFAULT_ORG)?;
            Ok::<_, StoreError>((org, users::by_login(s, FIRST_LOGIN)?))
        })
        .await?;
    let now_ms = clock.now_ms();
    let org = match org {
        Some(org) => org,
        None => {
            let org = Org {
                id: id::ulid(clock),
                name: DEFAULT_ORG.to_owned(),
                created_ms: now_ms,
                trusted_refs: Vec::new(),
            };
            store.org_ensure(org).await?
        }
    };
    if owner.is_none() {
        let owner = User {
            id: id::ulid(clock),
            org: org.id.clone(),
            login: FIRST_LOGIN.to_owned(),
            role: Role::Owner,
            password_hash: None,
            disabled: false,
            epoch: 0,
            created_ms: now_ms,
            signed_in_ms: None,
        };
        store.user_add(owner).await?;
    }
    Ok(org.id)
}
