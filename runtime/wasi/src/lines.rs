//! What a guest prints, cut into lines.

use std::collections::VecDeque;

use wasmtime::component::Resource;

use crate::http::{BODIES, OutgoingBody};

/// Bytes of one line; a longer one becomes several.
pub const LINE_BYTES_MAX: usize = 4 << 10;

/// Lines of one call, of both outputs together; further ones are dropped.
pub const LINES_MAX: u32 = 1_000;

/// The last line of a call that prints too much.
const TOO_MANY: &str = "further lines of this call are dropped";

/// Where a line was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    Stdout,
    Stderr,
}

impl Output {
    /// Handles of it are all alike, so they need no table.
    pub(crate) fn resource(self) -> Resource<Self> {
        Resource::new_own(match self {
            Self::Stdout => 1,
            Self::Stderr => 2,
        })
    }

    /// The stream into a body.
    pub(crate) fn of_body(body: &Resource<OutgoingBody>) -> Resource<Self> {
        Resource::new_own(body.rep() + BODIES)
    }

    /// Where a handle leads.
    pub(crate) fn to(resource: &Resource<Self>) -> To {
        match resource.rep() {
            1 => To::Lines(Self::Stdout),
            2 => To::Lines(Self::Stderr),
            body => To::Body(Resource::new_borrow(body.saturating_sub(BODIES))),
        }
    }
}

/// Where a guest writes.
pub(crate) enum To {
    Lines(Output),
    Body(Resource<OutgoingBody>),
}

/// The unfinished line of each output, and how many lines there were.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    count: u32,
}

impl Lines {
    /// The lines that `bytes` complete.
    pub(crate) fn print(&mut self, output: Output, bytes: &[u8]) -> VecDeque<String> {
        let mut lines = VecDeque::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            for part in text.chunks(LINE_BYTES_MAX) {
                if self.held(output).len() + part.len() > LINE_BYTES_MAX {
                    lines.extend(self.end(output));
                }
                self.held(output).extend_from_slice(part);
            }
            if ends {
                lines.extend(self.end(output));
            }
            if self.count > LINES_MAX {
                break;
            }
        }
        lines
    }

    /// The unfinished line.
    pub(crate) fn rest(&mut self, output: Output) -> Option<String> {
        if self.held(output).is_empty() {
            return None;
        }
        self.end(output)
    }

    fn end(&mut self, output: Output) -> Option<String> {
        let line = std::mem::take(self.held(output));
        if self.count > LINES_MAX {
            return None;
        }
        self.count += 1;
        if self.count > LINES_MAX {
            return Some(TOO_MANY.to_owned());
        }
        let text = String::from_utf8_lossy(&line);
        let plain = |c: char| match c {
            '\t' => c,
            _ if c.is_control() => char::REPLACEMENT_CHARACTER,
            _ => c,
        };
        Some(text.trim_end_matches('\r').chars().map(plain).collect())
    }

    fn held(&mut self, output: Output) -> &mut Vec<u8> {
        match output {
            Output::Stdout => &mut self.stdout,
            Output::Stderr => &mut self.stderr,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_and_plain() {
        let mut lines = Lines::default();
        assert!(lines.print(Output::Stdout, b"one, ").is_empty());
        assert_eq!(lines.print(Output::Stderr, b"other\r\n"), ["other"]);
        let printed = lines.print(Output::Stdout, b"two\n\n\x1b[31mred\xff\nrest");
        assert_eq!(printed, ["one, two", "", "\u{fffd}[31mred\u{fffd}"]);
        assert_eq!(lines.rest(Output::Stdout).as_deref(), Some("rest"));
        assert_eq!(lines.rest(Output::Stdout), None);
    }

    #[test]
    fn a_long_line_is_cut_and_many_end_with_a_word_about_it() {
        let mut lines = Lines::default();
        let long = vec![b'x'; 2 * LINE_BYTES_MAX + 1];
        let printed = lines.print(Output::Stdout, &long);
        assert_eq!(printed.len(), 2);
        assert!(printed.iter().all(|line| line.len() == LINE_BYTES_MAX));
        assert_eq!(lines.rest(Output::Stdout).as_deref(), Some("x"));
        let many = vec![b'\n'; 5_000];
        let printed = lines.print(Output::Stderr, &many);
        assert_eq!(printed.len(), 998);
        assert_eq!(printed.back().map(String::as_str), Some(TOO_MANY));
        assert!(lines.print(Output::Stdout, b"more\n").is_empty());
        assert_eq!(lines.rest(Output::Stdout), None);
    }
}
