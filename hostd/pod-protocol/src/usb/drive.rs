//! What moves the frames of a link, both ways at once.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, timeout};

use super::frames::Frames;
use super::link::{KEEP_ALIVE, LinkError, SILENCE_MAX};
use super::parcels::Parcels;
use super::shared::Shared;
use super::wires::{Incoming, Outgoing, flush, next, room};

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

/// Sends the transfer that is next. While there is no room for it, connections fill their frames, and what fits goes
/// along.
async fn send_first(
    shared: &Shared,
    writer: &mut impl Outgoing,
    parcels: &mut Parcels,
) -> io::Result<()> {
    room(writer).await?;
    while parcels.has_place() && parcels.take_turn(shared) {}
    shared.supply(writer);
    if let Some(transfer) = parcels.pop() {
        writer.send(transfer);
    }
    Ok(())
}

async fn send(shared: &Shared, mut writer: impl Outgoing) -> Result<Infallible, LinkError> {
    let mut parcels = Parcels::default();
    loop {
        while parcels.is_due() || parcels.take_turn(shared) {
            if parcels.is_due() {
                send_first(shared, &mut writer, &mut parcels).await?;
            }
        }
        shared.supply(&mut writer);
        // Whoever waited for room may have more, which goes along.
        yield_now().await;
        if shared.has_turns() {
            continue;
        }
        while !parcels.is_empty() {
            send_first(shared, &mut writer, &mut parcels).await?;
        }
        tokio::select! {
            biased;
            flushed = flush(&mut writer) => flushed?,
            () = shared.work.notified() => continue,
        }
        if timeout(KEEP_ALIVE, shared.work.notified()).await.is_err() {
            parcels.put_alive();
        }
    }
}
