//! One client of a line: reads it at its own pace, writes when it may, and is told what it missed.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::control::{self, Because, Code, Control, Notice, Told};
use super::line::{Chunk, End, Request, Seat, WRITE_BYTES_MAX};
use super::{NO_PARITY, Tap, Work};
use base::live::{Ending, Goodbye, Live, Peer, Said};
use base::ring::{Cursor, Found};

/// How much earlier output a client gets that does not say where to continue.
const SCROLLBACK_BYTES: u64 = 64 << 10;

/// Time for a client to take what is left when the line ends.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// A client whose WebSocket is not open yet.
#[derive(Debug)]
pub struct Client {
    device: String,
    seat: Seat,
    bytes: Cursor<Chunk>,
    notices: Cursor<Notice>,
}

impl Client {
    /// `after` is the position to continue at; none for the scrollback.
    pub(super) fn new(device: &str, seat: Seat, after: Option<u64>) -> Self {
        let line = seat.line();
        let bytes = &line.bytes;
        let recent = || {
            bytes
                .end()
                .saturating_sub(SCROLLBACK_BYTES)
                .max(bytes.start())
        };
        Self {
            device: device.to_owned(),
            bytes: bytes.cursor(after.unwrap_or_else(recent)),
            notices: line.notices.cursor(line.notices.end()),
            seat,
        }
    }

    /// The line without a WebSocket, from now on.
    #[must_use]
    pub fn tap(self) -> Tap {
        Tap::new(self.seat)
    }

    /// Serve the client until something ends it, and say why.
    async fn run(mut self, mut peer: Peer, mut ending: Ending) {
        let line = self.seat.line().clone();
        let goodbye = tokio::select! {
            goodbye = self.relay(&mut peer) => goodbye,
            end = line.over() => {
                let last = self.last(&mut peer, &end);
                // A client that does not read its last messages is closed anyway.
                let _ = tokio::time::timeout(LAST_WAIT, last).await;
                match end {
                    End::LeaseLost => Goodbye::lease_lost(),
                    End::Offline(reason) => Goodbye::device_offline(&reason),
                    End::Refused(reason) => Goodbye::device_refused(&reason),
                    End::Failed(error) => Goodbye::device_refused(&error.to_string()),
                    End::Unused => Goodbye::normal(""),
                }
            }
            goodbye = ending.ended() => goodbye,
        };
        // Released before the client gets its Close, for whatever it does next.
        drop(self);
        peer.close(goodbye).await;
    }

    async fn relay(&mut self, peer: &mut Peer) -> Goodbye {
        match self.carry(peer).await {
            Err(goodbye) => goodbye,
            Ok(never) => match never {},
        }
    }

    async fn carry(&mut self, peer: &mut Peer) -> Result<Infallible, Goodbye> {
        let line = self.seat.line().clone();
        let open = self.open(self.bytes.at(), Because::Connected);
        peer.send(text(open)).await?;
        let mut out = Bytes::new();
        loop {
            tokio::select! {
                Some(notice) = self.notices.next() => {
                    let told = self.told(notice);
                    peer.send(text(told)).await?;
                }
                Some(found) = self.bytes.next() => send(peer, found).await?,
                said = peer.hear(out.is_empty()) => match said? {
                    Said::Bytes(bytes) if self.seat.drives => out = bytes,
                    Said::Bytes(_) => peer.send(text(read_only())).await?,
                    Said::Text(said) => {
                        if let Some(answer) = self.control(&said).await {
                            peer.send(text(answer)).await?;
                        }
                    }
                },
                Ok(request) = line.requests.reserve(), if !out.is_empty() => {
                    request.send(Request::Write(out.split_to(out.len().min(WRITE_BYTES_MAX))));
                }
            }
        }
    }

    /// Carry out a control message, or return the refusal.
    async fn control(&self, said: &str) -> Option<String> {
        let request = match Control::parse(said) {
            _ if !self.seat.drives => return Some(read_only()),
            Err(error) => {
                let message = &error.to_string();
                let code = Code::InvalidMessage;
                return Some(Told::Error { code, message }.text());
            }
            Ok(Control::Baud { baud }) => Request::Baud(baud),
            Ok(Control::Parity { .. }) if self.seat.line().setting().parity.is_none() => {
                return Some(no_parity());
            }
            Ok(Control::Parity { parity }) => Request::Parity(parity),
            Ok(Control::Break { ms }) => Request::Break(ms),
        };
        // After what was written before. The keeper takes requests as long as the line is open.
        let _ = self.seat.line().requests.send(request).await;
        None
    }

    fn open(&self, offset: u64, because: Because) -> String {
        let line = self.seat.line();
        let drives = self.seat.drives;
        control::open(&self.device, line.setting(), drives, offset, because)
    }

    fn told(&self, notice: Found<Notice>) -> String {
        match notice {
            Found::Lost { .. } => self.open(self.seat.line().bytes.end(), Because::Overrun),
            Found::Piece { piece, .. } => match piece {
                Notice::Open { because, offset } => self.open(offset, because),
                Notice::Baud { baud, offset } => Told::Baud { baud, offset }.text(),
                Notice::Parity { parity, offset } => Told::Parity { parity, offset }.text(),
                Notice::Break { ms, offset } => Told::Break { ms, offset }.text(),
                Notice::Work {
                    work,
                    id,
                    stage: state,
                    offset,
                } => {
                    let id = &id;
                    match work {
                        Work::Flash => Told::Flash { id, state, offset },
                        Work::Update => Told::Update { id, state, offset },
                    }
                    .text()
                }
                Notice::Error { code, message } => {
                    let message = &message;
                    Told::Error { code, message }.text()
                }
            },
        }
    }

    /// Send what the client has not received when the line ends, and why it ends.
    async fn last(&mut self, peer: &mut Peer, end: &End) -> Result<(), Goodbye> {
        let until = self.seat.line().bytes.end();
        while self.bytes.at() != until {
            let Some(found) = self.bytes.next().await else {
                break;
            };
            send(peer, found).await?;
        }
        let message = match end {
            End::LeaseLost => Told::LeaseLost.text(),
            End::Offline(message) => {
                let code = Code::DeviceOffline;
                Told::Error { code, message }.text()
            }
            End::Refused(message) => {
                let code = Code::DeviceRefused;
                Told::Error { code, message }.text()
            }
            End::Failed(_) | End::Unused => return Ok(()),
        };
        peer.send(text(message)).await
    }
}

impl Live for Client {
    fn name(&self) -> &'static str {
        "uart"
    }

    fn serve(
        self: Box<Self>,
        peer: Peer,
        ending: Ending,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin((*self).run(peer, ending))
    }
}

async fn send(peer: &mut Peer, found: Found<Chunk>) -> Result<(), Goodbye> {
    let message = match found {
        Found::Piece { piece, .. } => Message::Binary(piece.0.into()),
        Found::Lost { from, to } => text(Told::Overrun { from, to }.text()),
    };
    peer.send(message).await
}

fn read_only() -> String {
    let code = Code::ReadOnly;
    let message = "the device is held by another lease; you may listen, not write";
    Told::Error { code, message }.text()
}

fn no_parity() -> String {
    let code = Code::SettingRefused;
    let message = NO_PARITY;
    Told::Error { code, message }.text()
}

fn text(text: String) -> Message {
    Message::Text(Utf8Bytes::from(text))
}
