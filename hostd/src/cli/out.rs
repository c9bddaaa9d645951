//! Standard output, whose reader may have read enough: `hostd key list | head -1`.

use std::io::{self, Stdout, Write};

/// The exit code of a program that SIGPIPE ends, as shells tell it: 128 and the number of the signal.
pub const UNREAD: u8 = 128 + 13;

/// Nobody reads standard output any more.
#[derive(Debug, thiserror::Error)]
#[error("print: nobody reads it")]
struct Unread;

/// Standard output that knows whether it was closed by its reader. Sockets can be closed, too, and mean something else.
#[derive(Debug)]
pub struct Out(Stdout);

impl Out {
    #[must_use]
    pub fn new() -> Self {
        Self(io::stdout())
    }
}

impl Default for Out {
    fn default() -> Self {
        Self::new()
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(marked)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(marked)
    }
}

fn marked(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => io::Error::new(io::ErrorKind::BrokenPipe, Unread),
        _ => error,
    }
}

/// Whether a command failed since nobody reads what it prints, which is nothing to complain of.
#[must_use]
pub fn is_unread(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let error = cause.downcast_ref::<io::Error>();
        error
            .and_then(io::Error::get_ref)
            .is_some_and(|inner| inner.is::<Unread>())
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn only_a_closed_standard_output_is_no_complaint() {
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        let printed: Result<(), _> = Err(marked(closed()));
        assert!(is_unread(&printed.context("print the keys").unwrap_err()));
        let sent: Result<(), _> = Err(closed());
        assert!(!is_unread(&sent.context("ask the server").unwrap_err()));
        let full = marked(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    }
}
