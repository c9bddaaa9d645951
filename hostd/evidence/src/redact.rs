//! Redacts secrets from a stream: as they are, line by line, in base 64 and percent-encoded, even when
//! a secret arrives in several reads.
//!
//! Bytes that could be the beginning of a secret, and only these, are held back until more bytes
//! arrive or the stream ends.

mod forms;
#[cfg(test)]
mod tests;
mod words;

use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use thiserror::Error;

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

/// Most bytes that the secrets of a run have together: each byte takes some hundred of memory, for all its forms.
pub(crate) const SECRETS_BYTES_MAX: usize = 96 << 10;

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
    /// What to search for, as of a version of the words.
    search: RwLock<(u64, Option<Arc<Forms>>)>,
}

struct Forms {
    /// Sorted, so that forms with the same beginning are next to each other.
    sorted: Vec<Vec<u8>>,
    /// For each byte, whether a form begins with it.
    begins: [bool; 256],
    longest: usize,
    first: AhoCorasick,
    all: AhoCorasick,
}

/// A stream from which secrets are redacted.
#[derive(Debug)]
pub struct Redactor {
    secrets: Secrets,
    /// Bytes that could be the beginning of a secret.
    held: Vec<u8>,
    /// This many of them belong to a secret that was redacted already.
    covered: usize,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let forms = self.forms().map_or(0, |forms| forms.sorted.len());
        write!(f, "Secrets({forms} forms)")
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
        Ok(Self::of(values, Words::default()))
    }

    /// These, and the words that come up.
    #[must_use]
    pub fn and(self, words: Words) -> Self {
        Self::of(self.0.values.clone(), words)
    }

    fn of(values: Vec<Vec<u8>>, words: Words) -> Self {
        let (version, later) = words.now();
        let forms = Forms::new(values.iter().chain(&later)).map(Arc::new);
        Self(Arc::new(Shared {
            values,
            words,
            search: RwLock::new((version, forms)),
        }))
    }

    /// What to search for now; none if there is nothing.
    fn forms(&self) -> Option<Arc<Forms>> {
        let shared = &*self.0;
        let search = shared.search.read().unwrap_or_else(PoisonError::into_inner);
        if search.0 == shared.words.version() {
            return search.1.clone();
        }
        drop(search);
        let search = shared.search.write();
        let mut search = search.unwrap_or_else(PoisonError::into_inner);
        if search.0 != shared.words.version() {
            let (version, later) = shared.words.now();
            let forms = Forms::new(shared.values.iter().chain(&later));
            *search = (version, forms.map(Arc::new));
        }
        search.1.clone()
    }

    /// A new stream from which these secrets are redacted.
    #[must_use]
    pub fn redactor(&self) -> Redactor {
        Redactor {
            secrets: self.clone(),
            held: Vec::new(),
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
        if self.forms().is_some() {
            *text = String::from_utf8_lossy(&self.redacted(text.as_bytes())).into_owned();
        }
    }
}

impl Redactor {
    /// Takes the bytes of a read, and appends to `out` the bytes that may be seen.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let Some(forms) = self.secrets.forms() else {
            self.finish(out);
            out.extend_from_slice(bytes);
            return;
        };
        if self.held.is_empty() {
            let kept = forms.open_from(bytes);
            self.pass(&forms, bytes, kept, out);
            self.held.extend_from_slice(&bytes[kept..]);
        } else {
            let mut all = std::mem::take(&mut self.held);
            all.extend_from_slice(bytes);
            let kept = forms.open_from(&all);
            self.pass(&forms, &all, kept, out);
            all.drain(..kept);
            self.held = all;
        }
    }

    /// The stream ends, or pauses for so long that the bytes held back should be seen: they can no
    /// longer become a secret.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        match self.secrets.forms() {
            Some(forms) => self.pass(&forms, &held, held.len(), out),
            None => out.extend_from_slice(&held[self.covered..]),
        }
        self.covered = 0;
    }

    /// Appends to `out` the part of `bytes` before `open`, from where a secret may be beginning.
    fn pass(&mut self, forms: &Forms, bytes: &[u8], open: usize, out: &mut Vec<u8>) {
        // Everything before this was output, redacted or held back earlier.
        let mut seen = self.covered;
        self.covered = 0;
        if forms.first.is_match(bytes) {
            for (start, end) in forms.hits(bytes) {
                if start >= open {
                    // It will be found again with the bytes held back, perhaps as part of a longer
                    // one.
                    break;
                }
                if start >= seen {
                    out.extend_from_slice(&bytes[seen..start]);
                    out.extend_from_slice(MARK);
                }
                seen = seen.max(end);
            }
        }
        if seen < open {
            out.extend_from_slice(&bytes[seen..open]);
        } else {
            self.covered = seen - open;
        }
    }
}

impl Forms {
    /// What to search for to find these; none if there are none.
    fn new<'v>(values: impl Iterator<Item = &'v Vec<u8>>) -> Option<Self> {
        let mut sorted: Vec<Vec<u8>> = values.flat_map(|value| forms::of(value)).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut begins = [false; 256];
        for form in &sorted {
            begins[form[0] as usize] = true;
        }
        let search = |kind| {
            AhoCorasick::builder()
                .match_kind(kind)
                .kind(Some(AhoCorasickKind::ContiguousNFA))
                .build(&sorted)
                .expect("all forms have a few megabytes together, as secrets and words are bounded")
        };
        let longest = sorted.iter().map(Vec::len).max()?;
        Some(Self {
            begins,
            longest,
            first: search(MatchKind::LeftmostFirst),
            all: search(MatchKind::Standard),
            sorted,
        })
    }

    /// The ranges of forms, with overlapping ones merged.
    fn hits(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let mut hits: Vec<(usize, usize)> = Vec::new();
        for found in self.all.find_overlapping_iter(bytes) {
            // They are sorted by their ends, so the ones that this one overlaps are last.
            let mut start = found.start();
            while let Some((before, end)) = hits.last()
                && *end > start
            {
                start = start.min(*before);
                hits.pop();
            }
            hits.push((start, found.end()));
        }
        hits
    }

    /// Start of the longest end of `bytes` with which a form could continue.
    fn open_from(&self, bytes: &[u8]) -> usize {
        let from = bytes.len().saturating_sub(self.longest - 1);
        let open = (from..bytes.len()).find(|start| {
            let end = &bytes[*start..];
            self.begins[end[0] as usize] && {
                let at = self.sorted.partition_point(|form| form.as_slice() <= end);
                let next = self.sorted.get(at);
                next.is_some_and(|form| form.starts_with(end))
            }
        });
        open.unwrap_or(bytes.len())
    }
}
