//! The debug probe of a bench: CMSIS-DAP packets of a connection go to it and back, each after its length.
//!
//! The probe stays open while it is there, so that no other program gets between, and is disconnected from the target
//! when a session ends, however it ends.

use std::sync::Arc;

use pod_protocol::dap_frame::{self, DAP_PACKET_BYTES_MAX, DAP_SILENCE_MAX, DapFrames};
use serde_json::{Value, json};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::{Duration, Instant, MissedTickBehavior, interval, sleep, timeout};
use tracing::{debug, info, warn};

use crate::address::Address;
use crate::args::Args;
use crate::client::{Client, Gone};
use crate::presence::{Part, Presences};
use crate::refuse::Refuse;

mod hid;
mod interface;
mod link;
mod reset;
mod target;
mod tcp;
mod usb;
mod vendor;

pub(crate) use interface::of as interface;
pub(crate) use vendor::udev_matches;
pub use vendor::{Family, IS_SUPPORTED};

use link::Link;
use reset::Reset;

pub(crate) use tcp::PORT_DEFAULT;

/// How often a probe is looked at, and one that is away is tried again.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Packets on their way to the probe at once: what it says, at most this.
const IN_FLIGHT_MAX: usize = 8;

/// Longest time for an answer: a packet of transfers that the target stalls, or a wait for a pin.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// Time for what is still to be answered at the end of a session.
const END_WAIT: Duration = Duration::from_secs(1);

/// How often one who waits for the end of a session tries again.
const TAKE_EVERY: Duration = Duration::from_millis(20);

/// Longest wait for a target before the acknowledgement.
const WAIT_MS_MAX: u64 = 10_000;

const DAP_INFO: u8 = 0x00;
const DAP_DISCONNECT: u8 = 0x03;
const INFO_PACKET_COUNT: u8 = 0xFE;
const INFO_PACKET_SIZE: u8 = 0xFF;

/// The probe of a bench.
#[derive(Debug)]
pub(crate) struct Probe {
    address: Address,
    presences: Arc<Presences>,
    /// Held by whoever uses it; none while it is away.
    link: Arc<Mutex<Held>>,
    /// The channels that the open session was asked for.
    channels: std::sync::Mutex<Option<(u8, u8)>>,
}

/// A probe, and what it does between sessions.
#[derive(Debug, Default)]
struct Held {
    link: Option<Link>,
    reset: Reset,
}

impl Probe {
    pub(crate) fn new(address: Address, presences: Arc<Presences>) -> Self {
        Self {
            address,
            presences,
            link: Arc::default(),
            channels: std::sync::Mutex::default(),
        }
    }

    /// Opens the probe and looks after it, for ever.
    pub(crate) async fn keep(&self) {
        loop {
            // Whoever uses it notices by himself.
            if let Ok(mut held) = self.link.clone().try_lock_owned() {
                self.look(&mut held).await;
            }
            sleep(LOOK_EVERY).await;
        }
    }

    async fn look(&self, held: &mut Held) {
        let looked = match &mut held.link {
            Some(link) => link.look().await,
            None => Link::open(&self.address).await.map(|link| {
                info!(probe = %self.address, "opened a probe");
                held.link = Some(link);
            }),
        };
        match looked {
            Ok(()) => self.presences.there(Part::Probe),
            Err(error) => self.lose(held, error.to_string()),
        }
    }

    fn lose(&self, held: &mut Held, reason: String) {
        // With the probe goes its hold on the reset line.
        *held = Held::default();
        self.presences.away(Part::Probe, reason);
    }

    /// The channels that the open session was asked for: `swclk` and `swdio`.
    pub(crate) fn channels(&self) -> Option<(u8, u8)> {
        *self.used()
    }

    fn used(&self) -> std::sync::MutexGuard<'_, Option<(u8, u8)>> {
        // One assignment, so a panic elsewhere leaves it valid.
        self.channels
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The probe for one user.
    fn take(&self) -> Result<OwnedMutexGuard<Held>, Refuse> {
        if let Some(lack) = self.presences.lack(Part::Probe) {
            return Err(Refuse::lack(Part::Probe, lack));
        }
        self.link
            .clone()
            .try_lock_owned()
            .map_err(|_| Refuse::ProbeBusy)
    }

    /// `nrst`: reads, holds, releases or pulses the reset line.
    pub(crate) async fn nrst(&self, args: &Args<'_>) -> Result<Value, Refuse> {
        let pulse_ms: Option<u64> = args.uint("pulse_ms", 1..=i64::MAX)?;
        let assert = args.flag("assert")?;
        // What is not held needs no release, so that a bench is safe without its probe.
        if pulse_ms.is_none() && assert != Some(true) && self.presences.lack(Part::Probe).is_some()
        {
            return Ok(reset::report(false));
        }
        let mut held = self.wait_for().await?;
        let Held { link, reset } = &mut *held;
        let Some(link) = link else {
            return Err(Refuse::away(Part::Probe, "it is being opened".to_owned()));
        };
        match reset.apply(link, pulse_ms, assert).await {
            Ok(is_held) => Ok(reset::report(is_held)),
            Err(error) => {
                self.lose(&mut held, error.to_string());
                Err(Refuse::away(Part::Probe, error.to_string()))
            }
        }
    }

    /// As [`take`](Self::take), after a session that is ending, or whoever only looks at it.
    async fn wait_for(&self) -> Result<OwnedMutexGuard<Held>, Refuse> {
        let until = Instant::now() + 2 * END_WAIT;
        loop {
            match self.take() {
                Err(Refuse::ProbeBusy) if Instant::now() < until => {
                    sleep(TAKE_EVERY).await;
                }
                taken => return taken,
            }
        }
    }

