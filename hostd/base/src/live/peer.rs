//! The client at the other end of a WebSocket: dropped if it does not read in time, pinged while it
//! is silent, and closed with a code that says why.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use tracing::debug;

use super::Socket;

/// Pings that a client leaves unanswered before it counts as gone.
const PINGS_MAX: u32 = 3;

/// Time for the closing handshake.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// Longest reason of a Close frame, in bytes: RFC 6455 leaves 123.
const REASON_BYTES_MAX: usize = 120;

/// The lease that let the stream in is over.
const LEASE_LOST: u16 = 4001;

/// The pod is gone.
const DEVICE_OFFLINE: u16 = 4002;

/// The pod refuses what the stream needs.
const DEVICE_REFUSED: u16 = 4003;

/// How long to wait for a client.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Pause between pings of a silent client.
    pub ping: Duration,
    /// A client that reads nothing for this long is dropped.
    pub send: Duration,
}

/// What a client says.
#[derive(Debug)]
pub enum Said {
    Bytes(Bytes),
    Text(Utf8Bytes),
}

/// How a stream ends: close code and reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goodbye {
    code: CloseCode,
    reason: String,
}

impl Goodbye {
    /// The client or the pod has ended it.
    #[must_use]
    pub fn normal(reason: &str) -> Self {
        Self::of(CloseCode::Normal, reason)
    }

    /// The server stops.
    #[must_use]
    pub fn stopping() -> Self {
        Self::of(CloseCode::Away, "the server stops")
    }

    /// The client violates the protocol of the stream.
    #[must_use]
    pub fn policy(reason: &str) -> Self {
        Self::of(CloseCode::Policy, reason)
    }

    /// The client sends a message that the stream does not accept.
    #[must_use]
    pub fn unsupported(reason: &str) -> Self {
        Self::of(CloseCode::Unsupported, reason)
    }

    #[must_use]
    pub fn lease_lost() -> Self {
        Self::of(CloseCode::Library(LEASE_LOST), "lease_lost")
    }

    #[must_use]
    pub fn device_offline(reason: &str) -> Self {
        Self::of(CloseCode::Library(DEVICE_OFFLINE), reason)
    }

    #[must_use]
    pub fn device_refused(reason: &str) -> Self {
        Self::of(CloseCode::Library(DEVICE_REFUSED), reason)
    }

    fn of(code: CloseCode, reason: &str) -> Self {
        let reason = &reason[..reason.floor_char_boundary(REASON_BYTES_MAX)];
        Self {
            code,
            reason: reason.to_owned(),
        }
    }
}

/// A client and what is known of its presence.
#[derive(Debug)]
pub struct Peer {
    socket: Socket,
    ping: Interval,
    send_wait: Duration,
    /// Pings since its last message.
    unanswered: u32,
}

impl Peer {
    #[must_use]
    pub fn new(socket: Socket, patience: Patience) -> Self {
        let mut ping = tokio::time::interval_at(Instant::now() + patience.ping, patience.ping);
        // After a stall on this side, the client still gets its time to answer.
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            socket,
            ping,
            send_wait: patience.send,
            unanswered: 0,
        }
    }

    /// Send one message.
    ///
    /// # Errors
    /// The client is gone, or does not read.
    pub async fn send(&mut self, message: Message) -> Result<(), Goodbye> {
        match tokio::time::timeout(self.send_wait, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Goodbye::normal("")),
            Err(_) => Err(Goodbye::policy("the client takes nothing")),
        }
    }

    /// The client's next message. Safe to cancel. `listen` is false while no more messages can be
    /// accepted: then only its presence is checked.
    ///
    /// # Errors
    /// The client has closed, is gone, or sends something that is not WebSocket.
    pub async fn hear(&mut self, listen: bool) -> Result<Said, Goodbye> {
        loop {
            tokio::select! {
                biased;
                message = self.socket.next(), if listen => {
                    self.unanswered = 0;
                    match message {
                        Some(Ok(Message::Binary(bytes))) => return Ok(Said::Bytes(bytes)),
                        Some(Ok(Message::Text(text))) => return Ok(Said::Text(text)),
                        Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                        Some(Ok(Message::Close(_))) | None => return Err(Goodbye::normal("")),
                        Some(Err(error)) => return Err(farewell(&error)),
                    }
                }
                _ = self.ping.tick() => {
                    if self.unanswered >= PINGS_MAX {
                        debug!("the client of a WebSocket is gone");
                        return Err(Goodbye::policy("the client does not answer"));
                    }
                    // Pongs are queued behind messages that cannot be accepted yet, so their
                    // absence proves nothing.
                    self.unanswered = if listen { self.unanswered + 1 } else { 0 };
                    self.send(Message::Ping(Bytes::new())).await?;
                }
            }
        }
    }

    /// Close, and wait a little for the client's answer.
    pub async fn close(mut self, goodbye: Goodbye) {
        let frame = CloseFrame {
            code: goodbye.code,
            reason: goodbye.reason.into(),
        };
        let closing = async {
            // A client that closed first gets no reason; its answer goes out with the next read.
            if let Err(error) = self.socket.close(Some(frame)).await {
                debug!(%error, "the client has closed already");
            }
            // The other half of the handshake, or whatever is still on its way.
            while self.socket.next().await.transpose()?.is_some() {}
            Ok::<(), Error>(())
        };
        match tokio::time::timeout(CLOSE_WAIT, closing).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => debug!(%error, "a WebSocket did not close cleanly"),
            Err(_) => debug!("the client of a WebSocket did not answer the Close"),
        }
    }
}

/// The close code for a client whose bytes are not WebSocket (RFC 6455 section 7.4.1).
fn farewell(error: &Error) -> Goodbye {
    match error {
        Error::Protocol(_) => Goodbye::of(CloseCode::Protocol, "that is not a WebSocket frame"),
        Error::Utf8(_) => Goodbye::of(CloseCode::Invalid, "a text message must be UTF-8"),
        Error::Capacity(_) => Goodbye::of(CloseCode::Size, "the message is too large"),
        _ => Goodbye::normal(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_fits_its_frame() {
        let long = "ä".repeat(200);
        let goodbye = Goodbye::device_offline(&long);
        assert_eq!(goodbye.reason.len(), REASON_BYTES_MAX);
        assert_eq!(Goodbye::lease_lost().reason, "lease_lost");
        let odd = format!("x{long}");
        assert!(Goodbye::policy(&odd).reason.len() < REASON_BYTES_MAX);
    }
}
