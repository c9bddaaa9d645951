//! The path of log lines to standard error: a bounded queue and a thread that writes, so that a slow
//! or stalled reader of the log holds up no request. Lines that find no room are counted and
//! reported, never waited for.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use tracing_subscriber::fmt::MakeWriter;

use super::redact::redact;

/// Lines that may wait to be written: a busy server's second.
const LINES_MAX: usize = 16_384;

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

/// Takes lines and never waits.
#[derive(Clone)]
pub(super) struct Queue(Arc<SyncSender<Item>>);

/// Writes out what is queued when it is dropped.
#[derive(Debug)]
pub struct Log {
    sender: SyncSender<Item>,
    writer: Option<JoinHandle<()>>,
}

/// A queue whose lines go to `target` on a thread of its own.
///
/// # Errors
/// The thread cannot be started.
pub(super) fn start(target: impl Write + Send + 'static) -> io::Result<(Queue, Log)> {
    let (sender, receiver) = sync_channel(LINES_MAX);
    // Read before the thread runs, or it would not report what is dropped until then.
    let told = dropped();
    let writer = std::thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || write_all(&receiver, target, told))?;
    let log = Log {
        sender: sender.clone(),
        writer: Some(writer),
    };
    Ok((Queue(Arc::new(sender)), log))
}

fn write_all(receiver: &Receiver<Item>, mut target: impl Write, mut told: u64) {
    while let Ok(Item::Line(line)) = receiver.recv() {
        // If standard error is closed, there is nobody to tell.
        let _ = target.write_all(&redact(&line));
        let dropped = dropped();
        if dropped > told {
            let lines = dropped - told;
            let _ = writeln!(target, "hostd: {lines} lines of the log were dropped");
            told = dropped;
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
        if let Err(TrySendError::Full(_)) = self.0.try_send(Item::Line(line.to_vec())) {
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
        // The writer holds one line at most.
        for _ in 0..LINES_MAX + 11 {
            queue.write_all(b"line\n").unwrap();
        }
        let lost = dropped() - before;
        assert!((10..=11).contains(&lost), "{lost}");
        drop(shut);
        drop(log);
        let written = target.written.lock().unwrap();
        let written = String::from_utf8_lossy(&written).into_owned();
        let lines = written.lines().filter(|line| *line == "line").count();
        assert_eq!(lines as u64 + lost, LINES_MAX as u64 + 11);
        assert!(written.contains(&format!("hostd: {lost} lines of the log were dropped")));
    }
}