    /// Begins a session, or refuses.
    pub(crate) async fn start(self: &Arc<Self>, args: &Args<'_>) -> Result<Opened, Refuse> {
        let channels = (args.la("swclk")?, args.la("swdio")?);
        args.int("packet_size", i64::MIN..=i64::MAX)?;
        args.int("packet_count", i64::MIN..=i64::MAX)?;
        let wait_ms: u64 = args.uint("wait_ms", 0..=i64::MAX)?.unwrap_or(0);
        let held = self.wait_for().await?;
        if held.link.is_none() {
            return Err(Refuse::away(Part::Probe, "it is being opened".to_owned()));
        }
        *self.used() = Some(channels);
        Ok(Opened {
            probe: self.clone(),
            held,
            wait: Duration::from_millis(wait_ms.min(WAIT_MS_MAX)),
        })
    }
}

/// An open session.
pub(crate) struct Opened {
    probe: Arc<Probe>,
    held: OwnedMutexGuard<Held>,
    /// How long the acknowledgement waits for the target.
    wait: Duration,
}

/// Why a session ends.
enum End {
    /// The client has gone, or said what is no packet, or nothing for too long.
    Client,
    /// The probe.
    Probe(std::io::Error),
}

impl From<Gone> for End {
    fn from(_: Gone) -> Self {
        Self::Client
    }
}

impl From<std::io::Error> for End {
    fn from(error: std::io::Error) -> Self {
        Self::Probe(error)
    }
}

impl Opened {
    /// Carries packets until the client closes. The connection is of no use afterwards.
    pub(crate) async fn run(mut self, client: &mut Client) -> Result<(), Gone> {
        let mut link = self.held.link.take().ok_or(Gone)?;
        let mut in_flight = 0;
        let ended = carry(&mut link, client, self.wait, &mut in_flight).await;
        let released = match ended {
            End::Client => timeout(2 * END_WAIT, release(&mut link, in_flight)).await,
            End::Probe(error) => Ok(Err(error)),
        };
        match released {
            Ok(Ok(())) => self.held.link = Some(link),
            Ok(Err(error)) => self.probe.lose(&mut self.held, error.to_string()),
            Err(_) => {
                let silent = "it did not answer at the end of a session".to_owned();
                self.probe.lose(&mut self.held, silent);
            }
        }
        Err(Gone)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        *self.probe.used() = None;
    }
}

async fn carry(link: &mut Link, client: &mut Client, wait: Duration, in_flight: &mut usize) -> End {
    match carry_on(link, client, wait, in_flight).await {
        Err(end) => end,
        Ok(never) => match never {},
    }
}

async fn carry_on(
    link: &mut Link,
    client: &mut Client,
    wait: Duration,
    in_flight: &mut usize,
) -> Result<std::convert::Infallible, End> {
    let most = packet_count(link).await?;
    if !wait.is_zero() {
        tokio::select! {
            answered = target::answers(link, wait) => answered?,
            () = client.closed() => {
                *in_flight = 1;
                return Err(End::Client);
            }
        }
    }
    client.reply(Ok(json!("dap ready"))).await?;
    let mut frames = DapFrames::default();
    let mut heard = Instant::now();
    let mut answered = Instant::now();
    let mut looks = interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        while *in_flight < most
            && let Some(packet) = frames.next_packet().map_err(|_| End::Client)?
        {
            let (bytes, most) = (packet.len(), link.packet_bytes());
            if most < bytes {
                warn!(
                    bytes,
                    most,
                    "ended a debug session: its client sent a packet that is longer than those of the probe, whose length \
                     DAP_Info tells"
                );
                return Err(End::Client);
            }
            if *in_flight == 0 {
                answered = Instant::now();
            }
            *in_flight += 1;
            link.send(&packet).await?;
        }
        tokio::select! {
            said = client.read_raw(2 * DAP_PACKET_BYTES_MAX), if *in_flight < most => {
                frames.push(&said?);
                heard = Instant::now();
            }
            answer = link.receive(), if *in_flight > 0 => {
                let answer = answer?;
                *in_flight -= 1;
                answered = Instant::now();
                let frame = dap_frame::encode(&answer);
                let frame = frame.map_err(std::io::Error::other)?;
                client.write_raw(&frame).await?;
            }
            _ = looks.tick() => {
                if heard.elapsed() > DAP_SILENCE_MAX {
                    debug!("a debug session was silent for too long");
                    return Err(End::Client);
                }
                if *in_flight == 0 {
                    // A probe that is unplugged between two packets is not noticed by a transfer.
                    link.look().await?;
                } else if answered.elapsed() > ANSWER_MAX {
                    let told = format!("it did not answer within {} s", ANSWER_MAX.as_secs());
                    return Err(End::Probe(std::io::Error::other(told)));
                } else {
                    // One that refuses a packet does not answer it.
                    link.sent()?;
                }
            }
        }
    }
}

/// How many packets the probe takes ahead of its answers.
async fn packet_count(link: &mut Link) -> std::io::Result<usize> {
    let answer = link.exchange(&[DAP_INFO, INFO_PACKET_COUNT]).await?;
    Ok(match answer[..] {
        [DAP_INFO, 1, count, ..] => usize::from(count).clamp(1, IN_FLIGHT_MAX),
        _ => 1,
    })
}

/// Takes the answers that nobody waits for any more, and disconnects the probe from the target.
async fn release(link: &mut Link, in_flight: usize) -> std::io::Result<()> {
    for _ in 0..in_flight {
        link.receive().await?;
    }
    link.exchange(&[DAP_DISCONNECT]).await.map(drop)
}

/// Any bytes as what a probe sends.
pub(crate) fn fuzz(bytes: &[u8]) {
    tcp::fuzz(bytes);
    hid::fuzz(bytes);
}
