//! The body of a response: what the guest writes goes to its reader while it writes.
//!
//! A guest waits for its reader only when the room between them is full, so that a slow reader of an ordinary response holds
//! memory and no guest.

use std::io;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use tokio::sync::{mpsc, oneshot};

use super::{ErrorCode, Headers};

/// Largest part; a guest may write as much at once.
pub const PART_BYTES_MAX: usize = 64 << 10;

/// Parts that may wait for the reader.
pub const PARTS_MAX: usize = 64;

/// The reading end.
#[derive(Debug)]
pub struct Reader {
    /// Parts in order. An error says that the guest ended before its response did.
    pub parts: mpsc::Receiver<io::Result<Bytes>>,
    /// How many bytes the guest says there will be, which is then checked.
    pub length: Option<u64>,
    /// What the guest adds behind the last part; gone without a word if it adds nothing.
    pub trailers: oneshot::Receiver<Headers>,
}

/// The writing end. If it goes before [`Pipe::finish`], the reader is told that the rest is missing.
#[derive(Debug)]
pub(crate) struct Pipe {
    parts: mpsc::Sender<io::Result<Bytes>>,
    /// Room for the word that the rest is missing; none once everything is there.
    last_word: Option<mpsc::OwnedPermit<io::Result<Bytes>>>,
    trailers: Option<oneshot::Sender<Headers>>,
    /// Written, while there is no room.
    held: BytesMut,
    written: u64,
    length: Option<u64>,
    audience: Audience,
}

/// Who reads.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Audience {
    /// Nobody, which is as it should be: the body of an answer to `HEAD`.
    pub(crate) is_none: bool,
    /// A reader for whom the guest waits at this time is as good as gone.
    pub(crate) read_by: Option<Instant>,
}

/// When there is room, or nobody who reads. Whoever holds it does not hold up the end of the body.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    parts: mpsc::WeakSender<io::Result<Bytes>>,
    read_by: Option<Instant>,
}

/// Why nothing more can be written.
#[derive(Debug)]
pub(crate) enum WriteError {
    /// The reader is gone.
    Closed,
    Failed(ErrorCode),
}

/// Both ends.
pub(crate) fn pipe(length: Option<u64>, audience: Audience) -> (Pipe, Reader) {
    let (parts, receiver) = mpsc::channel(PARTS_MAX + 1);
    let (tell, trailers) = oneshot::channel();
    let last_word = parts.clone().try_reserve_owned().ok();
    let pipe = Pipe {
        parts,
        last_word,
        trailers: Some(tell),
        held: BytesMut::new(),
        written: 0,
        length,
        audience,
    };
    let reader = Reader {
        parts: receiver,
        length,
        trailers,
    };
    (pipe, reader)
}

impl Pipe {
    /// Bytes that can be written without waiting.
    pub(crate) fn room(&mut self) -> Result<usize, WriteError> {
        self.pass_on()?;
        Ok(PART_BYTES_MAX - self.held.len())
    }

    /// Write as much as there is room for.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let written = self.written + bytes.len() as u64;
        if let Some(length) = self
            .length
            .filter(|length| written > *length && !self.audience.is_none)
        {
            return Err(WriteError::Failed(ErrorCode::HttpResponseBodySize(Some(
                length,
            ))));
        }
        self.written = written;
        self.held.extend_from_slice(bytes);
        self.pass_on()
    }

    /// To wait for.
    pub(crate) fn when_room(&self) -> Room {
        Room {
            parts: self.parts.downgrade(),
            read_by: self.audience.read_by,
        }
    }

    /// Whether something waits for room.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.held.is_empty()
    }

    /// Everything was written.
    pub(crate) fn finish(mut self, trailers: Option<Headers>) -> Result<(), ErrorCode> {
        if self.is_waiting() {
            return Err(ErrorCode::ConnectionTerminated);
        }
        if self.length.is_some_and(|length| length != self.written) && !self.audience.is_none {
            return Err(ErrorCode::HttpResponseBodySize(Some(self.written)));
        }
        if let (Some(trailers), Some(tell)) = (trailers, self.trailers.take()) {
            let _ = tell.send(trailers);
        }
        self.last_word = None;
        Ok(())
    }

    /// Whether all that was promised has left: a reader that has it all may go.
    fn is_whole(&self) -> bool {
        self.held.is_empty() && self.length == Some(self.written)
    }

    fn pass_on(&mut self) -> Result<(), WriteError> {
        use mpsc::error::TrySendError;
        if self.held.is_empty() && !self.parts.is_closed() {
            return Ok(());
        }
        match self.parts.try_reserve() {
            Ok(permit) => permit.send(Ok(self.held.split().freeze())),
            Err(TrySendError::Full(())) if self.when_room().is_over() => {
                return Err(WriteError::Closed);
            }
            Err(TrySendError::Full(())) => {}
            Err(TrySendError::Closed(())) if self.audience.is_none || self.is_whole() => {
                self.held.clear();
            }
            Err(TrySendError::Closed(())) => return Err(WriteError::Closed),
        }
        Ok(())
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        if let Some(last_word) = self.last_word.take() {
            let missing = io::Error::other("it ended before its response did");
            last_word.send(Err(missing));
        }
    }
}

