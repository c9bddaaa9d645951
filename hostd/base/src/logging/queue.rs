//! The path of log lines to standard error: a bounded queue and a thread that writes, so that a slow
//! or stalled reader of the log holds up no request. Lines that find no room are counted and
//! reported, never waited for.

use std::io::{self, Write};
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use super::redact::redact;

/// Lines that may wait to be written: a busy server's second.
const LINES_MAX: usize = 16_384;

/// Lines written with one system call.
const LINES_AT_ONCE_MAX: usize = 512;

/// How long the writer rests after it has written, and so how late a line may be. Meanwhile nobody wakes it: that
/// would be a tenth of what a small request costs.
const REST: Duration = Duration::from_millis(2);

/// Lines dropped since the process began.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// How many lines found no room since the process began.
#[must_use]
pub fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

enum Item {
    Line(Vec<u8>),
    End,
}

/// Takes lines and never waits. The lines are counted here, since a channel with a bound takes room for all of them,
/// and the time to write to it, when it is made.
#[derive(Clone)]
pub(super) struct Queue(Arc<Inlet>);

struct Inlet {
    sender: Sender<Item>,
    waiting: Arc<AtomicUsize>,
}

/// Writes out what is queued when it is dropped.
#[derive(Debug)]
pub struct Log {
    sender: Sender<Item>,
    writer: Option<JoinHandle<()>>,
}

/// A queue whose lines go to `target` on a thread of its own.
///
/// # Errors
/// The thread cannot be started.
pub(super) fn start(target: impl Write + Send + 'static) -> io::Result<(Queue, Log)> {
    let (sender, receiver) = channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let counted = waiting.clone();
    // Read before the thread runs, or it would not report what is dropped until then.
    let told = dropped();
    let writer = thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || write_all(&receiver, &counted, target, told))?;
    let log = Log {
        sender: sender.clone(),
        writer: Some(writer),
    };
    Ok((Queue(Arc::new(Inlet { sender, waiting })), log))
}

fn write_all(
    receiver: &Receiver<Item>,
    waiting: &AtomicUsize,
    mut target: impl Write,
    mut told: u64,
) {
    let mut ended = false;
    while !ended && let Ok(first) = receiver.recv() {
        let mut text = Vec::new();
        let mut lines = 0;
        for item in iter::once(first).chain(receiver.try_iter().take(LINES_AT_ONCE_MAX)) {
            match item {
                Item::Line(line) => {
                    text.extend_from_slice(&redact(&line));
                    lines += 1;
                }
                Item::End => ended = true,
            }
        }
        // If standard error is closed, there is nobody to tell.
        let _ = target.write_all(&text);
        waiting.fetch_sub(lines, Ordering::Relaxed);
        let dropped = dropped();
        if dropped > told {
            let lines = dropped - told;
            let _ = writeln!(target, "hostd: {lines} lines of the log were dropped");
            told = dropped;
        }
        if !ended {
            thread::sleep(REST);
        }
    }
    let _ = target.flush();
}

impl Drop for Log {
    fn drop(&mut self) {
        // Queued behind everything else; a writer that is gone needs no notice.
        let _ = self.sender.send(Item::End);
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Write for Queue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let Inlet { sender, waiting } = &*self.0;
        let is_full = waiting.fetch_add(1, Ordering::Relaxed) >= LINES_MAX;
        if is_full || sender.send(Item::Line(line.to_vec())).is_err() {
            waiting.fetch_sub(1, Ordering::Relaxed);
        }
        if is_full {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Queue {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A target that accepts nothing until the test allows it.
    #[derive(Clone)]
    struct Gated {
        gate: Arc<Mutex<()>>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Gated {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _open = self.gate.lock().unwrap();
            self.written.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_stands_still_holds_nobody_up() {
        let target = Gated {
            gate: Arc::default(),
            written: Arc::default(),
        };
        let (mut queue, log) = start(target.clone()).unwrap();
        let before = dropped();
        let shut = target.gate.lock().unwrap();
        // Those that the writer holds count, too.
        for _ in 0..LINES_MAX + 11 {
            queue.write_all(b"line\n").unwrap();
        }
        let lost = dropped() - before;
        assert_eq!(lost, 11);
        drop(shut);
        drop(log);
        let written = target.written.lock().unwrap();
        let written = String::from_utf8_lossy(&written).into_owned();
        let lines = written.lines().filter(|line| *line == "line").count();
        assert_eq!(lines as u64 + lost, LINES_MAX as u64 + 11);
        assert!(written.contains(&format!("hostd: {lost} lines of the log were dropped")));
    }
}
