//! What moves the frames of a link, both ways at once.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use super::frame::{HEADER_BYTES, Header, Kind};
use super::greeting::read_more;
use super::link::{KEEP_ALIVE, LinkError, SILENCE_MAX};
use super::shared::{Shared, WRITE_BYTES};

/// What a link reads from and writes to, with what was read beyond the greetings.
pub(super) struct Wires<R, W> {
    pub(super) reader: R,
    pub(super) writer: W,
    pub(super) buffer: BytesMut,
}

/// Ends the link, also when what drives it is dropped.
struct Ends(Arc<Shared>);

impl Drop for Ends {
    fn drop(&mut self) {
        if self.0.state().ended.is_none() {
            self.0.end("the link was closed");
        }
    }
}

pub(super) async fn drive<R, W>(shared: Arc<Shared>, wires: Wires<R, W>) -> LinkError
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
{
    let ends = Ends(shared);
    let shared = &ends.0;
    let Wires {
        reader,
        writer,
        buffer,
    } = wires;
    let ended = tokio::select! {
        ended = receive(shared, reader, buffer) => ended,
        ended = send(shared, writer) => ended,
    };
    let Err(error) = ended;
    shared.end(&error.to_string());
    error
}

async fn receive(
    shared: &Shared,
    mut reader: impl AsyncRead + Unpin,
    mut buffer: BytesMut,
) -> Result<Infallible, LinkError> {
    loop {
        while let Some(header) = buffer.first_chunk::<HEADER_BYTES>() {
            let header = Header::of(*header, shared.ours.frame_bytes)?;
            let end = HEADER_BYTES + header.length as usize;
            let Some(bytes) = buffer.get(HEADER_BYTES..end) else {
                break;
            };
            shared.take(header, bytes)?;
            buffer.advance(end);
        }
        timeout(SILENCE_MAX, read_more(&mut reader, &mut buffer))
            .await
            .map_err(|_| LinkError::Silent)??;
    }
}

async fn send(
    shared: &Shared,
    mut writer: impl AsyncWrite + Unpin,
) -> Result<Infallible, LinkError> {
    let mut out = BytesMut::with_capacity(2 * WRITE_BYTES);
    loop {
        shared.fill(&mut out);
        if !out.is_empty() {
            writer.write_all_buf(&mut out).await?;
            continue;
        }
        // Flushing starts what was written, and then waits until it has arrived; what comes meanwhile need not.
        tokio::select! {
            biased;
            flushed = writer.flush() => flushed?,
            () = shared.work.notified() => continue,
        }
        if timeout(KEEP_ALIVE, shared.work.notified()).await.is_err() {
            out.extend_from_slice(&Header::new(0, Kind::Alive, 0).to_bytes());
        }
    }
}
