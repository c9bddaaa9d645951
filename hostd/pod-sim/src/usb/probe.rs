//! The CMSIS-DAP interface: packets of a debugger that found the probe on USB by itself.
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

/// How packets travel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// Bytes of a packet, as the endpoints have them.
    pub(super) packet_bytes: usize,
    /// Packets that may be under way.
    pub(super) packet_count: u8,
    /// Packets are reports, which are all equally long.
    pub(super) is_report: bool,
}

const DAP_CONNECT: u8 = 0x02;
const DAP_DISCONNECT: u8 = 0x03;

/// Longest reply line to `dap_start`.
const LINE_BYTES_MAX: usize = 4096;

/// Serves packets until the pod is unplugged.
pub(super) async fn run(pod: Arc<SimPod>, form: Form, mut output: Output, mut input: Input) {
    let mut idle = Probe::new(form.packet_bytes, form.packet_count);
    let mut nothing = Target::new(STM32F030R8);
    let mut session = None;
    while let Ok(request) = output.receive().await {
        let Some(command) = request.first().copied() else {
            continue;
        };
        if form.is_report && request.len() != form.packet_bytes {
            // The rest of the report is still waited for.
            continue;
        }
        if command == DAP_CONNECT && session.is_none() {
            session = Session::open(&pod, form).await;
            if session.is_none() {
                // No port was opened.
                if input.send(&form.sent(vec![DAP_CONNECT, 0])).await.is_err() {
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
        if input.send(&form.sent(response)).await.is_err() {
            return;
        }
    }
}

impl Form {
    /// A response as it is sent.
    fn sent(self, mut response: Vec<u8>) -> Vec<u8> {
        if self.is_report {
            response.resize(self.packet_bytes, 0);
        }
        response
    }
}

/// The wires, held by a connection to the pod.
pub(super) struct Session {
    stream: BoxedStream,
    frames: DapFrames,
    read_bytes: usize,
}

impl Session {
    /// Takes the wires; `None` when the pod refuses.
    pub(super) async fn open(pod: &SimPod, form: Form) -> Option<Self> {
        let wiring = pod.shared.with(|world, _| {
            let target = world.config.target.as_ref();
            target.map_or_else(TargetWiring::default, |target| target.wiring)
        });
        let mut stream = pod.connect_as(Origin::Usb).ok()?;
        let request = json!({
            "cmd": "dap_start", "swclk": wiring.swclk, "swdio": wiring.swdio,
            "packet_size": form.packet_bytes, "packet_count": form.packet_count,
        });
        let line = format!("{request}\n");
        stream.write_all(line.as_bytes()).await.ok()?;
        let mut reply = Vec::new();
        while reply.last() != Some(&b'\n') && reply.len() < LINE_BYTES_MAX {
            reply.push(stream.read_u8().await.ok()?);
        }
        let reply: Value = serde_json::from_slice(&reply).ok()?;
        let frames = DapFrames::default();
        let read_bytes = form.packet_bytes;
        (reply["status"] == "ok").then_some(Self {
            stream,
            frames,
            read_bytes,
        })
    }

    /// Has a packet answered; `None` when the pod ended the session.
    pub(super) async fn exchange(&mut self, request: &[u8]) -> Option<Vec<u8>> {
        let frame = dap_frame::encode(request).ok()?;
        self.stream.write_all(&frame).await.ok()?;
        loop {
            if let Some(packet) = self.frames.next_packet().ok()? {
                return Some(packet);
            }
            let mut bytes = vec![0; self.read_bytes];
            let count = self.stream.read(&mut bytes).await.ok()?;
            if count == 0 {
                return None;
            }
            self.frames.push(&bytes[..count]);
        }
    }
}
