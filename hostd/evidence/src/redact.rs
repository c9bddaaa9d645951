//! Redacts secrets from a stream, even when one arrives in several reads or in pieces between escape sequences of a
//! terminal: as they are, each of their lines, and as other ways to write bytes have them.
//!
//! ```text
//! bytes ─┬───────────────────────────────────────────────────────────► search
//!        └─ without escape sequences ─┬──────────────────────────────► search
//!                                     ├─ URL, form, backslashes, … ──► search      what is found: ranges of the bytes
//!                                     └─ hexadecimal, base 64 ───────► search
//! ```
//!
//! Bytes that could be the beginning of a secret, and only these, are held back until more bytes
//! arrive or the stream ends.

mod automaton;
mod digits;
mod escapes;
mod hits;
mod masks;
mod reading;
#[cfg(test)]
mod tests;
mod view;
mod words;

use std::sync::{Arc, PoisonError, RwLock};

use thiserror::Error;

use automaton::Automaton;
use hits::Hits;
use reading::Reading;

pub use masks::{Commands, MASKS_MAX, Masks, NotMasked};
pub use words::{WORD_BYTES_MAX, WORDS_MAX, Words};

/// Replaces a secret.
pub const MARK: &[u8] = b"[secret]";

/// Shortest secret: a shorter one would be found in innocent text, and could be guessed from the
/// places where it is missing.
pub const SECRET_BYTES_MIN: usize = 8;

/// Longest secret.
pub const SECRET_BYTES_MAX: usize = 64 << 10;

/// Most secrets of a run.
pub const SECRETS_MAX: usize = 64;

/// Most bytes that the secrets of a run have together: each byte takes some fifty of memory, as it is and in its line.
pub(crate) const SECRETS_BYTES_MAX: usize = 96 << 10;

/// Most bytes that are held back because they could become a secret: the longest one, each byte of it written as ten.
const HELD_BYTES_MAX: usize = 1 << 20;

/// Why a secret cannot be kept out of a log.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unfit {
    /// It is too short.
    #[error("keep the secret {0} out of logs: it is shorter than {SECRET_BYTES_MIN} bytes")]
    Short(String),
    /// It is too long.
    #[error("keep the secret {0} out of logs: it is longer than {SECRET_BYTES_MAX} bytes")]
    Long(String),
    /// There are too many.
    #[error("keep {0} secrets out of logs: at most {SECRETS_MAX} are possible")]
    Many(usize),
    /// They are too long together.
    #[error(
        "keep the secrets of a run out of logs: they have {0} bytes together, more than {SECRETS_BYTES_MAX}"
    )]
    Bytes(usize),
}

/// What must not be seen. Clones share it.
#[derive(Clone)]
pub struct Secrets(Arc<Shared>);

struct Shared {
    /// Known from the beginning.
    values: Vec<Vec<u8>>,
    /// Come up later.
    words: Words,
    /// What the job's own programs have asked for.
    masks: Masks,
    /// What to search for, as of a version of words and masks.
    search: RwLock<(Version, Option<Arc<Automaton>>)>,
}

/// Of the words, and how many masks there are.
type Version = (u64, usize);

/// A stream from which secrets are redacted.
#[derive(Debug)]
pub struct Redactor {
    secrets: Secrets,
    /// What is searched for.
    search: Option<Arc<Automaton>>,
    reading: Reading,
    /// Bytes that could be the beginning of a secret, and where they begin.
    held: Vec<u8>,
    from: u64,
    /// What belongs to secrets.
    hits: Hits,
    /// Up to here, a secret was redacted already.
    covered: u64,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.0.values.len())
    }
}

