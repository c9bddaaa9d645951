//! The log: text for people or one JSON object a line, on standard error.
//!
//! Secrets are kept out at the source: credentials live in types whose `Debug` redacts them, the
//! access line logs the path without its query, and credential headers never leave the gateway.

use tracing_subscriber::EnvFilter;

use crate::config::{LogConfig, LogFormat};

/// A log filter that cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("log.level {level}")]
pub struct FilterError {
    level: String,
    #[source]
    source: tracing_subscriber::filter::ParseError,
}

/// Install the subscriber for this process. A second call leaves the first one in place.
///
/// # Errors
/// A `log.level` that is not a filter.
pub fn init(config: &LogConfig) -> Result<(), FilterError> {
    let filter = EnvFilter::try_new(&config.level).map_err(|source| FilterError {
        level: config.level.clone(),
        source,
    })?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false);
    // An error here means that a subscriber is installed already, as in tests.
    let _ = match config.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    Ok(())
}
