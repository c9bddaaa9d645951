//! One who follows a job over a WebSocket: its state whenever that changes, and all output of all its attempts, each
//! byte once. A follower reads the files of the logs at its own pace, so that none slows a job.
//!
//! Text messages, JSON with a `type`:
//! - `job`: how it is, in the words of whoever asked for the follower.
//! - `output`: `attempt`, `stream` (`output`, `error`, `uart`, `server`), `offset` of its first byte in the attempt's
//!   log, how many `bytes` it is of that, `step`, `text`. Bytes that are no UTF-8 are replaced.
//! - `dropped`: `attempt`, `bytes` that the log lacks at this place.
//! - `end`: the job is over, and all its output was sent.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base::live::{Ending, Goodbye, Live, Message, Peer};
use evidence::log::{Piece, Reader, Stream};
use serde_json::{Value, json};
use store::jobs::Job;
use tokio::sync::watch;

use crate::files::Files;

/// Between two looks at logs that grow.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Bytes of output that are read at once.
const READ_BYTES: usize = 256 << 10;

/// How a record is told.
pub(crate) type Tell = Box<dyn Fn(&Job) -> Value + Send + Sync>;

/// A follower whose WebSocket is not open yet.
pub(crate) struct Follower {
    files: Files,
    /// None for a job that was over before.
    jobs: Option<watch::Receiver<Arc<Job>>>,
    job: Arc<Job>,
    tell: Tell,
    /// How far each attempt's log was sent.
    sent: BTreeMap<u32, Position>,
    /// Attempts whose logs were sent to their ends.
    done: BTreeSet<u32>,
}

/// How far a log was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Position {
    offset: u64,
    /// A log has one gap at most, which is found again by whoever reads on from its offset.
    is_past_gap: bool,
}

impl Follower {
    pub(crate) fn new(
        files: Files,
        jobs: Option<watch::Receiver<Arc<Job>>>,
        job: Arc<Job>,
        tell: Tell,
    ) -> Self {
        Self {
            files,
            jobs,
            job,
            tell,
            sent: BTreeMap::new(),
            done: BTreeSet::new(),
        }
    }

    async fn run(mut self, mut peer: Peer, mut ending: Ending) {
        let goodbye = tokio::select! {
            goodbye = self.follow(&mut peer) => goodbye,
            goodbye = ending.ended() => goodbye,
        };
        drop(self);
        peer.close(goodbye).await;
    }

    async fn follow(&mut self, peer: &mut Peer) -> Goodbye {
        match self.tell_all(peer).await {
            Ok(goodbye) | Err(goodbye) => goodbye,
        }
    }

    async fn tell_all(&mut self, peer: &mut Peer) -> Result<Goodbye, Goodbye> {
        self.tell_job(peer).await?;
        loop {
            // What is read after the job was over is all that there will be.
            let is_over = self.job.queue.is_none();
            self.tell_output(peer).await?;
            if is_over {
                send(peer, &json!({"type": "end"})).await?;
                return Ok(Goodbye::normal("the job is over"));
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                is_new = changed(&mut self.jobs) => if is_new {
                    self.take_news();
                    self.tell_job(peer).await?;
                },
                said = peer.hear(true) => {
                    said?;
                    return Err(Goodbye::unsupported("this stream takes no messages"));
                }
            }
        }
    }

    fn take_news(&mut self) {
        if let Some(jobs) = &mut self.jobs {
            self.job = jobs.borrow_and_update().clone();
        }
    }

    async fn tell_job(&self, peer: &mut Peer) -> Result<(), Goodbye> {
        let mut news = (self.tell)(&self.job);
        news["type"] = "job".into();
        send(peer, &news).await
    }

    /// Sends all output that there is and was not sent.
    async fn tell_output(&mut self, peer: &mut Peer) -> Result<(), Goodbye> {
        let attempts = self.job.attempts.iter();
        let attempts = attempts.filter(|attempt| !self.done.contains(&attempt.number));
        let attempts: Vec<(u32, bool)> = attempts
            .map(|attempt| (attempt.number, attempt.end.is_some()))
            .collect();
        for (number, is_over) in attempts {
            loop {
                let from = self.sent.get(&number).copied().unwrap_or_default();
                let (files, job) = (self.files.clone(), self.job.id.clone());
                let read = tokio::task::spawn_blocking(move || read(&files, &job, number, from));
                let read = read.await.map_err(io::Error::other).flatten();
                let Ok((pieces, to)) = read else {
                    return Err(Goodbye::policy("the log cannot be read"));
                };
                for piece in &pieces {
                    send(peer, &message(number, piece)).await?;
                }
                self.sent.insert(number, to);
                if pieces.is_empty() {
                    break;
                }
            }
            // It was over before it was read.
            if is_over {
                self.done.insert(number);
            }
        }
        Ok(())
    }
}

