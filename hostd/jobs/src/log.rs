//! The log of a run while it is written: output of steps comes from two threads, secrets are blotted out, and nobody
//! who writes waits for anybody who reads.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use base::private;
use evidence::log::{Stream, Writer};
use evidence::redact::Secrets;
use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

use crate::cancel::Cancel;
use crate::live::{Event, Live};
use crate::task::Watch;
use crate::timeline::{Mark, Marks};

/// Bytes that are read from a step at once.
const PIECE_BYTES: usize = 64 << 10;

/// Bytes of a step's end that are kept for the report.
const TAIL_BYTES: usize = 8 << 10;

/// What became of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogSummary {
    /// Bytes of output in it.
    pub bytes: u64,
    /// Bytes of output that it lacks, for they were over its limit or the disk was full.
    pub dropped: u64,
    /// Bytes that the log takes on the disk.
    #[serde(default)]
    pub disk_bytes: u64,
}

/// The log of a run.
pub(crate) struct RunLog<'l> {
    inner: Mutex<Inner>,
    /// When the job began.
    begun: Instant,
    live: Live,
    cap: u64,
    gate: Gate<'l>,
    secrets: &'l Secrets,
}

/// Asks once whether the first output of a run may be shown.
pub(crate) struct Gate<'g> {
    /// None: nobody need be asked.
    watch: Option<&'g dyn Watch>,
    cancel: &'g Cancel,
    answer: OnceLock<bool>,
}

impl<'g> Gate<'g> {
    pub(crate) fn new(watch: Option<&'g dyn Watch>, cancel: &'g Cancel) -> Self {
        Self {
            watch,
            cancel,
            answer: OnceLock::new(),
        }
    }

    /// Whether output may be shown. If not, the run is cancelled.
    pub(crate) fn may_pass(&self) -> bool {
        let Some(watch) = self.watch else {
            return true;
        };
        *self.answer.get_or_init(|| {
            let may_pass = watch.first_output();
            if !may_pass {
                self.cancel.cancel();
            }
            may_pass
        })
    }

    /// Whether somebody has said that output may not be shown.
    pub(crate) fn is_closed(&self) -> bool {
        self.answer.get() == Some(&false)
    }

    /// Whether output was shown that had to be asked for.
    pub(crate) fn was_passed(&self) -> bool {
        self.answer.get() == Some(&true)
    }
}

struct Inner {
    writer: Writer<File, File>,
    /// Bytes that listeners were told.
    told: u64,
    step: u16,
    is_at_line_start: bool,
    tail: Vec<u8>,
    marks: Marks,
}

impl<'l> RunLog<'l> {
    /// Makes the files `log` and `index` in a folder, which is made too.
    pub(crate) fn create(
        folder: &Path,
        cap: u64,
        begun: Instant,
        live: Live,
        gate: Gate<'l>,
        secrets: &'l Secrets,
    ) -> io::Result<Self> {
        private::make_folder(folder)?;
        let file = |name: &str| {
            let path = folder.join(name);
            crate::tree::remove(&path)?;
            private::make_file(&path)
        };
        let writer = Writer::new(file("log")?, file("index")?, cap);
        Ok(Self {
            inner: Mutex::new(Inner {
                writer,
                told: 0,
                step: 0,
                is_at_line_start: true,
                tail: Vec::new(),
                marks: Marks::default(),
            }),
            begun,
            live,
            cap,
            gate,
            secrets,
        })
    }

    /// From now on output is of this step.
    pub(crate) fn begin_step(&self, step: usize, name: &str) {
        let mut inner = self.lock();
        inner.step = u16::try_from(step).unwrap_or(u16::MAX);
        inner.tail.clear();
        drop(inner);
        self.write_own(format!("== {name}\n"));
        self.live.tell(Event::StepStarted(name.to_owned()));
    }

    /// A line of the runner's own, secrets blotted out: names of a job's files may be part of it.
    pub(crate) fn note(&self, text: &str) {
        let mut text = text.to_owned();
        self.secrets.redact(&mut text);
        self.write_own(format!("-- {text}\n"));
        self.live.tell(Event::Note(text));
    }

    /// A line of the runner's own that listeners are told in another way, secrets blotted out.
    pub(crate) fn write_line(&self, text: &str) {
        let mut text = text.to_owned();
        self.secrets.redact(&mut text);
        self.write_own(format!("-- {text}\n"));
    }

