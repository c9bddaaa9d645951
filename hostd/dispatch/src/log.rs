//! The logs of a job as text, streamed from their files while they grow or after.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use evidence::log::{Piece, Reader};
use store::jobs::Job;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::error::JobError;
use crate::files::Files;

/// Pieces between the disk and a connection that takes a log.
const PIECES_QUEUED: usize = 8;

/// Bytes that are read at once.
const READ_BYTES: usize = 128 << 10;

/// Timeout for a client that takes no piece.
const PIECE_WAIT_MAX: Duration = Duration::from_secs(30);

/// A log on its way.
#[derive(Debug)]
pub struct Log {
    /// The text, piece by piece. The reader stops when this is dropped.
    pub parts: mpsc::Receiver<io::Result<Bytes>>,
    /// Bytes of output so far: the next offset to ask for.
    pub bytes: u64,
    /// Whether no more will come.
    pub is_complete: bool,
}

/// One attempt's files.
struct AttemptLog {
    log: PathBuf,
    index: PathBuf,
    /// Before it, when several logs follow each other.
    heading: Option<String>,
    offset: u64,
    /// Where to stop.
    end: u64,
}

/// The log of one attempt from an offset on, or of all. Blocks on the disk.
pub(crate) fn open(
    files: &Files,
    job: &Job,
    attempt: Option<u32>,
    offset: u64,
    runtime: &Handle,
) -> Result<Log, JobError> {
    let mut logs = Vec::new();
    for known in &job.attempts {
        if attempt.is_some_and(|wanted| wanted != known.number) {
            continue;
        }
        let run = job
            .runs
            .get(known.run as usize)
            .map_or("", |run| run.id.as_str());
        let heading = attempt
            .is_none()
            .then(|| format!("=== {run}, attempt {}\n", known.number));
        let log = files.log(&job.id, known.number);
        let end = length(files, &job.id, known.number).map_err(JobError::files(&log))?;
        logs.push(AttemptLog {
            index: files.index(&job.id, known.number),
            log,
            heading,
            offset,
            end,
        });
    }
    if attempt.is_some() && logs.is_empty() {
        return Err(JobError::NotFound);
    }
    let is_over = |number: u32| {
        let mut attempts = job.attempts.iter();
        attempts.any(|known| known.number == number && known.ended_ms.is_some())
    };
    let is_complete = attempt.map_or(job.queue.is_none(), is_over);
    let length = |log: &AttemptLog| log.end + log.heading.as_ref().map_or(0, String::len) as u64;
    let bytes = logs.iter().map(length).sum();
    let (parts, receiver) = mpsc::channel(PIECES_QUEUED);
    runtime.spawn(send(logs, parts));
    Ok(Log {
        parts: receiver,
        bytes,
        is_complete,
    })
}

/// Bytes of output in a log; none if it was not begun. Blocks on the disk.
pub(crate) fn length(files: &Files, job: &str, attempt: u32) -> io::Result<u64> {
    let Some(mut reader) = reader(
        &files.log(job, attempt),
        &files.index(job, attempt),
        u64::MAX,
    )?
    else {
        return Ok(0);
    };
    // Behind what was left out there is the log's end.
    while reader.next_piece()?.is_some() {}
    Ok(reader.offset())
}

/// The output of a log from an offset on, as far as it goes. Blocks on the disk.
pub(crate) fn read(files: &Files, job: &str, attempt: u32, offset: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let reader = reader(&files.log(job, attempt), &files.index(job, attempt), offset)?;
    let Some(mut reader) = reader else {
        return Ok(text);
    };
    while let Some(piece) = reader.next_piece()? {
        if let Piece::Output { bytes, .. } = piece {
            text.extend_from_slice(&bytes);
        }
    }
    Ok(text)
}

/// A log from an offset on; none if it was not begun.
fn reader(log: &Path, index: &Path, offset: u64) -> io::Result<Option<Reader<File>>> {
    let file = match File::open(log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    // Without an index the log is read from its beginning.
    let index = fs::read(index).unwrap_or_default();
    Reader::new(file, &index, offset).map(Some)
}

/// Sends logs one after the other. A thread is borrowed to read, never while a client takes its time.
async fn send(logs: Vec<AttemptLog>, to: mpsc::Sender<io::Result<Bytes>>) {
    for log in logs {
        if let Some(heading) = &log.heading
            && !pass(&to, heading.clone().into()).await
        {
            return;
        }
        let mut state = Some(Reading { log, reader: None });
        while let Some(reading) = state.take() {
            let read = tokio::task::spawn_blocking(move || reading.next());
            match read.await.map_err(io::Error::other).flatten() {
                Ok((bytes, next)) => {
                    if !bytes.is_empty() && !pass(&to, bytes.into()).await {
                        return;
                    }
                    state = next;
                }
                Err(error) => {
                    // Whoever reads is told if it is still there.
                    let _ = to.send(Err(error)).await;
                    return;
                }
            }
        }
    }
}

/// Whether the client took it in time.
pub(crate) async fn pass(to: &mpsc::Sender<io::Result<Bytes>>, bytes: Bytes) -> bool {
    matches!(
        timeout(PIECE_WAIT_MAX, to.send(Ok(bytes))).await,
        Ok(Ok(()))
    )
}

/// A log that is being read.
struct Reading {
    log: AttemptLog,
    reader: Option<Reader<File>>,
}

impl Reading {
    /// The next bytes, and what is left to read.
    fn next(mut self) -> io::Result<(Vec<u8>, Option<Self>)> {
        let mut text = Vec::new();
        if self.reader.is_none() {
            self.reader = reader(&self.log.log, &self.log.index, self.log.offset)?;
        }
        let Some(reader) = &mut self.reader else {
            return Ok((text, None));
        };
        while text.len() < READ_BYTES {
            if reader.offset() >= self.log.end {
                return Ok((text, None));
            }
            match reader.next_piece()? {
                None => return Ok((text, None)),
                Some(Piece::Output { offset, bytes, .. }) => {
                    let room =
                        usize::try_from(self.log.end.saturating_sub(offset)).unwrap_or(usize::MAX);
                    text.extend_from_slice(&bytes[..bytes.len().min(room)]);
                }
                Some(Piece::Dropped(count)) => {
                    let note =
                        format!("\n-- {count} bytes left out here: the log's limit was reached\n");
                    text.extend_from_slice(note.as_bytes());
                }
            }
        }
        Ok((text, Some(self)))
    }
}
