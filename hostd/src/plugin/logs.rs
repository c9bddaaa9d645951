//! The last lines of a plugin: what it wrote, and what became of it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use base::clock::Clock;
use base::logging::redact;
use serde::{Deserialize, Serialize};

/// Lines that are kept.
pub const LINES_MAX: usize = 2_000;

/// Longest line in bytes; the rest is cut.
const LINE_BYTES_MAX: usize = 4 << 10;

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Counts the lines of the plugin, from 0; gaps are lines that are gone.
    pub number: u64,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    pub level: Level,
    /// Empty for what the server itself says of the plugin.
    pub request_id: String,
    pub message: String,
}

/// A bounded list of lines that survives the versions of a plugin, but not the server.
#[derive(Debug)]
pub struct Logs {
    plugin: String,
    clock: Clock,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<Line>,
    next: u64,
}

impl Logs {
    /// The log of the plugin with this id.
    #[must_use]
    pub fn new(plugin: &str, clock: Clock) -> Self {
        Self {
            plugin: plugin.to_owned(),
            clock,
            kept: Mutex::default(),
        }
    }

    /// Keep a line, and pass it on to the log of the server.
    pub fn write(&self, level: Level, request_id: &str, message: impl AsRef<str>) {
        let message = printable(message.as_ref());
        let plugin = self.plugin.as_str();
        match level {
            Level::Debug => tracing::debug!(plugin, request_id, "{message}"),
            Level::Info => tracing::info!(plugin, request_id, "{message}"),
            Level::Warn => tracing::warn!(plugin, request_id, "{message}"),
            Level::Error => tracing::error!(plugin, request_id, "{message}"),
        }
        let message = String::from_utf8_lossy(&redact(message.as_bytes())).into_owned();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.lines.len() == LINES_MAX {
            kept.lines.pop_front();
        }
        let number = kept.next;
        kept.next += 1;
        kept.lines.push_back(Line {
            number,
            at_ms: self.clock.now_ms(),
            level,
            request_id: request_id.to_owned(),
            message,
        });
    }

    /// Lines from number `from` on, oldest first.
    #[must_use]
    pub fn since(&self, from: u64) -> Vec<Line> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let later = kept.lines.iter().filter(|line| line.number >= from);
        later.cloned().collect()
    }
}

/// One line that neither a terminal nor a reader of logs takes for anything else.
fn printable(message: &str) -> String {
    let cut = &message[..message.floor_char_boundary(LINE_BYTES_MAX)];
    let mut line = String::with_capacity(cut.len());
    for letter in cut.chars() {
        if letter.is_control() {
            line.extend(letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    line.truncate(line.floor_char_boundary(LINE_BYTES_MAX));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_with_their_numbers() {
        let logs = Logs::new("acme.x", Clock::system());
        for n in 0..LINES_MAX + 3 {
            logs.write(Level::Debug, "r", format!("line {n}"));
        }
        let kept = logs.since(0);
        assert_eq!(kept.len(), LINES_MAX);
        assert_eq!((kept[0].number, kept[0].message.as_str()), (3, "line 3"));
        assert_eq!(logs.since(LINES_MAX as u64 + 2).len(), 1);
    }

    #[test]
    fn lines_are_cut_between_characters_and_stay_lines_without_credentials() {
        let logs = Logs::new("acme.x", Clock::system());
        logs.write(Level::Info, "", "ü".repeat(LINE_BYTES_MAX));
        logs.write(
            Level::Info,
            "",
            "bk_4fPq0aZ81LmN_0123456789abcdefghijABCDEFGHIJ0123",
        );
        let kept = logs.since(0);
        assert_eq!(kept[0].message.len(), LINE_BYTES_MAX);
        logs.write(Level::Info, "", "a\nb \u{1b}[31m");
        assert_eq!(logs.since(2)[0].message, r"a\nb \u{1b}[31m");
        assert!(
            !kept[1].message.contains("abcdefghij"),
            "{}",
            kept[1].message
        );
    }
}
