//! What moves the frames of a link, both ways at once.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use tokio::task::yield_now;
use tokio::time::timeout;

use super::frame::{Header, Kind, TRANSFER_BYTES};
use super::frames::Frames;
use super::link::{KEEP_ALIVE, LinkError, SILENCE_MAX};
use super::shared::Shared;
use super::wires::{Incoming, Outgoing, flush, next, send as send_one};

/// Frames of data below this share transfers with others.
const SHARED_BYTES_MAX: usize = 16 * 1024;

const _: () = assert!(SHARED_BYTES_MAX < TRANSFER_BYTES);

/// What a link reads from and writes to, with what was read beyond the greetings.
pub(super) struct Wires<R, W> {
    pub(super) reader: R,
    pub(super) writer: W,
    pub(super) rest: Bytes,
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
    R: Incoming,
    W: Outgoing,
{
    let ends = Ends(shared);
    let shared = &ends.0;
    let Wires {
        reader,
        writer,
        rest,
    } = wires;
    let ended = tokio::select! {
        ended = receive(shared, reader, rest) => ended,
        ended = send(shared, writer) => ended,
    };
    let Err(error) = ended;
    shared.end(&error.to_string());
    error
}

async fn receive(
    shared: &Shared,
    mut reader: impl Incoming,
    rest: Bytes,
) -> Result<Infallible, LinkError> {
    let mut frames = Frames::default();
    frames.take(shared, rest)?;
    loop {
        let transfer = timeout(SILENCE_MAX, next(&mut reader))
            .await
            .map_err(|_| LinkError::Silent)??;
        frames.take(shared, transfer)?;
    }
}

async fn send(shared: &Shared, mut writer: impl Outgoing) -> Result<Infallible, LinkError> {
    // Frames that go in one transfer.
    let mut small = Vec::new();
    loop {
        while let Some(data) = shared.turn(&mut small) {
            match data {
                Some(frame) if SHARED_BYTES_MAX <= frame.len() => {
                    if !small.is_empty() {
                        send_one(&mut writer, std::mem::take(&mut small)).await?;
                    }
                    send_one(&mut writer, frame).await?;
                }
                Some(frame) => small.extend_from_slice(&frame),
                None => {}
            }
            if SHARED_BYTES_MAX <= small.len() {
                send_one(&mut writer, std::mem::take(&mut small)).await?;
            }
        }
        // Whoever waited for room may have more, which goes along.
        yield_now().await;
        if shared.has_turns() {
            continue;
        }
        if !small.is_empty() {
            send_one(&mut writer, std::mem::take(&mut small)).await?;
        }
        tokio::select! {
            biased;
            flushed = flush(&mut writer) => flushed?,
            () = shared.work.notified() => continue,
        }
        if timeout(KEEP_ALIVE, shared.work.notified()).await.is_err() {
            small.extend_from_slice(&Header::new(0, Kind::Alive, 0).to_bytes());
        }
    }
}
