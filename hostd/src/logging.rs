//! The log: text for people or one JSON object a line, on standard error.
//!
//! Secrets are kept out at the source: credentials live in types whose `Debug` redacts them, the
//! access line logs the path without its query, and credential headers never leave the gateway.

use tracing_subscriber::EnvFilter;

use crate::config::{LogConfig, LogFormat};

mod queue;

pub use queue::{Log, dropped};

/// Libraries that tell at length what hostd tells in a line of its own. `log.level` may name them.
const QUIET: &str = "probe_rs=warn";

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("read log.level {level}")]
    Filter {
        level: String,
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
    #[error("start the thread that writes the log")]
    Thread(#[source] std::io::Error),
}

/// Install the subscriber for this process. A second call leaves the first one in place. What is
/// logged is written when the [`Log`] is dropped, at the latest.
///
/// # Errors
/// A `log.level` that is not a filter, or no thread to write with.
pub fn init(config: &LogConfig) -> Result<Log, LogError> {
    let directives = format!("{QUIET},{}", config.level);
    let filter = EnvFilter::try_new(directives).map_err(|source| LogError::Filter {
        level: config.level.clone(),
        source,
    })?;
    let (queue, log) = queue::start(std::io::stderr()).map_err(LogError::Thread)?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(queue)
        .with_ansi(false);
    // An error here means that a subscriber is installed already, as in tests.
    let _ = match config.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    Ok(log)
}
