//! Byte tunnels: a pod connection over a WebSocket, for as long as the lease that let it in.
//!
//! Binary frames carry the byte stream of a pod connection in both directions, cut anywhere. What may
//! pass is up to the [`gate`]. A Close of the client is answered once the pod has freed what the
//! tunnel used, since the client's next request may ask for it at once.

use std::pin::Pin;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use pods::Session;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tracing::{debug, info};

use crate::http::socket::{Live, Socket, Stopping};
use crate::leases::Visit;

pub mod gate;

use gate::{Gate, Verdict};

/// Bytes from the pod in one frame.
const READ_BYTES: usize = 16 << 10;

/// A client that takes nothing for this long is given up.
const SEND_WAIT: Duration = Duration::from_secs(30);

/// Time for the pod to take what the client sent.
const POD_WAIT: Duration = Duration::from_secs(30);

/// Pause between pings; a client that says nothing for three of them is gone.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Time for the closing handshake.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// The lease that let the tunnel in is over.
const LEASE_LOST: u16 = 4001;

/// The pod is gone.
const DEVICE_OFFLINE: u16 = 4002;

/// A granted tunnel.
pub struct Tunnel {
    pub session: Session,
    pub visit: Visit,
    pub gate: Gate,
}

/// How a tunnel ends: close code and reason.
struct Goodbye(CloseCode, String);

impl Goodbye {
    fn normal() -> Self {
        Self(CloseCode::Normal, String::new())
    }
}

impl Live for Tunnel {
    fn name(&self) -> &'static str {
        "tunnel"
    }

    fn serve(
        self: Box<Self>,
        socket: Socket,
        stopping: Stopping,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(run(*self, socket, stopping))
    }
}

async fn run(tunnel: Tunnel, mut socket: Socket, mut stopping: Stopping) {
    let Tunnel {
        mut session,
        mut visit,
        mut gate,
    } = tunnel;
    let goodbye = tokio::select! {
        goodbye = relay(&mut session, &mut gate, &mut socket) => goodbye,
        () = visit.over() => {
            info!("the lease of a tunnel is over");
            Goodbye(CloseCode::Library(LEASE_LOST), "lease_lost".to_owned())
        }
        _ = stopping.wait_for(|stop| *stop) => {
            Goodbye(CloseCode::Away, "the server stops".to_owned())
        }
    };
    if let Err(error) = session.close().await {
        debug!(%error, "a tunnel was closed before the pod had let go");
    }
    drop(visit);
    let Goodbye(code, reason) = goodbye;
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    let closing = async {
        // A client that closed first is not told a reason; its answer goes out with the next read.
        let told = socket.close(Some(frame)).await;
        if let Err(error) = told {
            debug!(%error, "the client has closed already");
        }
        // The other half of the handshake, or whatever is still on its way.
        while socket.next().await.transpose()?.is_some() {}
        Ok::<(), tokio_tungstenite::tungstenite::Error>(())
    };
    match tokio::time::timeout(CLOSE_WAIT, closing).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%error, "a tunnel's WebSocket did not close cleanly"),
        Err(_) => debug!("a tunnel's client did not answer the Close"),
    }
}

/// Carry bytes both ways until somebody ends it.
async fn relay(session: &mut Session, gate: &mut Gate, socket: &mut Socket) -> Goodbye {
    let mut from_pod = vec![0; READ_BYTES];
    let mut waiting: Vec<u8> = Vec::new();
    let mut ping = tokio::time::interval(PING_INTERVAL);
    let mut heard = Instant::now();
    loop {
        if gate.is_open() && !waiting.is_empty() {
            let bytes = std::mem::take(&mut waiting);
            match pass(session, gate, socket, &bytes).await {
                Ok(rest) => waiting = rest,
                Err(goodbye) => return goodbye,
            }
            continue;
        }
        let wakes_at = gate.wakes_at();
        tokio::select! {
            read = session.read(&mut from_pod) => {
                let Ok(count @ 1..) = read else {
                    return ended(session);
                };
                gate.pod(&from_pod[..count], Instant::now());
                // Never an empty frame: clients take one for the end.
                let frame = Message::Binary(Bytes::copy_from_slice(&from_pod[..count]));
                if let Err(goodbye) = send(socket, frame).await {
                    return goodbye;
                }
            }
            message = socket.next(), if waiting.is_empty() => {
                heard = Instant::now();
                match message {
                    Some(Ok(Message::Binary(bytes))) => waiting.extend_from_slice(&bytes),
                    Some(Ok(Message::Text(text))) => waiting.extend_from_slice(text.as_bytes()),
                    Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return Goodbye::normal(),
                }
            }
            _ = ping.tick() => {
                if heard.elapsed() > SILENCE_MAX {
                    debug!("a tunnel's client is gone");
                    return Goodbye(CloseCode::Policy, "the client does not answer".to_owned());
                }
                if let Err(goodbye) = send(socket, Message::Ping(Bytes::new())).await {
                    return goodbye;
                }
            }
            () = until(wakes_at) => {
                if let Some(end) = gate.pause(Instant::now()) {
                    return Goodbye(CloseCode::Normal, end.to_string());
                }
            }
        }
    }
}

/// Hand bytes of the client to the pod as far as the gate lets them; what is left waits for the pod.
async fn pass(
    session: &mut Session,
    gate: &mut Gate,
    socket: &mut Socket,
    bytes: &[u8],
) -> Result<Vec<u8>, Goodbye> {
    match gate.client(bytes, Instant::now()) {
        Verdict::Pass { bytes, rest } => {
            write(session, &bytes).await?;
            Ok(rest)
        }
        Verdict::Refuse { before, line, rest } => {
            write(session, &before).await?;
            send(socket, Message::Binary(line.into())).await?;
            Ok(rest)
        }
        Verdict::Last { bytes, why } => {
            write(session, &bytes).await?;
            Err(Goodbye(CloseCode::Policy, why.to_string()))
        }
    }
}

async fn write(session: &mut Session, bytes: &[u8]) -> Result<(), Goodbye> {
    if bytes.is_empty() {
        return Ok(());
    }
    let writing = async {
        session.write_all(bytes).await?;
        session.flush().await
    };
    match tokio::time::timeout(POD_WAIT, writing).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(ended(session)),
        Err(_) => Err(Goodbye(
            CloseCode::Library(DEVICE_OFFLINE),
            "the device takes nothing".to_owned(),
        )),
    }
}

async fn send(socket: &mut Socket, message: Message) -> Result<(), Goodbye> {
    match tokio::time::timeout(SEND_WAIT, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(Goodbye::normal()),
        Err(_) => Err(Goodbye(
            CloseCode::Policy,
            "the client takes nothing".to_owned(),
        )),
    }
}

/// The pod has ended the connection: in order, or because it is gone.
fn ended(session: &Session) -> Goodbye {
    match session.end() {
        None => Goodbye::normal(),
        Some(end) => Goodbye(CloseCode::Library(DEVICE_OFFLINE), short(&end.to_string())),
    }
}

/// A reason fits a Close frame: 123 bytes.
fn short(reason: &str) -> String {
    const REASON_BYTES_MAX: usize = 120;
    let mut end = reason.len().min(REASON_BYTES_MAX);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    reason[..end].to_owned()
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
