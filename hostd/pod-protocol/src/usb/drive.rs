//! What moves the frames of a link, both ways at once.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, timeout};

use super::frame::{Header, Kind};
use super::frames::Frames;
use super::link::{KEEP_ALIVE, LinkError, SILENCE_MAX};
use super::outbox::SHARED_BYTES_MAX;
use super::shared::Shared;
use super::wires::{Incoming, Outgoing, Transfer, flush, next, room};

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
    let mut heard = Instant::now();
    let mut silence = pin!(sleep(SILENCE_MAX));
    loop {
        tokio::select! {
            biased;
            transfer = next(&mut reader) => {
                heard = Instant::now();
                frames.take(shared, transfer?)?;
            }
            // Set again only when it ends: transfers come more often than that.
            () = &mut silence => {
                let until = heard + SILENCE_MAX;
                if until <= Instant::now() {
                    return Err(LinkError::Silent);
                }
                silence.as_mut().reset(until);
            }
        }
    }
}

async fn send_one(
    shared: &Shared,
    writer: &mut impl Outgoing,
    transfer: Transfer,
) -> io::Result<()> {
    room(writer).await?;
    shared.supply(writer);
    writer.send(transfer);
    Ok(())
}

async fn send(shared: &Shared, mut writer: impl Outgoing) -> Result<Infallible, LinkError> {
    // Frames that go in one transfer.
    let mut small = Vec::new();
    loop {
        while let Some(data) = shared.turn(&mut small) {
            match data {
                Some(frame) if SHARED_BYTES_MAX <= frame.bytes().len() => {
                    if !small.is_empty() {
                        send_one(shared, &mut writer, Box::new(std::mem::take(&mut small))).await?;
                    }
                    send_one(shared, &mut writer, frame).await?;
                }
                Some(frame) => {
                    small.extend_from_slice(frame.bytes());
                    shared.give_back(frame);
                }
                None => {}
            }
            if SHARED_BYTES_MAX <= small.len() {
                send_one(shared, &mut writer, Box::new(std::mem::take(&mut small))).await?;
            }
        }
        shared.supply(&mut writer);
        // Whoever waited for room may have more, which goes along.
        yield_now().await;
        if shared.has_turns() {
            continue;
        }
        if !small.is_empty() {
            send_one(shared, &mut writer, Box::new(std::mem::take(&mut small))).await?;
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
