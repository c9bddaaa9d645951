//! The CMSIS-DAP v2 interface: packets of a debugger that found the probe on USB by itself.
//!
//! The wires belong to whoever connects first, so connecting opens a session as `dap_start` does, on the channels that
//! the target is wired to, and disconnecting ends it. Without one the probe tells what it is, and no more.

use std::sync::Arc;

use pod_protocol::connection::BoxedStream;
use pod_protocol::dap_frame::{self, DapFrames};
use serde_json::{Value, json};
use target_sim::chip::STM32F030R8;
use target_sim::dap::Probe;
use target_sim::target::{BareBoard, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use usb_sim::{Input, Output};

use crate::target_config::TargetWiring;
use crate::{Origin, SimPod};

/// Bytes of a packet, as the endpoints have them, and packets that may be under way.
const PACKET_BYTES: usize = 512;
const PACKET_COUNT: u8 = 4;

const DAP_CONNECT: u8 = 0x02;
const DAP_DISCONNECT: u8 = 0x03;

/// Longest reply line to `dap_start`.
const LINE_BYTES_MAX: usize = 4096;

/// Serves packets until the pod is unplugged.
pub(super) async fn run(pod: Arc<SimPod>, mut output: Output, mut input: Input) {
    let mut idle = Probe::new(PACKET_BYTES, PACKET_COUNT);
    let mut nothing = Target::new(STM32F030R8);
    let mut session = None;
    while let Ok(request) = output.receive().await {
        let Some(command) = request.first().copied() else {
            continue;
        };
        if command == DAP_CONNECT && session.is_none() {
            session = Session::open(&pod).await;
            if session.is_none() {
                // No port was opened.
                if input.send(&[DAP_CONNECT, 0]).await.is_err() {
                    return;
                }
                continue;
            }
        }
        let response = match &mut session {
            Some(open) => open.exchange(&request).await,
            None => {
                let mut response = Vec::new();
                idle.process(&mut nothing, &mut BareBoard, &request, &mut response);
                Some(response)
            }
        };
        if command == DAP_DISCONNECT || response.is_none() {
            session = None;
        }
        let response = response.unwrap_or_else(|| vec![command, 0xFF]);
        if input.send(&response).await.is_err() {
            return;
        }
    }
}

/// The wires, held by a connection to the pod.
struct Session {
    stream: BoxedStream,
    frames: DapFrames,
}

impl Session {
    /// Takes the wires; `None` when the pod refuses.
    async fn open(pod: &SimPod) -> Option<Self> {
        let wiring = pod.shared.with(|world, _| {
            let target = world.config.target.as_ref();
            target.map_or_else(TargetWiring::default, |target| target.wiring)
        });
        let mut stream = pod.connect_as(Origin::Usb).ok()?;
        let request = json!({
            "cmd": "dap_start", "swclk": wiring.swclk, "swdio": wiring.swdio,
            "packet_size": PACKET_BYTES, "packet_count": PACKET_COUNT,
        });
        let line = format!("{request}\n");
        stream.write_all(line.as_bytes()).await.ok()?;
        let mut reply = Vec::new();
        while reply.last() != Some(&b'\n') && reply.len() < LINE_BYTES_MAX {
            reply.push(stream.read_u8().await.ok()?);
        }
        let reply: Value = serde_json::from_slice(&reply).ok()?;
        let frames = DapFrames::default();
        (reply["status"] == "ok").then_some(Self { stream, frames })
    }

    /// Has a packet answered; `None` when the pod ended the session.
    async fn exchange(&mut self, request: &[u8]) -> Option<Vec<u8>> {
        let frame = dap_frame::encode(request).ok()?;
        self.stream.write_all(&frame).await.ok()?;
        loop {
            if let Some(packet) = self.frames.next_packet().ok()? {
                return Some(packet);
            }
            let mut bytes = [0; PACKET_BYTES];
            let count = self.stream.read(&mut bytes).await.ok()?;
            if count == 0 {
                return None;
            }
            self.frames.push(&bytes[..count]);
        }
    }
}
