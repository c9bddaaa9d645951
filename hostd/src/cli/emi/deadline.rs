//! How long a board is looked at.

use std::io::{self, Write};
use std::process;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::LATE;

/// How long after its time a check has to end by itself and to write what it has. Then the process ends without a report: something
/// in the board takes long where nobody asks for the time.
const GRACE: Duration = Duration::from_secs(10);

/// When a check has to end.
pub(super) struct Deadline {
    limit: Duration,
    at: Instant,
    /// The thread that waits for the end of the process ends when this is dropped.
    _wait: Sender<()>,
}

impl Deadline {
    /// Time begins to run.
    ///
    /// # Errors
    /// No thread can be started.
    pub(super) fn after(limit: Duration) -> anyhow::Result<Self> {
        let (_wait, end) = mpsc::channel::<()>();
        let begun = Instant::now();
        let hard = limit.saturating_add(GRACE);
        thread::Builder::new()
            .name("deadline".to_owned())
            .spawn(move || {
                if end.recv_timeout(hard) == Err(RecvTimeoutError::Timeout) {
                    complain(limit, "nothing of the report could be made");
                    process::exit(i32::from(LATE));
                }
            })
            .context("start a thread that watches the time")?;
        Ok(Self {
            limit,
            at: begun.checked_add(limit).unwrap_or(begun),
            _wait,
        })
    }

    /// Whether it is over.
    pub(super) fn is_over(&self) -> bool {
        self.at <= Instant::now()
    }

    /// Says on standard error that it is over, and what is missing.
    pub(super) fn complain(&self, missing: &str) {
        complain(self.limit, missing);
    }
}

fn complain(limit: Duration, missing: &str) {
    // Whom standard error does not reach, the exit code does.
    let _ = writeln!(
        io::stderr(),
        "hostd: the time limit of {limit:?} was over: {missing}; --time-limit sets another one"
    );
}
