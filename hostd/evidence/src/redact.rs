//! Blots secrets out of what passes by: as they are, line by line, in base 64 and percent-encoded, also
//! when one arrives in several reads.
//!
//! What could be the beginning of a secret is held back until more arrives or the stream ends, and
//! nothing else is.

mod forms;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use thiserror::Error;

/// What stands for a secret.
pub const MARK: &[u8] = b"[secret]";

/// Shortest secret: a shorter one is found in innocent text, and guessed from where it is missing.
pub const SECRET_BYTES_MIN: usize = 8;

/// Longest secret.
pub const SECRET_BYTES_MAX: usize = 16 << 10;

/// Most secrets of a job.
pub const SECRETS_MAX: usize = 64;

/// Why a secret cannot be kept out of a log.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unfit {
    /// It is too short.
    #[error("keep the secret {0} out of logs: it is shorter than {SECRET_BYTES_MIN} bytes")]
    Short(String),
    /// It is too long.
    #[error("keep the secret {0} out of logs: it is longer than {SECRET_BYTES_MAX} bytes")]
    Long(String),
    /// There are too many, or their forms are too many to look for.
    #[error("keep {0} secrets out of logs: at most {SECRETS_MAX} are possible")]
    Many(usize),
}

/// What must not be seen. Cloning shares it.
#[derive(Clone)]
pub struct Secrets(Option<Arc<Forms>>);

struct Forms {
    /// Sorted, so that those with a given beginning stand together.
    sorted: Vec<Vec<u8>>,
    /// Of any beginning byte, whether a form has it.
    begins: [bool; 256],
    longest: usize,
    first: AhoCorasick,
    all: AhoCorasick,
}

/// A stream that secrets are blotted out of.
#[derive(Debug)]
pub struct Redactor {
    secrets: Secrets,
    /// What could be the beginning of a secret.
    held: Vec<u8>,
    /// So much of it belongs to a secret that was blotted out already.
    covered: usize,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let forms = self.0.as_ref().map_or(0, |forms| forms.sorted.len());
        write!(f, "Secrets({forms} forms)")
    }
}

impl Secrets {
    /// The secrets of a job, each with its name.
    ///
    /// # Errors
    /// One is too short or too long, or they are too many.
    pub fn new<'s>(secrets: impl IntoIterator<Item = (&'s str, &'s [u8])>) -> Result<Self, Unfit> {
        let mut sorted = Vec::new();
        let mut count = 0;
        for (name, value) in secrets {
            count += 1;
            if value.len() < SECRET_BYTES_MIN {
                return Err(Unfit::Short(name.to_owned()));
            }
            if value.len() > SECRET_BYTES_MAX {
                return Err(Unfit::Long(name.to_owned()));
            }
            sorted.extend(forms::of(value));
        }
        if count == 0 {
            return Ok(Self(None));
        }
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
        };
        let (Ok(first), Ok(all)) = (
            search(MatchKind::LeftmostFirst),
            search(MatchKind::Standard),
        ) else {
            return Err(Unfit::Many(count));
        };
        if count > SECRETS_MAX {
            return Err(Unfit::Many(count));
        }
        Ok(Self(Some(Arc::new(Forms {
            begins,
            longest: sorted.iter().map(Vec::len).max().unwrap_or(0),
            sorted,
            first,
            all,
        }))))
    }

    /// A stream without them.
    #[must_use]
    pub fn redactor(&self) -> Redactor {
        Redactor {
            secrets: self.clone(),
            held: Vec::new(),
            covered: 0,
        }
    }

    /// `bytes` without them.
    #[must_use]
    pub fn redacted(&self, bytes: &[u8]) -> Vec<u8> {
        let mut redactor = self.redactor();
        let mut out = Vec::with_capacity(bytes.len());
        redactor.push(bytes, &mut out);
        redactor.finish(&mut out);
        out
    }
}

impl Redactor {
    /// Takes what was read and gives to `out` what may be seen.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let Some(forms) = self.secrets.0.clone() else {
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

    /// The stream ends, or pauses so long that what is held back should be seen: nothing completes it
    /// to a secret any more.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        if let Some(forms) = self.secrets.0.clone() {
            self.pass(&forms, &held, held.len(), out);
        }
        self.covered = 0;
    }

    /// Gives to `out` what `bytes` has before `open`, where it may become a secret.
    fn pass(&mut self, forms: &Forms, bytes: &[u8], open: usize, out: &mut Vec<u8>) {
        // Everything before here was seen, blotted out or passed over.
        let mut seen = self.covered;
        self.covered = 0;
        if forms.first.is_match(bytes) {
            for (start, end) in forms.hits(bytes) {
                if start >= open {
                    // It is found again with what is held back, perhaps as part of a longer one.
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
    /// Where forms stand, those that overlap as one.
    fn hits(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let mut hits: Vec<(usize, usize)> = Vec::new();
        for found in self.all.find_overlapping_iter(bytes) {
            // They come by their ends, so what this one overlaps is last.
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

    /// Where the longest end of `bytes` starts that a form goes on from.
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