    /// Writes a line of the server's on a line of its own, whatever a step has left there. Followers see at once how far
    /// the run is: a step may be silent for as long as it takes.
    fn write_own(&self, mut line: String) {
        let mut inner = self.lock();
        if !inner.is_at_line_start {
            line.insert(0, '\n');
        }
        inner.push(self.now_us(), Stream::Server, line.as_bytes());
        inner.writer.flush();
    }

    pub(crate) fn gate(&self) -> &Gate<'l> {
        &self.gate
    }

    /// Output of a step, secrets blotted out.
    pub(crate) fn output(&self, stream: Stream, bytes: &[u8]) {
        if bytes.is_empty() || !self.gate.may_pass() {
            return;
        }
        let mut inner = self.lock();
        inner.push(self.now_us(), stream, bytes);
        inner.keep_end(bytes);
        if stream == Stream::Uart {
            inner.marks.hear(self.begun.elapsed(), bytes);
        }
        inner.told += bytes.len() as u64;
        let is_over = self.cap < inner.told;
        drop(inner);
        if is_over {
            self.live.miss(bytes.len() as u64);
        } else {
            self.live.output(stream, bytes);
        }
    }

    /// Lets followers of the file see what there is.
    pub(crate) fn flush(&self) {
        self.lock().writer.flush();
    }

    /// The end of what the present step wrote.
    pub(crate) fn tail(&self) -> String {
        let inner = self.lock();
        let from = inner.tail.len().saturating_sub(TAIL_BYTES);
        String::from_utf8_lossy(&inner.tail[from..]).into_owned()
    }

    /// Marks a moment of the target's serial line, secrets blotted out.
    pub(crate) fn mark(&self, at: Instant, mut text: String) {
        self.secrets.redact(&mut text);
        let at = at.saturating_duration_since(self.begun);
        self.lock().marks.put(at, &text);
    }

    /// Ends the log. What became of it, and what the target said.
    pub(crate) fn finish(self) -> (LogSummary, Vec<Mark>) {
        let end = self.begun.elapsed();
        let inner = self.inner.into_inner();
        let Inner { writer, marks, .. } = inner.unwrap_or_else(PoisonError::into_inner);
        let summary = writer.finish();
        let summary = LogSummary {
            bytes: summary.bytes,
            dropped: summary.dropped,
            disk_bytes: summary.disk_bytes,
        };
        (summary, marks.finish(end))
    }

    fn now_us(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn push(&mut self, time_us: u64, stream: Stream, bytes: &[u8]) {
        self.writer.push(time_us, stream, self.step, bytes);
        self.is_at_line_start = bytes.last() == Some(&b'\n');
    }

    fn keep_end(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > 2 * TAIL_BYTES {
            let gone = self.tail.len() - TAIL_BYTES;
            self.tail.drain(..gone);
        }
    }
}

/// A text that is looked for in a stream, also where two reads meet.
pub(crate) struct Search<'t> {
    finder: Finder<'t>,
    end: Vec<u8>,
    pub(crate) is_found: bool,
}

impl<'t> Search<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            finder: Finder::new(text),
            end: Vec::new(),
            is_found: false,
        }
    }

    /// Looks on in what comes next. Where in it the text ends, when it is found for the first time.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Option<usize> {
        if self.is_found {
            return None;
        }
        let before = self.end.len();
        self.end.extend_from_slice(bytes);
        let found = self.finder.find(&self.end);
        self.is_found = found.is_some();
        let found = found.map(|at| (at + self.finder.needle().len()).saturating_sub(before));
        let kept = self.finder.needle().len().saturating_sub(1);
        let gone = self.end.len().saturating_sub(kept);
        self.end.drain(..gone);
        found
    }
}

/// Words of a stream's commands that could not be followed. More of them say nothing new.
const REFUSED_MAX: usize = 8;

