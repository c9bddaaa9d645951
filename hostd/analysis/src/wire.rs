//! What a child and the server say to each other. The server does not trust the child, which reads what strangers sent.
//!
//! ```text
//! to the child     length (u32), request (JSON), what probes wrote, then the board's bytes until the end
//! to the server    frames: what (u8), length (u32), that many bytes
//!                  progress (JSON) | artifact (JSON), its bytes in frames of data … | done (JSON) or refused (JSON)
//! ```
//!
//! Numbers are little endian.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::emi::runs::{Failure, Kind, Progress};

use crate::artifact;
use crate::runner::{Event, Made, Product};

/// Largest request.
pub(crate) const REQUEST_BYTES_MAX: usize = 256 << 10;

/// Largest frame.
pub(crate) const FRAME_BYTES_MAX: usize = 1 << 20;

/// Largest artifact.
pub(crate) const ARTIFACT_BYTES_MAX: usize = 64 << 20;

/// Most artifacts of a run.
pub(crate) const ARTIFACTS_MAX: usize = 64;

/// All that a child may write.
pub(crate) const OUTPUT_BYTES_MAX: usize = 256 << 20;

/// Longest text of a progress or a failure, in characters.
const TEXT_MAX: usize = 400;

const PROGRESS: u8 = 1;
const ARTIFACT: u8 = 2;
const DATA: u8 = 3;
const DONE: u8 = 4;
const REFUSED: u8 = 5;

/// Length of a frame's head.
const HEAD: usize = 5;

/// What a child is to do with the bytes that follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) kind: Kind,
    pub(crate) params: Map<String, Value>,
    pub(crate) filename: String,
    /// Most bytes of the file.
    pub(crate) file_bytes_max: usize,
    /// Most bytes of what it unpacks to.
    pub(crate) unpacked_bytes_max: u64,
    /// Most files in it.
    pub(crate) entries_max: usize,
    /// Lengths of what probes of a field solver wrote, which comes before the board. None: it was not solved yet.
    pub(crate) probes: Vec<usize>,
}

/// The start of an artifact.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    name: String,
    content_type: String,
    size_bytes: usize,
}

/// How a child says that it has ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    Done(Product),
    Refused(Failure),
}

/// Why what a child says is not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("understand what it says")]
    Frame,
    #[error("keep an artifact: its name, type or size is not allowed")]
    Artifact,
    #[error("keep more than {ARTIFACTS_MAX} artifacts")]
    Artifacts,
}

/// Writes what a child says.
pub(crate) struct Frames<W>(W);

impl<W: Write> Frames<W> {
    pub(crate) fn new(to: W) -> Self {
        Self(to)
    }

    pub(crate) fn progress(&mut self, progress: &Progress) -> io::Result<()> {
        self.json(PROGRESS, progress)
    }

    pub(crate) fn artifact(&mut self, made: &Made) -> io::Result<()> {
        let head = Head {
            name: made.name.clone(),
            content_type: made.content_type.clone(),
            size_bytes: made.bytes.len(),
        };
        self.json(ARTIFACT, &head)?;
        for piece in made.bytes.chunks(FRAME_BYTES_MAX) {
            self.frame(DATA, piece)?;
        }
        Ok(())
    }

    pub(crate) fn done(&mut self, product: &Product) -> io::Result<()> {
        self.json(DONE, product)
    }

    pub(crate) fn refused(&mut self, failure: &Failure) -> io::Result<()> {
        self.json(REFUSED, failure)
    }

    fn json(&mut self, what: u8, value: &impl Serialize) -> io::Result<()> {
        self.frame(what, &serde_json::to_vec(value)?)
    }

    fn frame(&mut self, what: u8, bytes: &[u8]) -> io::Result<()> {
        let mut head = [what, 0, 0, 0, 0];
        head[1..].copy_from_slice(&length(bytes, FRAME_BYTES_MAX)?);
        self.0.write_all(&head)?;
        self.0.write_all(bytes)?;
        self.0.flush()
    }
}

/// A request as it is written before the board's bytes.
pub(crate) fn request_bytes(request: &Request) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(request)?;
    let mut bytes = length(&text, REQUEST_BYTES_MAX)?.to_vec();
    bytes.extend(text);
    Ok(bytes)
}

