//! Words that must not be seen and that come up only while a run goes on, such as the tokens that its programs are given.
//!
//! Whoever makes such a word sets it here before anybody is told it: nothing that was written earlier can have it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most words of a run at once.
pub const WORDS_MAX: usize = 64;

/// Longest word: a session token has some hundred bytes.
pub const WORD_BYTES_MAX: usize = 1 << 10;

/// The words of a run. Clones share them.
#[derive(Clone, Default)]
pub struct Words(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Goes up with each change.
    version: AtomicU64,
    all: Mutex<Vec<Vec<u8>>>,
}

/// How many there are, and none of them.
impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Words({})", self.0.lock().len())
    }
}

impl Words {
    /// These are the words from now on. False: they are too many, or one is too short to be told from innocent text or
    /// too long; then the words stay as they are, and nobody may be told the new ones.
    #[must_use]
    pub fn set<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> bool {
        let words: Vec<Vec<u8>> = words.into_iter().map(|word| word.into()).collect();
        let lengths = super::SECRET_BYTES_MIN..=WORD_BYTES_MAX;
        if words.len() > WORDS_MAX || !words.iter().all(|word| lengths.contains(&word.len())) {
            return false;
        }
        let mut all = self.0.lock();
        *all = words;
        self.0.version.fetch_add(1, Ordering::Release);
        true
    }

    /// Tells whether the words are still those of an earlier [`Words::now`].
    pub(super) fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    /// The words, and their version.
    pub(super) fn now(&self) -> (u64, Vec<Vec<u8>>) {
        let all = self.0.lock();
        (self.version(), all.clone())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