/// Takes all that a step writes to one of its streams, to the end. The log takes it without waiting, whatever it is.
pub(crate) fn drain(
    mut from: impl Read,
    stream: Stream,
    log: &RunLog<'_>,
    secrets: &Secrets,
    searches: &mut [Search<'_>],
) {
    let mut commands = secrets.commands();
    let mut refused = 0;
    let mut piece = vec![0; PIECE_BYTES];
    let mut seen = Vec::with_capacity(PIECE_BYTES);
    loop {
        let len = match from.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // A pipe that cannot be read has ended.
            Ok(0) | Err(_) => break,
            Ok(len) => len,
        };
        seen.clear();
        commands.push(&piece[..len], &mut seen);
        log.output(stream, &seen);
        for search in searches.iter_mut() {
            search.push(&seen);
        }
        for why in commands.refused() {
            refused += 1;
            if refused <= REFUSED_MAX {
                log.note(&why.to_string());
            }
        }
    }
    seen.clear();
    commands.finish(&mut seen);
    log.output(stream, &seen);
    for search in searches.iter_mut() {
        search.push(&seen);
    }
}

#[cfg(test)]
mod tests {
    use evidence::log::{Piece, Reader};

    use super::*;

    #[test]
    fn a_text_is_found_across_reads_and_in_no_other() {
        let seen = |pieces: &[&str], text: &str| {
            let mut search = Search::new(text);
            for piece in pieces {
                search.push(piece.as_bytes());
            }
            search.is_found
        };
        assert!(seen(&["boot o", "k\n"], "boot ok"));
        assert!(seen(&["bo", "ot", " ", "ok"], "boot ok"));
        assert!(!seen(&["boot o", "x", "k"], "boot ok"));
        assert!(seen(&["x"], ""));
        let mut search = Search::new("ok");
        assert_eq!(search.push(b"boot o"), None);
        assert_eq!(search.push(b"k ok"), Some(1));
        assert_eq!(search.push(b"ok"), None);
    }

    #[test]
    fn secrets_are_neither_in_the_log_nor_in_what_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let (live, events) = Live::new();
        let cancel = Cancel::default();
        let secrets = Secrets::new([("KEY", b"opensesame".as_slice())]).unwrap();
        let log = RunLog::create(
            folder.path(),
            1 << 20,
            Instant::now(),
            live,
            Gate::new(None, &cancel),
            &secrets,
        )
        .unwrap();
        log.begin_step(0, "make");
        drain(
            &b"a opensesame b"[..],
            Stream::Output,
            &log,
            &secrets,
            &mut [],
        );
        assert_eq!(log.tail(), "a [secret] b");
        log.note("no file opensesame");
        log.write_line("b3BlbnNlc2FtZQ== is missing");
        log.finish();
        let file = File::open(folder.path().join("log")).unwrap();
        let mut reader = Reader::new(file, &[], 0).unwrap();
        let mut written = Vec::new();
        while let Some(Piece::Output { bytes, .. }) = reader.next_piece().unwrap() {
            written.extend(bytes);
        }
        let written = String::from_utf8(written).unwrap();
        assert_eq!(
            written,
            "== make\na [secret] b\n-- no file [secret]\n-- b[secret]== is missing\n"
        );
        let told: Vec<Event> = events.collect();
        assert!(!format!("{told:?}").contains("sesame"));
    }

    #[test]
    fn a_program_says_what_is_to_be_kept_from_view() {
        let folder = tempfile::tempdir().unwrap();
        let (live, _events) = Live::new();
        let cancel = Cancel::default();
        let secrets = Secrets::new([]).unwrap();
        let gate = Gate::new(None, &cancel);
        let log = RunLog::create(folder.path(), 1 << 20, Instant::now(), live, gate, &secrets);
        let log = log.unwrap();
        log.begin_step(0, "make");
        let said = b"a opensesame\n::add-mask::opensesame\nb opensesame\n::add-mask::1234567\n";
        drain(&said[..], Stream::Output, &log, &secrets, &mut []);
        drain(
            &b"c opensesame\n"[..],
            Stream::Error,
            &log,
            &secrets,
            &mut [],
        );
        log.note("no file opensesame");
        log.finish();
        let file = File::open(folder.path().join("log")).unwrap();
        let mut reader = Reader::new(file, &[], 0).unwrap();
        let mut written = Vec::new();
        while let Some(Piece::Output { bytes, .. }) = reader.next_piece().unwrap() {
            written.extend(bytes);
        }
        let written = String::from_utf8(written).unwrap();
        let expected = "== make\na opensesame\n::add-mask::[secret]\nb [secret]\n::add-mask::[secret]\n\
            -- ::add-mask:: was not followed: the value is shorter than 8 bytes, too short to be kept from view\n\
            c [secret]\n-- no file [secret]\n";
        assert_eq!(written, expected);
    }
}
