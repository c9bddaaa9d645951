//! The log: text for people or one JSON object per line, on standard error.
//!
//! Secrets are kept out at the source: credentials live in types whose `Debug` redacts them, the
//! access line logs the path without its query, and credential headers never leave the gateway.
//! Secrets that callers put elsewhere, such as a key pasted into a path, are redacted from every
//! line that is written.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::{Display, Write as _};
use std::io::Write as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::config::{LogConfig, LogFormat};

mod queue;
mod redact;

pub use queue::{Log, dropped};
pub use redact::redact;

/// Libraries that log at length what hostd logs in one line of its own. `log.level` may name them.
const QUIET: &str = "probe_rs=warn";

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("read log.level {level}")]
    Filter {
        level: String,
        #[source]
        source: ParseError,
    },
    #[error("start the thread that writes the log")]
    Thread(#[source] std::io::Error),
}

/// Install the subscriber for this process. A second call leaves the first one in place. Everything
/// logged is written at the latest when the [`Log`] is dropped.
///
/// # Errors
/// A `log.level` that is not a filter, or no thread to write with.
pub fn init(config: &LogConfig) -> Result<Log, LogError> {
    let filter = filter(&config.level).map_err(|source| LogError::Filter {
        level: config.level.clone(),
        source,
    })?;
    let (queue, log) = queue::start(std::io::stderr()).map_err(LogError::Thread)?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(queue)
        .with_ansi(false);
    // An error here means that a subscriber is already installed, as in tests.
    let _ = match config.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    Ok(log)
}

/// What `log.level` lets through.
///
/// # Errors
/// It is not a filter.
pub(crate) fn filter(level: &str) -> Result<EnvFilter, ParseError> {
    EnvFilter::try_new(format!("{QUIET},{level}"))
}

/// Make panics print to standard error as usual, but without secrets: a panic message may hold what
/// a caller sent.
pub fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let trace = Backtrace::capture();
        let text = panic_text(thread.name().unwrap_or("?"), panic, &trace);
        // If standard error is closed, there is nobody to tell.
        let _ = std::io::stderr().write_all(&text);
    }));
}

fn panic_text(thread: &str, panic: &dyn Display, trace: &Backtrace) -> Vec<u8> {
    let mut text = format!("hostd: thread {thread} {panic}\n");
    if trace.status() == BacktraceStatus::Captured {
        let _ = writeln!(text, "{trace}");
    }
    redact(text.as_bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_tells_no_secret() {
        let said = "panicked at x.rs:1:2:\nno device bk_AAAAbbbb1234_0123456789abcdefABCDEF";
        let text = panic_text("log", &said, &Backtrace::disabled());
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "hostd: thread log panicked at x.rs:1:2:\nno device bk_AAAAbbbb1234_[redacted]\n"
        );
    }
}
