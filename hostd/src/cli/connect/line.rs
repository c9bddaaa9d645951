//! The device's UART, as a line for one client.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::anyhow;
use bridge::serial::{FromLine, Line, ToLine};
use futures_util::StreamExt;
use pods::Parity;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;

use super::super::patience::tell;
use super::super::server::Failed;
use super::ports::Shared;
use super::stream::{self, Ended, Socket};

/// Pieces that wait, each way.
const PIECES_MAX: usize = 16;

/// Time for the server to say how the line is.
const OPEN_WAIT: Duration = Duration::from_secs(30);

/// Where a bridge's last client stopped, so that the next one does not get the same bytes again; 0 before the first.
#[derive(Clone, Default)]
pub(super) struct Position(Arc<AtomicU64>);

/// The server's end of a line.
pub(super) struct Far {
    socket: Socket,
    wishes: mpsc::Receiver<ToLine>,
    told: mpsc::Sender<FromLine>,
    position: Position,
}

/// Opens the UART of the device.
///
/// # Errors
/// The server cannot be reached, or refuses.
pub(super) async fn open(shared: &Shared, position: &Position) -> Result<(Line, Far), Failed> {
    let wiring = &shared.wiring;
    let after = position.0.load(Ordering::Relaxed);
    let asked = [
        ("rx", wiring.uart_rx.map(u64::from)),
        ("tx", wiring.uart_tx.map(u64::from)),
        ("baud", wiring.baud.map(u64::from)),
        ("after", (after > 0).then_some(after)),
    ];
    let asked = asked
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", (*value)?)));
    let query = asked.collect::<Vec<_>>().join("&");
    let path = format!("/bench/devices/{}/uart/ws?{query}", shared.bench.id());
    let mut socket = stream::open(shared, &path).await?;
    let opened = tokio::time::timeout(OPEN_WAIT, begun(shared, &mut socket)).await;
    let late = || Failed::Lost(anyhow!("hear from the UART in time"));
    let opened = opened.map_err(|_| late())??;
    let baud = opened["baud"]
        .as_u64()
        .and_then(|baud| u32::try_from(baud).ok());
    let Some(baud) = baud.filter(|_| opened["type"] == "open") else {
        return Err(Failed::Here(anyhow!(
            "understand what the server says of the UART"
        )));
    };
    let parity = parity(&opened);
    position.begin(&opened["offset"], after);
    let (to, wishes) = mpsc::channel(PIECES_MAX);
    let (told, from) = mpsc::channel(PIECES_MAX);
    let far = Far {
        socket,
        wishes,
        told,
        position: position.clone(),
    };
    let line = Line {
        to,
        from,
        baud,
        parity,
    };
    Ok((line, far))
}

/// The first message.
async fn begun(shared: &Shared, socket: &mut Socket) -> Result<Value, Failed> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => return Ok(read(&text)),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            end => {
                let Ended(why) = stream::ended(shared, end);
                return Err(Failed::Lost(anyhow!("open the UART: {why}")));
            }
        }
    }
}

impl Position {
    /// The server says where the next byte stands.
    fn begin(&self, offset: &Value, otherwise: u64) {
        self.0
            .store(offset.as_u64().unwrap_or(otherwise), Ordering::Relaxed);
    }

    fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Ordering::Relaxed);
    }
}

impl Far {
    /// Carries until the client leaves or the line ends.
    pub(super) async fn carry(self, shared: &Shared) -> Ended {
        let Self {
            socket,
            mut wishes,
            told,
            position,
        } = self;
        let (mut sink, mut source) = socket.split();
        let outgoing = async {
            while let Some(wish) = wishes.recv().await {
                let message = match wish {
                    ToLine::Bytes(bytes) => Message::Binary(bytes),
                    ToLine::Baud(baud) => text(&json!({"type": "baud", "baud": baud})),
                    ToLine::Parity(parity) => text(&json!({"type": "parity", "parity": parity})),
                    ToLine::Break => text(&json!({"type": "break"})),
                };
                if !stream::send(&mut sink, message).await {
                    // The other half says why.
                    std::future::pending::<()>().await;
                }
            }
        };
        let incoming = async {
            loop {
                let heard = match source.next().await {
                    Some(Ok(Message::Binary(bytes))) => {
                        position.add(bytes.len());
                        Some(FromLine::Bytes(bytes))
                    }
                    Some(Ok(Message::Text(text))) => hear(&read(&text), &position),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => None,
                    end => return stream::ended(shared, end),
                };
                if let Some(heard) = heard
                    && told.send(heard).await.is_err()
                {
                    std::future::pending::<()>().await;
                }
            }
        };
        let ended = tokio::select! {
            () = outgoing => None,
            ended = incoming => Some(ended),
        };
        match ended {
            Some(ended) => ended,
            None => {
                if let Ok(socket) = sink.reunite(source) {
                    stream::close(socket).await;
                }
                Ended(String::new())
            }
        }
    }
}

/// The parity that a message tells, if it does.
fn parity(said: &Value) -> Option<Parity> {
    Parity::named(said["parity"].as_str()?)
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn text(value: &Value) -> Message {
    Message::Text(value.to_string().into())
}

/// What the server says of the line, for the client or for whoever watches.
fn hear(said: &Value, position: &Position) -> Option<FromLine> {
    match said["type"].as_str().unwrap_or_default() {
        "baud" => {
            let baud = u32::try_from(said["baud"].as_u64()?).ok()?;
            return Some(FromLine::Baud(baud));
        }
        "parity" => return parity(said).map(FromLine::Parity),
        "break" => return Some(FromLine::Broke),
        "overrun" => {
            position.begin(&said["to"], position.0.load(Ordering::Relaxed));
            tell("UART: some bytes of the target are missing");
        }
        "open" => tell("UART: open again"),
        "error" => {
            let message = said["message"].as_str().unwrap_or_default();
            tell(&format!("UART: {message}"));
        }
        "flash" | "update" => {
            let word = |member: &str| said[member].as_str().unwrap_or_default().to_owned();
            tell(&format!("UART: {} {}", word("type"), word("state")));
        }
        _ => {}
    }
    None
}
