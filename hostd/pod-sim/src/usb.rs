//! The simulated pod as a USB device: the link with its many connections, a CMSIS-DAP v2 probe, and the text console on
//! a serial port.

mod hid;
mod probe;
mod vendor;
mod wires;

use std::sync::Arc;

use pod_protocol::usb::{CMSIS_DAP_NAME, INTERFACE, Link, REQUEST_RESET, Terms};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use usb_sim::{Answer, Bus, Descriptors, Device, Endpoint, Input, Interface, Output, Setup, Speed};

use super::identity;
use super::{CONNECTIONS_MAX, Origin, SimPod};
use probe::Form;
use wires::{FromHost, ToHost};

pub use hid::HidProbe;
pub use vendor::Wired;

/// Vendor and product number: those that pid.codes keeps for tests. No driver goes by them.
const IDS: (u16, u16) = (0x1209, 0x0001);

/// The pod's version, as binary-coded decimal.
const VERSION: u16 = 0x0100;

/// What a pod with the memory of a microcontroller takes.
const TERMS: Terms = Terms {
    channels: 8,
    frame_bytes: 16 * 1024,
    window_bytes: 64 * 1024,
};

const _: () = assert!(TERMS.channels as usize == CONNECTIONS_MAX);

/// How packets of the probe travel.
const PACKETS: Form = Form {
    packet_bytes: 512,
    packet_count: 4,
    is_report: false,
};

/// Endpoints, without direction.
const LINK: u8 = 1;
const PROBE: u8 = 2;
const CONSOLE_EVENTS: u8 = 3;
const CONSOLE: u8 = 4;

/// Where the interfaces stand.
const LINK_INTERFACE: u16 = 0;

/// Requests of a serial port (Universal Serial Bus Class Definitions for Communication Devices, PSTN, section 6.3).
const SET_LINE_CODING: u8 = 0x20;
const GET_LINE_CODING: u8 = 0x21;
const SET_CONTROL_LINE_STATE: u8 = 0x22;
const SEND_BREAK: u8 = 0x23;

/// 115200 baud, one stop bit, no parity, 8 data bits.
const LINE_CODING: [u8; 7] = [0x00, 0xC2, 0x01, 0x00, 0, 0, 8];

/// The same communication class descriptors that all serial ports have: header, call management, abstract control,
/// union of the interfaces 2 and 3.
const SERIAL_PORT: [u8; 19] = [
    5, 0x24, 0, 0x10, 0x01, 5, 0x24, 1, 0, 3, 4, 0x24, 2, 2, 5, 0x24, 6, 2, 3,
];

impl SimPod {
    /// The pod's plug: what is to be attached for it to be a USB device. Needs a tokio runtime when it is.
    pub fn plug(self: &Arc<Self>) -> UsbPlug {
        UsbPlug {
            pod: self.clone(),
            resets: None,
            line_coding: LINE_CODING.to_vec(),
        }
    }
}

/// A simulated pod, seen from its USB cable.
pub struct UsbPlug {
    pod: Arc<SimPod>,
    /// Tells the link that the host begins anew; it answers once what follows belongs to the next one. None before the
    /// pod is plugged in.
    resets: Option<mpsc::Sender<oneshot::Sender<()>>>,
    /// The console has no line, so this only reads back.
    line_coding: Vec<u8>,
}

impl Device for UsbPlug {
    fn descriptors(&self) -> Descriptors {
        let link = Interface {
            class: INTERFACE,
            name: Some("Pod".to_owned()),
            endpoints: both(LINK),
            ..Interface::default()
        };
        let probe = Interface {
            class: (0xFF, 0, 0),
            name: Some(format!("Pod {CMSIS_DAP_NAME} v2")),
            endpoints: both(PROBE),
            ..Interface::default()
        };
        let console = Interface {
            class: (2, 2, 1),
            name: Some("Pod console".to_owned()),
            functional: SERIAL_PORT.to_vec(),
            endpoints: vec![Endpoint::Interrupt(CONSOLE_EVENTS | 0x80, 16)],
            association: Some(2),
        };
        let console_data = Interface {
            class: (10, 0, 0),
            endpoints: both(CONSOLE),
            ..Interface::default()
        };
        Descriptors {
            ids: IDS,
            version: VERSION,
            // Interfaces that belong together are marked as such.
            class: (0xEF, 2, 1),
            manufacturer: "Simulated".to_owned(),
            product: "Bench pod (simulated)".to_owned(),
            serial: Some(identity::short_id(self.pod.shared.seed)),
            speed: Speed::High,
            interfaces: vec![link, probe, console, console_data],
        }
    }

