//! The pod's debug probe, through a tunnel: frames of CMSIS-DAP packets, each way.

use std::time::Duration;

use anyhow::anyhow;
use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio_tungstenite::tungstenite::Message;

use super::super::server::Failed;
use super::ports::Shared;
use super::stream::{self, Ended, Socket};

/// Bytes that wait, each way: more than all packets that may be in flight.
const WAITING_BYTES_MAX: usize = 64 << 10;

/// Bytes sent at once.
const SEND_BYTES: usize = 8 << 10;

/// How long the pod may wait for a target that has just been switched on.
const POWER_UP_MS: u64 = 5_000;

/// Time for the pod to begin.
const BEGIN_WAIT: Duration = Duration::from_secs(20);

/// Longest acknowledgement.
const LINE_BYTES_MAX: usize = 4 << 10;

/// The largest and most packets that a pod offers.
const PACKET_BYTES: u64 = 1024;
const PACKETS: u64 = 4;

/// The server's end of a debug session.
pub(super) struct Far {
    socket: Socket,
    /// What came behind the acknowledgement.
    first: Vec<u8>,
    stream: DuplexStream,
}

/// Begins a debug session, and returns its frames.
///
/// # Errors
/// The server cannot be reached, it or the pod refuses.
pub(super) async fn open(shared: &Shared) -> Result<(DuplexStream, Far), Failed> {
    let path = format!(
        "/cloud/devices/ws?device={}&kind=flash",
        shared.bench.name()
    );
    let mut socket = stream::open(shared, &path).await?;
    let mut request = json!({
        "cmd": "dap_start", "swclk": shared.wiring.swclk, "swdio": shared.wiring.swdio,
        "packet_size": PACKET_BYTES, "packet_count": PACKETS,
    });
    if shared.wiring.efuse.is_some() {
        request["wait_ms"] = POWER_UP_MS.into();
    }
    let line = Bytes::from(format!("{request}\n"));
    if !stream::send(&mut socket, Message::Binary(line)).await {
        return Err(Failed::Lost(anyhow!("ask the pod for its debug probe")));
    }
    let begun = tokio::time::timeout(BEGIN_WAIT, acknowledged(shared, &mut socket)).await;
    let late = || Failed::Lost(anyhow!("hear from the pod's debug probe in time"));
    let first = begun.map_err(|_| late())??;
    let (near, stream) = duplex(WAITING_BYTES_MAX);
    let far = Far {
        socket,
        first,
        stream,
    };
    Ok((near, far))
}

/// Waits for the pod's acknowledgement; returns what came behind it.
async fn acknowledged(shared: &Shared, socket: &mut Socket) -> Result<Vec<u8>, Failed> {
    let mut said = Vec::new();
    loop {
        if let Some(end) = said.iter().position(|byte| *byte == b'\n') {
            let rest = said.split_off(end + 1);
            let answer: Value = serde_json::from_slice(&said).unwrap_or_default();
            if answer["status"] == "ok" {
                return Ok(rest);
            }
            let why = answer["message"].as_str().unwrap_or("no reason given");
            return Err(Failed::Lost(anyhow!(
                "begin a debug session: the pod says: {why}"
            )));
        }
        if said.len() > LINE_BYTES_MAX {
            return Err(Failed::Here(anyhow!("understand the pod's debug probe")));
        }
        match socket.next().await {
            Some(Ok(Message::Binary(bytes))) => said.extend_from_slice(&bytes),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            end => {
                let Ended(why) = stream::ended(shared, end);
                return Err(Failed::Lost(anyhow!("begin a debug session: {why}")));
            }
        }
    }
}

impl Far {
    /// Carries until the other end is dropped or the session ends.
    pub(super) async fn carry(self, shared: &Shared) -> Ended {
        let (mut sink, mut source) = self.socket.split();
        let (mut from_client, mut to_client) = tokio::io::split(self.stream);
        let first = self.first;
        let outgoing = async {
            let mut bytes = vec![0; SEND_BYTES];
            while let Ok(count @ 1..) = from_client.read(&mut bytes).await {
                let message = Message::Binary(Bytes::copy_from_slice(&bytes[..count]));
                if !stream::send(&mut sink, message).await {
                    // The other half says why.
                    std::future::pending::<()>().await;
                }
            }
        };
        let incoming = async {
            let mut bytes = Bytes::from(first);
            loop {
                if to_client.write_all(&bytes).await.is_err() {
                    // The other half notices that nobody is there.
                    std::future::pending::<()>().await;
                }
                bytes = match source.next().await {
                    Some(Ok(Message::Binary(bytes))) => bytes,
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => Bytes::new(),
                    end => return stream::ended(shared, end),
                };
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
