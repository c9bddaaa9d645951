//! Values that the programs of a job ask to be kept from view, by a line of their output, as in GitHub Actions:
//! `::add-mask::VALUE`.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memchr;

use super::{MARK, Redactor, SECRET_BYTES_MAX, SECRET_BYTES_MIN, SECRETS_BYTES_MAX, Secrets};

/// How such a line begins.
const COMMAND: &[u8] = b"::add-mask::";

/// Most such values of a job.
pub const MASKS_MAX: usize = 64;

/// The values that the programs of a job have asked for. Clones share them.
#[derive(Clone, Default)]
pub struct Masks(Arc<Mutex<Vec<Vec<u8>>>>);

/// How many there are, and none of them.
impl fmt::Debug for Masks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Masks({})", self.count())
    }
}

impl Masks {
    /// Bytes that they have together.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.lock().iter().map(Vec::len).sum()
    }

    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn now(&self) -> Vec<Vec<u8>> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a value is not kept from view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotMasked {
    /// It is too short.
    #[error(
        "::add-mask:: was not followed: the value is shorter than {SECRET_BYTES_MIN} bytes, too short to be kept from view"
    )]
    Short,
    /// It is too long.
    #[error(
        "::add-mask:: was not followed: the value is longer than {SECRET_BYTES_MAX} bytes; mask its parts"
    )]
    Long,
    /// There are too many.
    #[error(
        "::add-mask:: was not followed: a job has at most {MASKS_MAX} such values, of {SECRETS_BYTES_MAX} bytes together"
    )]
    Many,
}

impl Secrets {
    /// Keeps a value from view from now on, in all streams that these secrets are redacted from, and others that share the
    /// masks.
    ///
    /// # Errors
    /// It is too short or too long, or there are too many.
    pub fn mask(&self, value: &[u8]) -> Result<(), NotMasked> {
        if value.trim_ascii().len() < SECRET_BYTES_MIN {
            return Err(NotMasked::Short);
        }
        if value.len() > SECRET_BYTES_MAX {
            return Err(NotMasked::Long);
        }
        let mut masks = self.0.masks.lock();
        if masks.iter().any(|known| known == value) {
            return Ok(());
        }
        let bytes: usize = masks.iter().map(Vec::len).sum();
        if masks.len() >= MASKS_MAX || bytes + value.len() > SECRETS_BYTES_MAX {
            return Err(NotMasked::Many);
        }
        masks.push(value.to_vec());
        Ok(())
    }

    /// A new stream from which these secrets are redacted, and whose lines may ask for more to be.
    #[must_use]
    pub fn commands(&self) -> Commands {
        Commands {
            redactor: self.redactor(),
            place: Place::Begin(0),
            refused: Vec::new(),
        }
    }
}

/// A stream of lines from which secrets are redacted, some of which ask for more to be.
#[derive(Debug)]
pub struct Commands {
    redactor: Redactor,
    place: Place,
    refused: Vec<NotMasked>,
}

#[derive(Debug)]
enum Place {
    /// Behind so many bytes of a line, with which a command begins.
    Begin(usize),
    /// In the value of one, of which so much is kept that it can be told to be too long.
    Value(Vec<u8>),
    /// In a line that is none.
    Other,
}

impl Commands {
    /// Takes the bytes of a read, and appends to `out` the bytes that may be seen.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (others, next) = rest.split_at(self.pass_others(rest));
            if !others.is_empty() {
                self.redactor.push(others, out);
                rest = next;
                continue;
            }
            let end = rest.iter().position(|byte| *byte == b'\n');
            let (line, next) = rest.split_at(end.unwrap_or(rest.len()));
            self.take(line, out);
            rest = next;
            if let Some(behind) = next.strip_prefix(b"\n") {
                self.end_line(out);
                self.redactor.push(b"\n", out);
                self.place = Place::Begin(0);
                rest = behind;
            }
        }
    }

    /// How many of these bytes belong to lines that are no commands, and the place behind them.
    fn pass_others(&mut self, bytes: &[u8]) -> usize {
        let mut at = match self.place {
            Place::Begin(0) => 0,
            Place::Other => end_of_line(bytes),
            Place::Begin(_) | Place::Value(_) => return 0,
        };
        let mut is_begin = at == 0 || bytes[at - 1] == b'\n';
        while is_begin && at < bytes.len() {
            let line = &bytes[at..];
            let known = line.len().min(COMMAND.len());
            if line[..known] == COMMAND[..known] {
                break;
            }
            at += end_of_line(line);
            is_begin = bytes[at - 1] == b'\n';
        }
        self.place = match is_begin {
            true => Place::Begin(0),
            false => Place::Other,
        };
        at
    }

    /// The stream ends.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.end_line(out);
        self.place = Place::Begin(0);
        self.redactor.finish(out);
    }

    /// Why lines before this were not followed.
    pub fn refused(&mut self) -> Vec<NotMasked> {
        std::mem::take(&mut self.refused)
    }

    /// Takes a part of a line.
    fn take(&mut self, part: &[u8], out: &mut Vec<u8>) {
        let known = match &mut self.place {
            Place::Other => return self.redactor.push(part, out),
            Place::Value(value) => return keep(value, part),
            Place::Begin(known) => *known,
        };
        let wanted = &COMMAND[known..];
        let (begin, behind) = part.split_at(part.len().min(wanted.len()));
        if begin != &wanted[..begin.len()] {
            self.place = Place::Other;
            self.redactor.push(&COMMAND[..known], out);
            self.redactor.push(part, out);
        } else if begin.len() < wanted.len() {
            self.place = Place::Begin(known + begin.len());
        } else {
            let mut value = Vec::new();
            keep(&mut value, behind);
            self.place = Place::Value(value);
            self.redactor.push(COMMAND, out);
        }
    }

    /// Does what a line asks for.
    fn end_line(&mut self, out: &mut Vec<u8>) {
        match std::mem::replace(&mut self.place, Place::Other) {
            Place::Other => {}
            Place::Begin(known) => self.redactor.push(&COMMAND[..known], out),
            Place::Value(value) => {
                let value = value.strip_suffix(b"\r").unwrap_or(&value);
                let masked = self.redactor.secrets.mask(&unescaped(value));
                self.refused.extend(masked.err());
                // Whatever became of it, the line is not to show it.
                self.redactor.push(MARK, out);
            }
        }
    }
}

/// Bytes up to the end of the first line, with the byte that ends it.
fn end_of_line(bytes: &[u8]) -> usize {
    memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1)
}

/// Keeps what is needed of a value.
fn keep(value: &mut Vec<u8>, part: &[u8]) {
    // Each byte may be written as three.
    let room = (3 * SECRET_BYTES_MAX + 2).saturating_sub(value.len());
    value.extend_from_slice(&part[..part.len().min(room)]);
}

/// As commands write what would end a line: `%0A`, `%0D` and `%25`.
fn unescaped(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, behind)) = rest.split_first() {
        let written = rest.get(..3).map(<[u8]>::to_ascii_uppercase);
        let meant = match written.as_deref() {
            Some(b"%0A") => Some(b'\n'),
            Some(b"%0D") => Some(b'\r'),
            Some(b"%25") => Some(b'%'),
            _ => None,
        };
        out.push(meant.unwrap_or(*first));
        rest = if meant.is_some() { &rest[3..] } else { behind };
    }
    out
}
