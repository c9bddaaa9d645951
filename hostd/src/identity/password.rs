//! Password hashing: Argon2id with the crate's recommended parameters (19 MiB, 2 passes, 1 lane,
//! as OWASP's first choice), off the async threads and few at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use tokio::sync::Semaphore;

/// Shortest password, in characters.
pub const PASSWORD_CHARS_MIN: usize = 10;

/// Longest password, in bytes.
pub const PASSWORD_BYTES_MAX: usize = 256;

/// Hashes computed at once; each takes 19 MiB and a core.
const AT_ONCE_MAX: usize = 2;

/// Hashes that may wait for their turn.
const WAITING_MAX: usize = 16;

/// Why a password was neither hashed nor checked.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    #[error("hash a password: {WAITING_MAX} others wait")]
    Busy,
    #[error("hash a password: {0}")]
    Hash(argon2::password_hash::Error),
    #[error("hash a password: the operation panicked")]
    Panicked,
}

/// Hashes and checks passwords, a few at a time.
pub(super) struct Passwords {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Passwords {
    pub(super) fn new() -> Self {
        Self {
            places: Arc::new(Semaphore::new(AT_ONCE_MAX)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// A new hash with its own salt, in PHC form.
    pub(super) async fn hash(&self, password: &str) -> Result<String, PasswordError> {
        let password = password.to_owned();
        self.in_turn(move || new_hash(&password)).await?
    }

    /// Whether `password` has `hash`. Without a hash it takes as long and is false.
    pub(super) async fn check(
        &self,
        password: &str,
        hash: Option<&str>,
    ) -> Result<bool, PasswordError> {
        let (password, hash) = (password.to_owned(), hash.map(str::to_owned));
        self.in_turn(move || {
            let matches = matches(&password, hash.as_deref().unwrap_or(nobody()));
            matches && hash.is_some()
        })
        .await
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PasswordError> {
        let _waiting = Waiting::enter(&self.waiting)?;
        let place = self
            .places
            .clone()
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let work = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(place);
            result
        });
        work.await.map_err(|_| PasswordError::Panicked)
    }
}

/// Counts one more while it lives, so that a caller who goes away stops counting.
struct Waiting<'c>(&'c AtomicUsize);

impl<'c> Waiting<'c> {
    fn enter(count: &'c AtomicUsize) -> Result<Self, PasswordError> {
        let waiting = Self(count);
        if count.fetch_add(1, Ordering::Relaxed) >= AT_ONCE_MAX + WAITING_MAX {
            return Err(PasswordError::Busy);
        }
        Ok(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn new_hash(password: &str) -> Result<String, PasswordError> {
    Argon2::default()
        .hash_password(password.as_bytes())
        .map(|hash| hash.to_string())
        .map_err(PasswordError::Hash)
}

fn matches(password: &str, hash: &str) -> bool {
    PasswordHash::new(hash).is_ok_and(|hash| {
        Argon2::default()
            .verify_password(password.as_bytes(), &hash)
            .is_ok()
    })
}

/// A hash of the same cost, for logins that do not exist.
fn nobody() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| new_hash("nobody").unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_matches() {
        let passwords = Passwords::new();
        let hash = passwords.hash("correct horse").await.unwrap();
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{hash}"
        );
        assert_ne!(hash, passwords.hash("correct horse").await.unwrap());
        assert!(passwords.check("correct horse", Some(&hash)).await.unwrap());
        assert!(!passwords.check("correct horsf", Some(&hash)).await.unwrap());
        assert!(
            !passwords
                .check("correct horse", Some("garbage"))
                .await
                .unwrap()
        );
        assert!(!passwords.check("nobody", None).await.unwrap());
    }

    #[tokio::test]
    async fn a_crowd_is_turned_away() {
        let passwords = Passwords::new();
        let everybody = (0..AT_ONCE_MAX + WAITING_MAX + 3).map(|_| passwords.check("x", None));
        let mut busy = 0;
        let mut tasks: Vec<_> = everybody.map(Box::pin).collect();
        std::future::poll_fn(|cx| {
            tasks.retain_mut(|task| match task.as_mut().poll(cx) {
                std::task::Poll::Ready(result) => {
                    busy += usize::from(matches!(result, Err(PasswordError::Busy)));
                    false
                }
                std::task::Poll::Pending => true,
            });
            match tasks.is_empty() {
                true => std::task::Poll::Ready(()),
                false => std::task::Poll::Pending,
            }
        })
        .await;
        assert_eq!(busy, 3);
    }
}