impl Room {
    /// Whether the guest has waited for long enough.
    fn is_over(&self) -> bool {
        self.read_by.is_some_and(|by| by <= Instant::now())
    }

    /// Whether nothing need be waited for.
    pub(crate) fn is_there(&self) -> bool {
        let has_room = |parts: mpsc::Sender<_>| parts.capacity() > 0 || parts.is_closed();
        self.parts.upgrade().is_none_or(has_room) || self.is_over()
    }

    /// Wait. Needs a tokio runtime with time.
    pub(crate) async fn wait(self) {
        let Some(parts) = self.parts.upgrade() else {
            return;
        };
        let room = parts.reserve();
        match self.read_by {
            Some(by) => drop(tokio::time::timeout_at(by.into(), room).await),
            None => drop(room.await),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn parts_arrive_in_order_and_what_waits_comes_together() {
        let (mut pipe, mut reader) = pipe(None, Audience::default());
        for _ in 0..PARTS_MAX {
            pipe.write(b"a").unwrap();
        }
        assert!(!pipe.is_waiting());
        pipe.write(b"b").unwrap();
        pipe.write(b"c").unwrap();
        assert_eq!(pipe.room().unwrap(), PART_BYTES_MAX - 2);
        for _ in 0..PARTS_MAX {
            assert_eq!(reader.parts.recv().await.unwrap().unwrap(), "a");
        }
        pipe.when_room().wait().await;
        assert_eq!(pipe.room().unwrap(), PART_BYTES_MAX);
        assert_eq!(reader.parts.recv().await.unwrap().unwrap(), "bc");
        let trailers = vec![("x-sum".to_owned(), b"1".to_vec())];
        pipe.finish(Some(trailers.clone())).unwrap();
        assert!(reader.parts.recv().await.is_none());
        assert_eq!(reader.trailers.await.unwrap(), trailers);
    }

    #[tokio::test]
    async fn what_ends_early_says_so_although_there_is_no_room() {
        let (mut pipe, mut reader) = pipe(None, Audience::default());
        for _ in 0..=PARTS_MAX {
            pipe.write(b"a").unwrap();
        }
        drop(pipe);
        for _ in 0..PARTS_MAX {
            reader.parts.recv().await.unwrap().unwrap();
        }
        assert!(reader.parts.recv().await.unwrap().is_err());
        assert!(reader.parts.recv().await.is_none());
    }

    #[tokio::test]
    async fn what_was_promised_is_kept_or_told() {
        let (mut more, mut reader) = pipe(Some(2), Audience::default());
        more.write(b"ab").unwrap();
        assert!(matches!(more.write(b"c"), Err(WriteError::Failed(_))));
        assert!(more.finish(None).is_ok());
        assert_eq!(reader.parts.recv().await.unwrap().unwrap(), "ab");
        let (mut fewer, mut reader) = pipe(Some(2), Audience::default());
        fewer.write(b"a").unwrap();
        assert!(fewer.finish(None).is_err());
        reader.parts.recv().await.unwrap().unwrap();
        assert!(reader.parts.recv().await.unwrap().is_err());
    }

    #[tokio::test]
    async fn a_reader_that_takes_too_long_is_as_good_as_gone() {
        let audience = Audience {
            is_none: false,
            read_by: Some(Instant::now()),
        };
        let (mut pipe, mut reader) = super::pipe(None, audience);
        for _ in 0..PARTS_MAX {
            pipe.write(b"a").unwrap();
        }
        assert!(matches!(pipe.write(b"b"), Err(WriteError::Closed)));
        pipe.when_room().wait().await;
        assert!(pipe.when_room().is_there());
        assert!(pipe.finish(None).is_err());
        for _ in 0..PARTS_MAX {
            reader.parts.recv().await.unwrap().unwrap();
        }
        assert!(reader.parts.recv().await.unwrap().is_err());
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_is_noticed_unless_none_was_to_be() {
        let (mut pipe, reader) = super::pipe(None, Audience::default());
        drop(reader);
        assert!(matches!(pipe.write(b"a"), Err(WriteError::Closed)));
        let nobody = Audience {
            is_none: true,
            read_by: None,
        };
        let (mut head, reader) = super::pipe(Some(7), nobody);
        drop(reader);
        head.write(b"a").unwrap();
        assert!(head.finish(None).is_ok());
    }

    #[tokio::test]
    async fn a_reader_that_has_all_that_was_promised_may_go() {
        let (mut pipe, mut reader) = super::pipe(Some(1), Audience::default());
        pipe.write(b"a").unwrap();
        assert_eq!(reader.parts.recv().await.unwrap().unwrap(), "a");
        drop(reader);
        assert!(pipe.room().is_ok());
        assert!(matches!(pipe.write(b"b"), Err(WriteError::Failed(_))));
        assert!(pipe.finish(None).is_ok());
    }

    #[tokio::test]
    async fn who_waits_for_room_does_not_hold_up_the_end() {
        let (pipe, mut reader) = super::pipe(None, Audience::default());
        let room = pipe.when_room();
        pipe.finish(None).unwrap();
        assert!(reader.parts.recv().await.is_none());
        assert!(room.is_there());
        room.wait().await;
    }
}
