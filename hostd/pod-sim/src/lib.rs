//! A simulated pod: it speaks the real protocol, in real time, over in-process connections.
//!
//! Everything that changes (a pin, the DAC, a power switch) is recorded in a timeline with its
//! instant. A capture waits until its time has passed and is then computed from those timelines, so
//! a command on one connection appears in a capture on another exactly when it happened, and an
//! idle pod costs nothing. All randomness comes from the seed.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pod_protocol::connection::{BoxedStream, Connecting, Stream, Transport};
use tokio::io::{AsyncWriteExt as _, duplex};
use tokio::time::{Duration, timeout};
use tokio_rustls::TlsAcceptor;

mod access;
mod adc;
mod admin;
mod analog;
mod args;
mod board;
mod calibrate;
mod calibration;
mod can;
mod capture;
mod certificate;
mod client;
mod clock;
mod commands;
mod config;
mod console;
mod control;
mod converters;
mod current;
mod dac;
pub mod dial;
mod digital;
mod driver;
mod encoding;
mod failing;
mod faults;
mod firmware;
mod frontend;
#[doc(hidden)]
pub mod fuzzing;
mod gateware;
mod generate;
mod gpio;
mod gps;
mod hold;
mod i2c;
mod identity;
mod image;
mod images;
mod kept;
mod levels;
mod limits;
mod load_bin;
mod measure;
mod next;
mod noise;
mod outputs;
mod outside;
mod packets;
mod pattern;
mod pins;
mod plan;
mod playback;
mod profile;
mod profiling;
mod rails;
mod readback;
mod reboot;
mod refuse;
mod regulate;
mod replay;
mod reset;
mod sender;
mod sensor;
mod serial_break;
mod session;
mod settings;
mod shared;
mod speedtest;
mod spi;
mod status;
mod stored;
mod swd;
mod target;
mod target_config;
mod timeline;
mod tls;
mod trigger;
mod uart;
mod update;
mod upload;
mod usb;
mod wave;
mod world;

pub use access::{LEASE_MAX, Origin};
pub use analog::{AnalogSource, Signal};
pub use board::Board;
pub use config::{PACKET_SAMPLES_MAX, REAL_PACKET_SAMPLES, SimConfig};
pub use driver::Driver;
pub use faults::{
    FAULT_FORMS, Fault, FaultError, FaultProblem, Link, RATE_MIN, STALL_MAX, When, parse_time,
};
pub use firmware::{Firmware, FirmwareError};
pub use i2c::{I2cError, I2cMaster, I2cPart};
pub use images::{FirmwareImage, IMAGE_HEADER_BYTES, Target};
pub use playback::{PlayError, Playback, Recording};
pub use rails::RailConfig;
pub use settings::Dial;
pub use target::SLOW_SWD_DELAY;
pub use target_config::{Program as TargetProgram, TargetConfig, TargetWiring};
pub use target_sim::chip::Part as TargetPart;
pub use update::{SIGNATURE_BYTES, Signable};
pub use usb::{HidProbe, UsbPlug, Wired};

use access::Peer;
use failing::{Fate, Near, Wire};
use shared::Shared;
use world::World;

/// Connections that a pod serves at once: five on the network and three tunnels.
pub const CONNECTIONS_MAX: usize = 8;

/// Bytes that an in-process connection buffers in each direction.
const PIPE_BYTES: usize = 64 * 1024;

/// How long a TLS handshake may take, and likewise the shutdown of the connection.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// A simulated pod. It is a [`Transport`]; each connection is served by its own task.
pub struct SimPod {
    shared: Arc<Shared>,
}

impl SimPod {
    /// Starts a pod. Its time begins now.
    pub fn new(config: SimConfig) -> Arc<Self> {
        let set = config.faults.clone();
        let shared = Arc::new(Shared::new(config));
        for fault in set {
            failing::set(&shared, fault);
        }
        Arc::new(Self { shared })
    }

    /// Serves one connection of the network, in plaintext, until either side closes it. Returns how
    /// it has to end.
    pub async fn serve(&self, stream: impl Stream) -> Ending {
        self.serve_as(stream, Origin::Lan).await
    }

    /// Serves one connection of this origin until either side closes it. Returns how it has to end.
    pub(crate) async fn serve_as(&self, stream: impl Stream, origin: Origin) -> Ending {
        self.serve_until(stream, origin, Arc::default()).await
    }

    async fn serve_until(&self, stream: impl Stream, origin: Origin, fate: Arc<Fate>) -> Ending {
        let permit = Permit::take(&self.shared, origin);
        self.serve_with(permit, stream, fate).await
    }

    /// Serves a connection that takes the place of no other.
    pub(crate) async fn serve_beside(&self, stream: impl Stream, origin: Origin) -> Ending {
        let permit = Permit::beside(&self.shared, origin);
        self.serve_with(Some(permit), stream, Arc::default()).await
    }

    async fn serve_with(
        &self,
        permit: Option<Permit>,
        stream: impl Stream,
        fate: Arc<Fate>,
    ) -> Ending {
        let Some(permit) = permit.filter(|_| self.shared.is_serving()) else {
            return Ending::Closed;
        };
        failing::start(&self.shared);
        let mut plugged = self.shared.plugged.subscribe();
        let mut boots = self.shared.boots.subscribe();
        let mut resets = self.shared.faults.resets();
        let wire = Wire::new(stream, self.shared.clone(), fate.clone());
        tokio::select! {
            () = session::run(&self.shared, wire, permit.peer) => {}
            _ = plugged.wait_for(|plugged| !plugged) => {}
            _ = boots.changed() => {}
            Ok(()) = resets.changed() => fate.reset(),
        }
        if fate.is_reset() {
            Ending::Reset
        } else {
            Ending::Closed
        }
    }