impl Live for Follower {
    fn name(&self) -> &'static str {
        "job"
    }

    fn serve(
        self: Box<Self>,
        peer: Peer,
        ending: Ending,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(self.run(peer, ending))
    }
}

/// Resolves to whether there is news. A job that nobody changes any more has none.
async fn changed(jobs: &mut Option<watch::Receiver<Arc<Job>>>) -> bool {
    let Some(receiver) = jobs else {
        return std::future::pending().await;
    };
    let is_new = receiver.changed().await.is_ok();
    if !is_new {
        *jobs = None;
    }
    is_new
}

async fn send(peer: &mut Peer, value: &Value) -> Result<(), Goodbye> {
    peer.send(Message::Text(value.to_string().into())).await
}

/// The next pieces of a log, and where it goes on. None at the end of what there is so far.
fn read(
    files: &Files,
    job: &str,
    attempt: u32,
    from: Position,
) -> io::Result<(Vec<Piece>, Position)> {
    let log = match File::open(files.log(job, attempt)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), from)),
        log => log?,
    };
    let index = std::fs::read(files.index(job, attempt)).unwrap_or_default();
    let mut reader = Reader::new(log, &index, from.offset)?;
    let mut is_past_gap = from.is_past_gap;
    let mut pieces = Vec::new();
    let mut bytes = 0;
    while bytes < READ_BYTES {
        let Some(piece) = reader.next_piece()? else {
            break;
        };
        match &piece {
            Piece::Output { bytes: text, .. } => bytes += text.len(),
            Piece::Dropped(_) if is_past_gap => continue,
            Piece::Dropped(_) => is_past_gap = true,
        }
        pieces.push(piece);
    }
    let offset = reader.offset();
    Ok((
        pieces,
        Position {
            offset,
            is_past_gap,
        },
    ))
}

fn message(attempt: u32, piece: &Piece) -> Value {
    match piece {
        Piece::Output {
            offset,
            stream,
            step,
            bytes,
            ..
        } => json!({
            "type": "output", "attempt": attempt, "stream": word(*stream), "offset": offset,
            "bytes": bytes.len(), "step": step, "text": String::from_utf8_lossy(bytes),
        }),
        Piece::Dropped(bytes) => json!({"type": "dropped", "attempt": attempt, "bytes": bytes}),
    }
}

fn word(stream: Stream) -> &'static str {
    match stream {
        Stream::Output => "output",
        Stream::Error => "error",
        Stream::Uart => "uart",
        Stream::Server => "server",
    }
}

#[cfg(test)]
mod tests {
    use evidence::log::{TAIL_BYTES, Writer, recover};

    use super::*;

    /// Bytes of output before the gap.
    const KEPT_BYTES: usize = 100;

    fn read_all(files: &Files, mut from: Position) -> Vec<Piece> {
        let mut all = Vec::new();
        loop {
            let (pieces, to) = read(files, "job", 1, from).unwrap();
            if pieces.is_empty() {
                return all;
            }
            assert!(all.len() < 1_000, "it never ends");
            all.extend(pieces);
            from = to;
        }
    }

    #[test]
    fn a_gap_is_told_once_also_where_the_log_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(folder.path()).unwrap();
        std::fs::create_dir_all(files.attempt("job", 1)).unwrap();
        let (path, index) = (files.log("job", 1), files.index("job", 1));
        let (log, index) = (File::create(&path).unwrap(), File::create(index).unwrap());
        let mut writer = Writer::new(log, index, KEPT_BYTES as u64);
        writer.push(0, Stream::Output, 0, &vec![b'x'; 2 * TAIL_BYTES]);
        let told = writer.finish();
        assert!(told.dropped > 0);
        let whole = read_all(&files, Position::default());
        let gaps = |pieces: &[Piece]| {
            let is_gap = |piece: &&Piece| matches!(piece, Piece::Dropped(_));
            pieces.iter().filter(is_gap).count()
        };
        assert_eq!(gaps(&whole), 1);
        // The server died when it had written the gap and nothing after it.
        let bytes = std::fs::read(&path).unwrap();
        let has_gap = |end: &usize| {
            let found = recover(&mut io::Cursor::new(&bytes[..*end])).unwrap();
            found.dropped > 0
        };
        let end = (KEPT_BYTES..bytes.len()).find(has_gap).unwrap();
        std::fs::write(&path, &bytes[..end]).unwrap();
        let cut = read_all(&files, Position::default());
        assert_eq!((cut.len(), gaps(&cut)), (2, 1));
    }
}