    fn start(&mut self, bus: &mut Bus) {
        let (output, input) = (bus.output(LINK), bus.input(LINK));
        let (send, resets) = mpsc::channel(1);
        self.resets = Some(send);
        tokio::spawn(links(self.pod.clone(), output, input, resets));
        let (output, input) = (bus.output(PROBE), bus.message_input(PROBE));
        tokio::spawn(probe::run(self.pod.clone(), PACKETS, output, input));
        // It never has anything to tell, so that requests for it stay pending.
        drop(bus.message_input(CONSOLE_EVENTS));
        let (output, input) = (bus.output(CONSOLE), bus.input(CONSOLE));
        let pod = self.pod.clone();
        tokio::spawn(async move { pod.console(tokio::io::join(output, input)).await });
    }

    fn control<'a>(&'a mut self, setup: Setup, bytes: &'a [u8]) -> Answer<'a> {
        Box::pin(async move {
            match (setup.request_type, setup.request) {
                (0x41, REQUEST_RESET) if setup.index == LINK_INTERFACE => {
                    self.begin_anew().await.map(|()| Vec::new())
                }
                (0x21, SET_LINE_CODING) if bytes.len() == LINE_CODING.len() => {
                    self.line_coding = bytes.to_vec();
                    Some(Vec::new())
                }
                (0xA1, GET_LINE_CODING) => Some(self.line_coding.clone()),
                (0x21, SET_CONTROL_LINE_STATE | SEND_BREAK) => Some(Vec::new()),
                _ => None,
            }
        })
    }
}

impl UsbPlug {
    /// Ends the link, and waits until it has; `None` if nothing serves it any more.
    async fn begin_anew(&self) -> Option<()> {
        let (done, is_done) = oneshot::channel();
        self.resets.as_ref()?.send(done).await.ok()?;
        is_done.await.ok()
    }
}

/// Bulk endpoints both ways.
fn both(number: u8) -> Vec<Endpoint> {
    vec![Endpoint::Bulk(number), Endpoint::Bulk(number | 0x80)]
}

/// Serves one host after the other, until the pod is unplugged.
async fn links(
    pod: Arc<SimPod>,
    mut output: Output,
    mut input: Input,
    mut resets: mpsc::Receiver<oneshot::Sender<()>>,
) {
    loop {
        let mut connections = JoinSet::new();
        let reset = tokio::select! {
            reset = resets.recv() => reset,
            // Nothing that is still on the wire means anything before the host begins anew.
            () = serve(&pod, &mut output, &mut input, &mut connections) => resets.recv().await,
        };
        connections.shutdown().await;
        let Some(done) = reset else {
            return;
        };
        output.clear();
        input.clear();
        // Whoever asked may have been unplugged meanwhile.
        let _ = done.send(());
    }
}

/// Serves one host until its link ends.
async fn serve(
    pod: &Arc<SimPod>,
    output: &mut Output,
    input: &mut Input,
    connections: &mut JoinSet<()>,
) {
    let Ok((link, drives)) = Link::pod(FromHost(output), ToHost(input), TERMS).await else {
        return;
    };
    let accepting = async {
        while let Some(stream) = link.accept().await {
            while connections.try_join_next().is_some() {}
            let pod = pod.clone();
            connections.spawn(async move {
                let _ending = pod.serve_as(stream, Origin::Usb).await;
            });
        }
    };
    tokio::select! {
        _ended = drives => {}
        () = accepting => {}
    }
}
