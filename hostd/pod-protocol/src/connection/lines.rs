//! Newline-terminated lines over a connection, with a bound on their length.
//!
//! Reading can be cancelled at any await without losing bytes: a partial line stays here until the
//! rest arrives.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes read from the connection at once.
const READ_BYTES: usize = 16 * 1024;

/// Why a line could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The connection failed.
    #[error("the connection failed")]
    Io(#[source] io::Error),
    /// The other side sent more than a line may hold. The rest of that line will be skipped.
    #[error("a line exceeds {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
}

/// Lines read from and written to a stream.
pub struct Lines<S> {
    stream: S,
    limit: usize,
    buffer: Vec<u8>,
    /// First byte that no caller has seen.
    start: usize,
    /// Bytes after `start` already searched for a newline.
    searched: usize,
    /// The rest of an overlong line is still arriving.
    skipping: bool,
    /// The last line that was read lacked its newline.
    cut: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Lines<S> {
    /// Reads lines of at most `limit` bytes (without the newline) from `stream`.
    pub fn new(stream: S, limit: usize) -> Self {
        Self {
            stream,
            limit,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            skipping: false,
            cut: false,
        }
    }

    /// The next line without its terminator, or `None` at the end of the stream.
    /// A last line that lacks its newline counts as a line.
    ///
    /// # Errors
    /// [`LineError::TooLong`] once for an overlong line; the next call continues after it.
    /// [`LineError::Io`] when the stream fails.
    pub async fn read(&mut self) -> Result<Option<&[u8]>, LineError> {
        let (from, to) = loop {
            if let Some(end) = self.find_newline() {
                let from = self.start;
                self.start = end + 1;
                self.searched = 0;
                if self.skipping {
                    self.skipping = false;
                    continue;
                }
                if end - from > self.limit {
                    return Err(LineError::TooLong { limit: self.limit });
                }
                break (from, end);
            }
            if self.skipping {
                self.forget_buffered();
            } else if self.buffer.len() - self.start > self.limit {
                self.forget_buffered();
                self.skipping = true;
                return Err(LineError::TooLong { limit: self.limit });
            }
            if self.fill().await? == 0 {
                if self.start == self.buffer.len() || self.skipping {
                    return Ok(None);
                }
                let from = self.start;
                self.start = self.buffer.len();
                self.searched = 0;
                self.cut = true;
                break (from, self.buffer.len());
            }
        };
        let line = &self.buffer[from..to];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Whether the stream ended within the line that was read last.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Writes `line`, which must hold no newline, and its terminator.
    ///
    /// # Errors
    /// The stream's error.
    pub async fn write(&mut self, mut line: Vec<u8>) -> Result<(), LineError> {
        debug_assert!(!line.contains(&b'\n'), "a line holds no newline");
        line.push(b'\n');
        self.stream.write_all(&line).await.map_err(LineError::Io)?;
        self.stream.flush().await.map_err(LineError::Io)
    }

    /// Returns when the other side has closed. Bytes that arrive meanwhile are kept for
    /// [`read`](Self::read); when a full line's worth is waiting, the wait never ends.
    pub async fn closed(&mut self) {
        while self.buffer.len() - self.start <= self.limit {
            match self.fill().await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
        std::future::pending::<()>().await;
    }

    /// Raw bytes, for a connection that temporarily carries something other than lines: at most
    /// `most`, none at the end of the stream. Cancelling loses nothing.
    ///
    /// # Errors
    /// The stream's error.
    pub async fn read_raw(&mut self, most: usize) -> Result<Vec<u8>, LineError> {
        if self.start == self.buffer.len() && self.fill().await? == 0 {
            return Ok(Vec::new());
        }
        let end = self.buffer.len().min(self.start + most);
        let bytes = self.buffer[self.start..end].to_vec();
        self.start = end;
        self.searched = 0;
        Ok(bytes)
    }

    /// Exactly so many raw bytes after a line. `None` if the stream ends before. Cancelling loses nothing.
    ///
    /// # Errors
    /// The stream's error.
    pub async fn read_bytes(&mut self, count: usize) -> Result<Option<&[u8]>, LineError> {
        while self.buffer.len() - self.start < count {
            let missing = count - (self.buffer.len() - self.start);
            self.buffer.reserve(missing);
            if self.fill().await? == 0 {
                return Ok(None);
            }
        }
        let from = self.start;
        self.start += count;
        self.searched = 0;
        Ok(Some(&self.buffer[from..from + count]))
    }

    /// Writes bytes without a terminator.
    ///
    /// # Errors
    /// The stream's error.
    pub async fn write_raw(&mut self, bytes: &[u8]) -> Result<(), LineError> {
        self.stream.write_all(bytes).await.map_err(LineError::Io)?;
        self.stream.flush().await.map_err(LineError::Io)
    }

    /// The stream, and the bytes received from it but not yet read.
    pub fn into_parts(mut self) -> (S, Vec<u8>) {
        self.buffer.drain(..self.start);
        (self.stream, self.buffer)
    }

    fn find_newline(&mut self) -> Option<usize> {
        let from = self.start + self.searched;
        let found = self.buffer[from..].iter().position(|byte| *byte == b'\n');
        if found.is_none() {
            self.searched = self.buffer.len() - self.start;
        }
        found.map(|offset| from + offset)
    }

    fn forget_buffered(&mut self) {
        self.buffer.clear();
        self.start = 0;
        self.searched = 0;
    }

    async fn fill(&mut self) -> Result<usize, LineError> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.reserve(READ_BYTES);
        let read = self.stream.read_buf(&mut self.buffer).await;
        read.map_err(LineError::Io)
    }
}

#[cfg(test)]
mod tests;