impl Secrets {
    /// The secrets of a run, each with its name.
    ///
    /// # Errors
    /// One is too short or too long, or they are too many or too long together.
    pub fn new<'s>(secrets: impl IntoIterator<Item = (&'s str, &'s [u8])>) -> Result<Self, Unfit> {
        let (mut values, mut bytes) = (Vec::new(), 0);
        for (name, value) in secrets {
            if value.len() < SECRET_BYTES_MIN {
                return Err(Unfit::Short(name.to_owned()));
            }
            if value.len() > SECRET_BYTES_MAX {
                return Err(Unfit::Long(name.to_owned()));
            }
            bytes += value.len();
            values.push(value.to_vec());
        }
        let count = values.len();
        if count > SECRETS_MAX {
            return Err(Unfit::Many(count));
        }
        if bytes > SECRETS_BYTES_MAX {
            return Err(Unfit::Bytes(bytes));
        }
        Ok(Self::of(values, Words::default(), Masks::default()))
    }

    /// These, the words that come up, and what programs have asked for and will.
    #[must_use]
    pub fn and(self, words: Words, masks: Masks) -> Self {
        Self::of(self.0.values.clone(), words, masks)
    }

    fn of(values: Vec<Vec<u8>>, words: Words, masks: Masks) -> Self {
        let (version, later) = words.now();
        let asked = masks.now();
        let search = automaton_of(values.iter().chain(&later).chain(&asked));
        Self(Arc::new(Shared {
            values,
            words,
            masks,
            search: RwLock::new(((version, asked.len()), search)),
        }))
    }

    /// What programs have asked for. It goes on growing.
    #[must_use]
    pub fn masks(&self) -> &Masks {
        &self.0.masks
    }

    /// What to search for now; none if there is nothing.
    fn search(&self) -> Option<Arc<Automaton>> {
        let shared = &*self.0;
        let search = shared.search.read().unwrap_or_else(PoisonError::into_inner);
        if search.0 == shared.version() {
            return search.1.clone();
        }
        drop(search);
        let search = shared.search.write();
        let mut search = search.unwrap_or_else(PoisonError::into_inner);
        if search.0 != shared.version() {
            let (version, later) = shared.words.now();
            let masks = shared.masks.now();
            let all = shared.values.iter().chain(&later).chain(&masks);
            *search = ((version, masks.len()), automaton_of(all));
        }
        search.1.clone()
    }

    /// A new stream from which these secrets are redacted.
    #[must_use]
    pub fn redactor(&self) -> Redactor {
        Redactor {
            secrets: self.clone(),
            search: self.search(),
            reading: Reading::from(0),
            held: Vec::new(),
            from: 0,
            hits: Hits::default(),
            covered: 0,
        }
    }

    /// `bytes` without these secrets.
    #[must_use]
    pub fn redacted(&self, bytes: &[u8]) -> Vec<u8> {
        let mut redactor = self.redactor();
        let mut out = Vec::with_capacity(bytes.len());
        redactor.push(bytes, &mut out);
        redactor.finish(&mut out);
        out
    }

    /// Takes these secrets out of `text`.
    pub fn redact(&self, text: &mut String) {
        if self.search().is_some() {
            *text = String::from_utf8_lossy(&self.redacted(text.as_bytes())).into_owned();
        }
    }

    /// Takes these secrets out of the beginning of a text whose rest was cut off, and what could be the beginning of one
    /// out of its end.
    pub fn redact_cut(&self, text: &mut String) {
        if self.search().is_some() {
            let mut out = Vec::with_capacity(text.len());
            self.redactor().push(text.as_bytes(), &mut out);
            *text = String::from_utf8_lossy(&out).into_owned();
        }
    }
}

impl Shared {
    fn version(&self) -> Version {
        (self.words.version(), self.masks.count())
    }
}

impl Redactor {
    /// Takes the bytes of a read, and appends to `out` the bytes that may be seen.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.renew();
        let Some(search) = self.search.clone() else {
            self.show(self.from + self.held.len() as u64, out);
            out.extend_from_slice(bytes);
            self.from += bytes.len() as u64;
            return;
        };
        self.reading.feed(bytes, &search, &mut self.hits);
        self.held.extend_from_slice(bytes);
        let end = self.from + self.held.len() as u64;
        let open = self.reading.open_from(&search);
        // What was shown could still become one, of which the rest is redacted then.
        let open = open.clamp(end.saturating_sub(HELD_BYTES_MAX as u64), end);
        self.show(open.max(self.from), out);
    }

    /// The stream ends, or pauses for so long that the bytes held back should be seen: they can no
    /// longer become a secret.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.renew();
        if let Some(search) = self.search.clone() {
            self.reading.finish(&search, &mut self.hits);
        }
        let end = self.from + self.held.len() as u64;
        self.show(end, out);
        self.reading = Reading::from(end);
        self.hits.clear();
        self.covered = end;
    }

    /// Searches in what is held back for what has come up since.
    fn renew(&mut self) {
        let search = self.secrets.search();
        let is_same = match (&search, &self.search) {
            (Some(new), Some(old)) => Arc::ptr_eq(new, old),
            (None, None) => true,
            _ => false,
        };
        if is_same {
            return;
        }
        self.search = search;
        self.reading = Reading::from(self.from);
        if let Some(search) = &self.search {
            self.reading.feed(&self.held, search, &mut self.hits);
        }
    }

    /// Appends to `out` what is held back before `end`, but for secrets.
    fn show(&mut self, end: u64, out: &mut Vec<u8>) {
        let held = |place: u64| usize::try_from(place - self.from).unwrap_or(self.held.len());
        let mut at = self.from.max(self.covered).min(end);
        for &(start, behind) in self.hits.ranges() {
            if start >= end {
                break;
            }
            if behind <= at {
                continue;
            }
            if start >= at {
                out.extend_from_slice(&self.held[held(at)..held(start)]);
                out.extend_from_slice(MARK);
            } else if self.covered < at {
                // Its beginning was shown before it was known to be one.
                out.extend_from_slice(MARK);
            }
            self.covered = self.covered.max(behind);
            at = behind.min(end);
        }
        out.extend_from_slice(&self.held[held(at)..held(end)]);
        let gone = held(end);
        self.held.drain(..gone);
        self.from = end;
        self.hits.forget(end);
    }
}

/// What to search for to find these; none if there are none.
fn automaton_of<'v>(values: impl Iterator<Item = &'v Vec<u8>>) -> Option<Arc<Automaton>> {
    let needles = needles_of(values);
    (!needles.is_empty()).then(|| Arc::new(Automaton::new(&needles)))
}

/// Each value as it is and without white space at its ends, and each of its lines, sorted.
fn needles_of<'v>(values: impl Iterator<Item = &'v Vec<u8>>) -> Vec<Vec<u8>> {
    let mut needles = Vec::new();
    for value in values {
        needles.push(value.clone());
        needles.push(value.trim_ascii().to_vec());
        let lines = value.split(|byte| *byte == b'\n');
        needles.extend(lines.map(|line| line.trim_ascii().to_vec()));
    }
    needles.retain(|needle| needle.len() >= SECRET_BYTES_MIN);
    needles.sort_unstable();
    needles.dedup();
    needles
}
