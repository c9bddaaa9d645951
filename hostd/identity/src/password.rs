//! Passwords: Argon2id with the crate's recommended parameters (19 MiB, 2 passes, 1 lane, as OWASP's
//! first choice), on a few threads of its own.
//!
//! A hash costs tens of milliseconds of a core and 19 MiB, and anybody may request one. So only a
//! few are computed at once, in reused memory, by low-priority threads; and only a few wait, the
//! least suspect first.

use std::sync::Arc;

use tokio::sync::oneshot;

mod argon;
mod pool;
mod turns;

use argon::Memory;
use pool::{Job, Pool};
pub(super) use turns::{Rank, Turn};

/// Lengths of a password, in characters.
pub const PASSWORD_CHARS: std::ops::RangeInclusive<usize> = 10..=256;

/// Why a password was neither hashed nor checked.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    #[error("hash a password: too many others wait")]
    Busy,
    #[error("hash a password: {0}")]
    Hash(argon2::password_hash::Error),
    #[error("start a thread that hashes passwords")]
    Thread(#[source] std::io::Error),
    #[error("hash a password: the operation panicked")]
    Panicked,
}

/// Hashes and checks passwords, a few at a time.
pub(super) struct Passwords(Arc<Pool>);

impl Passwords {
    pub(super) fn new() -> Self {
        Self(Pool::new())
    }

    /// A new hash with its own salt, in PHC form. For callers that are already signed in.
    pub(super) async fn hash(&self, password: &str) -> Result<String, PasswordError> {
        let password = password.to_owned();
        let hashed = self.in_turn(Turn::KNOWN, move |memory| memory.hash(&password));
        hashed.await?.map_err(PasswordError::Hash)
    }

    /// Whether `password` has `hash`. Without a hash it takes as long and is false.
    pub(super) async fn check(
        &self,
        turn: Turn,
        password: &str,
        hash: Option<&str>,
    ) -> Result<bool, PasswordError> {
        let (password, hash) = (password.to_owned(), hash.map(str::to_owned));
        let matches = move |memory: &mut Memory| memory.matches(&password, hash.as_deref());
        self.in_turn(turn, matches).await
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        turn: Turn,
        work: impl FnOnce(&mut Memory) -> T + Send + 'static,
    ) -> Result<T, PasswordError> {
        let (reply, answer) = oneshot::channel();
        self.0.enter(turn, Box::new(Asked { work, reply }));
        match tokio::time::timeout(pool::WAIT_MAX, answer).await {
            Ok(Ok(answered)) => answered,
            Ok(Err(_)) => Err(PasswordError::Panicked),
            Err(_) => Err(PasswordError::Busy),
        }
    }
}

impl Drop for Passwords {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A job whose caller waits for the result.
struct Asked<W, T> {
    work: W,
    reply: oneshot::Sender<Result<T, PasswordError>>,
}

impl<T: Send, W: FnOnce(&mut Memory) -> T + Send> Job for Asked<W, T> {
    fn is_given_up(&self) -> bool {
        self.reply.is_closed()
    }

    fn run(self: Box<Self>, memory: &mut Memory) {
        let done = (self.work)(memory);
        // The caller may be gone.
        let _ = self.reply.send(Ok(done));
    }

    fn turn_away(self: Box<Self>, why: PasswordError) {
        let _ = self.reply.send(Err(why));
    }
}

#[cfg(test)]
mod tests;