    /// Serves one connection of the network over TLS, after the handshake. If the handshake fails
    /// or takes too long, the connection is closed.
    pub async fn serve_tls(&self, stream: impl Stream) -> Ending {
        let server = self
            .shared
            .with(|world, _| world.settings.tls.server(world.config.seed));
        let accepting = TlsAcceptor::from(server).accept(stream);
        let Ok(Ok(mut stream)) = timeout(HANDSHAKE_TIMEOUT, accepting).await else {
            return Ending::Closed;
        };
        let ending = self.serve_as(&mut stream, Origin::LanTls).await;
        if ending == Ending::Closed {
            // Lets the client distinguish the end from a broken connection. The client may have
            // gone already.
            let _ = timeout(HANDSHAKE_TIMEOUT, stream.shutdown()).await;
        }
        ending
    }

    /// Serves the pod's text console, as on its USB port, until the other side has gone.
    pub async fn console(&self, stream: impl Stream) {
        console::run(&self.shared, stream).await;
    }

    /// Sets a fault: its times and lines count from now. Needs a tokio runtime.
    pub fn fault(&self, fault: Fault) {
        failing::set(&self.shared, fault);
        failing::start(&self.shared);
    }

    /// A transport to the pod whose connections have this origin. The pod itself, used as a
    /// transport, has [`Origin::Usb`].
    pub fn link(&self, origin: Origin) -> Arc<dyn Transport> {
        Arc::new(SimLink {
            pod: Self {
                shared: self.shared.clone(),
            },
            origin,
        })
    }

    /// A cloud job takes the pod for this long, at most [`LEASE_MAX`]: until then the LAN can only
    /// look.
    pub fn hold(&self, holder: &str, lasts: Duration) {
        let access = |world: &mut World, now_ns| {
            world.access.set_lease(Some(holder), lasts, now_ns);
        };
        self.shared.with(access);
    }

    /// The cloud job gives the pod back.
    pub fn release(&self) {
        let access = |world: &mut World, now_ns| {
            world.access.set_lease(None, Duration::ZERO, now_ns);
        };
        self.shared.with(access);
    }

    /// Puts the pod in safe mode for this reason; `None` ends it.
    pub fn set_safe_mode(&self, reason: Option<&str>) {
        let reason = reason.map(str::to_owned);
        self.shared
            .with(|world, _| world.access.set_safe_mode(reason));
    }

    /// Pulls the plug (false) or puts it back (true). While unplugged, all connections end and no
    /// new one can be opened; the instrument keeps its state.
    pub fn set_plugged(&self, plugged: bool) {
        self.shared.plugged.send_replace(plugged);
    }

    /// The voltmeter reading on the output connector now, in volts; 0 if no output is routed.
    pub fn meter_volts(&self) -> f64 {
        self.shared.with(|world, now_ns| {
            let level = world.converters.walk(now_ns).level();
            let routed = world.converters.switches.at(now_ns).output();
            routed.map_or(0.0, |path| world.converters.hardware.volts(path, level))
        })
    }

    /// Restarts the firmware: connections end, outputs go off, the LA bank voltage is unselected.
    /// Stored settings are kept. For a moment no connection can be opened.
    pub fn reboot(&self) {
        self.shared.reboot();
    }
}

/// How a served connection has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Ending {
    /// Closed normally.
    Closed,
    /// As if the other side had crashed: a TCP connection sends RST.
    Reset,
}

/// One of the connections that a pod can serve at once.
struct Permit {
    shared: Arc<Shared>,
    peer: Peer,
    /// Whether it is one of those.
    is_counted: bool,
}

impl Permit {
    fn take(shared: &Arc<Shared>, origin: Origin) -> Option<Self> {
        let taken = shared.connections.fetch_add(1, Ordering::Relaxed);
        let mut permit = Self::beside(shared, origin);
        permit.is_counted = true;
        (taken < CONNECTIONS_MAX).then_some(permit)
    }

    fn beside(shared: &Arc<Shared>, origin: Origin) -> Self {
        Self {
            shared: shared.clone(),
            peer: shared.with(|world, _| world.access.join(origin)),
            is_counted: false,
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.shared.with(|world, _| world.leave(self.peer));
        if self.is_counted {
            self.shared.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Connections inside this process with the same origin.
struct SimLink {
    pod: SimPod,
    origin: Origin,
}

impl Transport for SimLink {
    fn kind(&self) -> &'static str {
        "sim"
    }

    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move { self.pod.connect_as(self.origin) })
    }
}

impl SimPod {
    fn connect_as(&self, origin: Origin) -> io::Result<BoxedStream> {
        let shared = &self.shared;
        failing::start(shared);
        let listens = shared.with(|world, _| world.admits(origin));
        if !*shared.plugged.borrow() || !shared.is_serving() || !listens {
            return Err(io::Error::from(io::ErrorKind::NotConnected));
        }
        let (near, far) = duplex(PIPE_BYTES);
        let pod = Self {
            shared: shared.clone(),
        };
        let fate = Arc::new(Fate::default());
        let near = Near::new(near, fate.clone());
        tokio::spawn(async move { pod.serve_until(far, origin, fate).await });
        Ok(Box::new(near))
    }
}

impl Transport for SimPod {
    fn kind(&self) -> &'static str {
        "sim"
    }

    fn connections_max(&self) -> usize {
        CONNECTIONS_MAX
    }

    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move { self.connect_as(Origin::Usb) })
    }
}

#[cfg(test)]
mod tests;
