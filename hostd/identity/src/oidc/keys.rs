//! The provider's public keys (RFC 7517), from a URL or a file. Kept for an hour, and fetched again
//! before that only for an unknown key, at most once a minute, so that made-up tokens do not cause
//! requests.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use jsonwebtoken::DecodingKey;
use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, JwkSet, KeyAlgorithm};
use tokio::time::Instant;
use tracing::{info, warn};

use super::OidcError;

/// After this a known key is fetched again.
const FRESH: Duration = Duration::from_secs(3600);

/// Keys this old are not trusted, even if the provider cannot be reached.
const STALE: Duration = Duration::from_secs(24 * 3600);

/// Least time between two fetches.
const RETRY: Duration = Duration::from_secs(60);

/// Timeout of one fetch.
const FETCH_WAIT: Duration = Duration::from_secs(5);

/// Size of a key set, in bytes.
const SET_BYTES_MAX: u64 = 256 << 10;

/// Keys of one set.
const KEYS_MAX: usize = 64;

/// Characters of a modulus in base 64: 2048 bits.
const MODULUS_CHARS_MIN: usize = 342;

#[derive(Debug, Clone)]
enum Source {
    Url(String),
    File(PathBuf),
}

/// Why the keys could not be read.
#[derive(Debug, thiserror::Error)]
enum FetchError {
    #[error("ask the provider")]
    Http(#[from] ureq::Error),
    #[error("read the file")]
    File(#[from] std::io::Error),
    #[error("parse the key set")]
    Parse(#[from] serde_json::Error),
    #[error("the key set is over {SET_BYTES_MAX} bytes")]
    TooLarge,
    #[error("the reading task panicked")]
    Panicked,
}

/// Keys by their ids.
pub(super) struct Keys {
    source: Source,
    state: tokio::sync::Mutex<State>,
}

#[derive(Default)]
struct State {
    keys: HashMap<String, DecodingKey>,
    read_at: Option<Instant>,
    tried_at: Option<Instant>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

impl Keys {
    pub(super) fn new(source: &str) -> Self {
        let is_url = ["https://", "http://"]
            .iter()
            .any(|s| source.starts_with(s));
        Self {
            source: if is_url {
                Source::Url(source.to_owned())
            } else {
                Source::File(source.into())
            },
            state: tokio::sync::Mutex::default(),
        }
    }

    /// The key with this id.
    pub(super) async fn find(&self, kid: &str) -> Result<DecodingKey, OidcError> {
        // Held during a request to the provider, so that only one is made.
        let mut state = self.state.lock().await;
        let younger = |at: Option<Instant>, than| at.is_some_and(|at| at.elapsed() < than);
        let known = younger(state.read_at, FRESH) && state.keys.contains_key(kid);
        if !known && !younger(state.tried_at, RETRY) {
            state.tried_at = Some(Instant::now());
            match self.read().await {
                Ok(keys) => {
                    info!(keys = keys.len(), "read the identity provider's keys");
                    state.keys = keys;
                    state.read_at = Some(Instant::now());
                }
                Err(error) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    warn!(%error, cause, "failed to read the identity provider's keys");
                }
            }
        }
        if !younger(state.read_at, STALE) {
            return Err(OidcError::NoKeys);
        }
        state.keys.get(kid).cloned().ok_or(OidcError::Invalid)
    }

    async fn read(&self) -> Result<HashMap<String, DecodingKey>, FetchError> {
        let source = self.source.clone();
        let read = tokio::task::spawn_blocking(move || match source {
            Source::Url(url) => fetch(&url),
            Source::File(path) => {
                if std::fs::metadata(&path)?.len() > SET_BYTES_MAX {
                    return Err(FetchError::TooLarge);
                }
                Ok(std::fs::read_to_string(path)?)
            }
        });
        parse(&read.await.map_err(|_| FetchError::Panicked)??)
    }
}

fn fetch(url: &str) -> Result<String, FetchError> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(FETCH_WAIT))
        .max_redirects(0)
        .https_only(url.starts_with("https://"))
        .build()
        .into();
    let mut answer = agent.get(url).call()?;
    let body = answer.body_mut().with_config().limit(SET_BYTES_MAX);
    Ok(body.read_to_string()?)
}

/// The set's RSA signature keys. Others, and keys weak enough to break, are skipped.
fn parse(text: &str) -> Result<HashMap<String, DecodingKey>, FetchError> {
    let set: JwkSet = serde_json::from_str(text)?;
    let usable = set.keys.iter().take(KEYS_MAX).filter_map(usable);
    Ok(usable.collect())
}

fn usable(key: &Jwk) -> Option<(String, DecodingKey)> {
    let AlgorithmParameters::RSA(rsa) = &key.algorithm else {
        return None;
    };
    let algorithm = key.common.key_algorithm;
    let fits = algorithm.is_none_or(|a| a == KeyAlgorithm::RS256);
    if !fits || rsa.n.len() < MODULUS_CHARS_MIN {
        return None;
    }
    let decoding = DecodingKey::from_rsa_components(&rsa.n, &rsa.e).ok()?;
    Some((key.common.key_id.clone()?, decoding))
}