/// Reads a request; what is left is the board.
pub(crate) fn read_request(from: &mut dyn Read) -> io::Result<Request> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > REQUEST_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = vec![0; length];
    from.read_exact(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

fn length(bytes: &[u8], most: usize) -> io::Result<[u8; 4]> {
    let length = u32::try_from(bytes.len()).ok();
    let length = length.filter(|_| bytes.len() <= most);
    length
        .map(u32::to_le_bytes)
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Understands what a child says, piece by piece.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    /// What has come of the frame that is not whole.
    waiting: Vec<u8>,
    /// The artifact that is not whole, and how many bytes it will have.
    open: Option<(Made, usize)>,
    artifacts: Vec<String>,
    said: Option<Said>,
}

impl Listener {
    /// Takes in the next piece; what is whole by then goes to `tell`.
    ///
    /// # Errors
    /// It is not what a child says.
    pub(crate) fn push(
        &mut self,
        piece: &[u8],
        tell: &mut dyn FnMut(Event),
    ) -> Result<(), Malformed> {
        self.waiting.extend_from_slice(piece);
        let mut at = 0;
        while let Some((what, payload)) = frame(&self.waiting[at..])? {
            let end = at + HEAD + payload;
            // Borrowed apart from the rest, which it changes.
            let waiting = std::mem::take(&mut self.waiting);
            let taken = self.take(what, &waiting[at + HEAD..end], tell);
            self.waiting = waiting;
            taken?;
            at = end;
        }
        self.waiting.drain(..at);
        Ok(())
    }

    /// How the child has ended, if it said so and all that it said was whole.
    pub(crate) fn end(self) -> Option<Said> {
        let is_whole = self.waiting.is_empty() && self.open.is_none();
        self.said.filter(|_| is_whole)
    }

    fn take(
        &mut self,
        what: u8,
        payload: &[u8],
        tell: &mut dyn FnMut(Event),
    ) -> Result<(), Malformed> {
        // Nothing follows the end, and only its bytes the start of an artifact.
        if self.said.is_some() || (self.open.is_some() && what != DATA) {
            return Err(Malformed::Frame);
        }
        match what {
            PROGRESS => {
                let mut progress: Progress = json(payload)?;
                progress.stage = plain(&progress.stage);
                progress.message = plain(&progress.message);
                progress.pct = progress.pct.min(100);
                tell(Event::Progress(progress));
            }
            ARTIFACT => self.begin(json(payload)?, tell)?,
            DATA => self.append(payload, tell)?,
            DONE => self.said = Some(Said::Done(json(payload)?)),
            REFUSED => {
                let failure: Failure = json(payload)?;
                self.said = Some(Said::Refused(Failure {
                    code: plain(&failure.code),
                    message: plain(&failure.message),
                }));
            }
            _ => return Err(Malformed::Frame),
        }
        Ok(())
    }

    fn begin(&mut self, head: Head, tell: &mut dyn FnMut(Event)) -> Result<(), Malformed> {
        if self.artifacts.len() == ARTIFACTS_MAX {
            return Err(Malformed::Artifacts);
        }
        let is_allowed = artifact::is_name(&head.name)
            && artifact::is_type(&head.content_type)
            && head.size_bytes <= ARTIFACT_BYTES_MAX
            && !self.artifacts.contains(&head.name);
        if !is_allowed {
            return Err(Malformed::Artifact);
        }
        self.artifacts.push(head.name.clone());
        let made = Made {
            name: head.name,
            content_type: head.content_type,
            bytes: Vec::new(),
        };
        self.open = Some((made, head.size_bytes));
        self.append(&[], tell)
    }

    fn append(&mut self, bytes: &[u8], tell: &mut dyn FnMut(Event)) -> Result<(), Malformed> {
        let (made, size_bytes) = self.open.as_mut().ok_or(Malformed::Frame)?;
        made.bytes.extend_from_slice(bytes);
        if made.bytes.len() > *size_bytes {
            return Err(Malformed::Artifact);
        }
        if made.bytes.len() == *size_bytes
            && let Some((made, _)) = self.open.take()
        {
            tell(Event::Made(made));
        }
        Ok(())
    }
}

/// What the first frame is, and the length of its bytes; none if it is not whole.
fn frame(bytes: &[u8]) -> Result<Option<(u8, usize)>, Malformed> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() else {
        return Ok(None);
    };
    let [what, length @ ..] = *head;
    let length = u32::from_le_bytes(length) as usize;
    if length > FRAME_BYTES_MAX {
        return Err(Malformed::Frame);
    }
    Ok((rest.len() >= length).then_some((what, length)))
}

fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Malformed> {
    serde_json::from_slice(bytes).map_err(|_| Malformed::Frame)
}

/// A text that is short and has nothing that a terminal would obey.
pub(crate) fn plain(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control());
    plain.take(TEXT_MAX).collect()
}

#[cfg(test)]
mod tests;
