//! `bench:host/log`: handler lines in the operator's log, bounded.

use super::Call;
use super::bindings::bench::host::log::{Host, Level};

/// Lines one request may write.
const LINES_MAX: u32 = 100;

/// Longest line in bytes.
const LINE_BYTES_MAX: usize = 4 << 10;

impl Host for Call {
    async fn write(&mut self, level: Level, mut message: String) {
        self.log_lines += 1;
        if self.log_lines > LINES_MAX {
            return;
        }
        if message.len() > LINE_BYTES_MAX {
            message.truncate(message.floor_char_boundary(LINE_BYTES_MAX));
        }
        let (request_id, handler) = (&self.request_id, &self.group);
        match level {
            Level::Debug => tracing::debug!(request_id, %handler, "{message}"),
            Level::Info => tracing::info!(request_id, %handler, "{message}"),
            Level::Warn => tracing::warn!(request_id, %handler, "{message}"),
            Level::Error => tracing::error!(request_id, %handler, "{message}"),
        }
    }
}
