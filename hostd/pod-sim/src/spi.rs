//! The SPI master, with a NOR flash on the channels for which it is configured. A transfer takes
//! its real time, and its bits appear on the channels.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

mod flash;
mod frames;
mod nor;

pub(crate) use nor::Nor;

use super::args::Args;
use super::levels::Levels;
use super::pins::{Owner, Pins};
use super::refuse::Refuse;
use super::wave::Wave;
use frames::{Frame, Frames};

/// Maximum number of bytes in one transfer.
const XFER_BYTES_MAX: usize = 768;

/// Maximum number of bytes that a stream sends before the uploaded ones.
const HEAD_BYTES_MAX: usize = 64;

/// The bit clock is this divided by 2n, with n from 2 to 63.
const CLOCK_HZ: u32 = 24_000_000;
const HALVES: std::ops::RangeInclusive<u32> = 2..=63;

/// Clock rates that a request may name, in hertz; the lowest is the slowest that the dividers
/// allow.
const HZ: std::ops::RangeInclusive<i64> = 190_477..=100_000_000;
const DEFAULT_HZ: u32 = 1_000_000;

/// The byte that flash commands read if no flash is wired.
const OPEN: u8 = 0x00;

/// A stream pauses after this many bytes, to fetch the next ones.
const STREAM_BURST: u64 = 512;
const STREAM_PAUSE_NS: u64 = 3_000_000;

pub(super) const FUNCTIONS: [Owner; 4] =
    [Owner::SpiSck, Owner::SpiMosi, Owner::SpiMiso, Owner::SpiCs];

/// An open session.
#[derive(Debug, Clone, Copy)]
struct Session {
    /// Clock, output, input, select.
    pins: [u8; 4],
    hz: u32,
    mode: u8,
    held: bool,
}

/// The master and the chip that may be wired to it.
#[derive(Debug, Default)]
pub(crate) struct Spi {
    session: Option<Session>,
    nor: Nor,
    /// The channels to which the chip is wired.
    wired: Option<[u8; 4]>,
    frames: Frames,
    /// The earliest start of the next frame.
    free_ns: u64,
}

/// How a frame is sent.
#[derive(Debug, Clone, Copy)]
struct Manner {
    hold: bool,
    burst: u64,
    pause_ns: u64,
}

impl Manner {
    /// Without pauses.
    fn plain(hold: bool) -> Self {
        Self {
            hold,
            burst: u64::MAX / 32,
            pause_ns: 0,
        }
    }
}

impl Spi {
    pub(crate) fn new(wired: Option<[u8; 4]>) -> Self {
        Self {
            wired,
            ..Self::default()
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.session.is_some()
    }

    fn session(&mut self) -> Result<&mut Session, Refuse> {
        self.session.as_mut().ok_or(Refuse::SpiIdle)
    }

    /// The next frame begins now, or when the last transfer is over.
    fn begin(&mut self, now_ns: u64) {
        self.free_ns = self.free_ns.max(now_ns);
    }

    /// Shifts bytes, beginning when the last frame is over.
    fn shift(&mut self, sent: &[u8], manner: Manner) -> Result<Arc<Frame>, Refuse> {
        let start_ns = self.free_ns;
        let session = self.session()?;
        session.held = manner.hold;
        let session = *session;
        let is_wired = self.wired == Some(session.pins);
        let answered = is_wired.then(|| {
            let bytes = sent.iter().map(|byte| self.nor.shift(*byte, start_ns));
            bytes.collect()
        });
        let frame = Arc::new(Frame {
            start_ns,
            pins: session.pins,
            hz: session.hz,
            idle_high: session.mode == 3,
            sent: sent.into(),
            answered,
            releases: !manner.hold,
            burst: manner.burst,
            pause_ns: manner.pause_ns,
            until_ns: None,
        });
        self.free_ns = frame.end_ns();
        if is_wired && !manner.hold {
            self.nor.deselect(self.free_ns);
        }
        self.frames.push(frame.clone());
        Ok(frame)
    }

    /// A separate frame: command bytes, then `extra` more to read the answer.
    fn frame(&mut self, bytes: &[u8], extra: usize) -> Result<Vec<u8>, Refuse> {
        let mut sent = bytes.to_vec();
        sent.resize(bytes.len() + extra, 0);
        let frame = self.shift(&sent, Manner::plain(false))?;
        let answered = frame.answered.as_ref();
        Ok(answered.map_or(vec![OPEN; extra], |all| all[bytes.len()..].to_vec()))
    }

    /// Ends the session; the caller frees the channels.
    pub(super) fn end(&mut self, now_ns: u64) {
        self.session = None;
        self.nor.deselect(now_ns);
        self.frames.end(now_ns);
        self.free_ns = self.free_ns.min(now_ns);
    }

    pub(super) fn prune(&mut self, before_ns: u64) {
        self.frames.prune(before_ns);
    }

    /// What the master and its chip drive on these channels from `from_ns` on.
    pub(super) fn wave(&self, from_ns: u64, to_ns: u64, channels: u16) -> Option<Box<dyn Wave>> {
        self.frames.wave(from_ns, to_ns, channels)
    }

    fn later(&self, answer: Result<Value, Refuse>) -> Later {
        let at_ns = self.free_ns;
        Later { at_ns, answer }
    }

    /// `spi_status`.
    pub(crate) fn status(&self) -> Value {
        match &self.session {
            None => json!({"active": false}),
            Some(session) => {
                let mut status = report(session);
                status["active"] = true.into();
                status["cs_held"] = session.held.into();
                status
            }
        }
    }
}

fn report(session: &Session) -> Value {
    let [sck, mosi, miso, cs] = session.pins;
    json!({"sck": sck, "mosi": mosi, "miso": miso, "cs": cs, "hz": session.hz,
        "mode": session.mode})
}

/// `spi_start`: claims four channels.
pub(crate) fn start(
    spi: &mut Spi,
    pins: &mut Pins,
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Value, Refuse> {
    pins.need_bank()?;
    let mut channels = [0; 4];
    for (pin, field) in channels.iter_mut().zip(["sck", "mosi", "miso", "cs"]) {
        *pin = args.la(field)?.ok_or(Refuse::Missing { field })?;
    }
    let hz: u32 = args.uint("hz", HZ)?.unwrap_or(DEFAULT_HZ);
    let mode: u8 = args.uint("mode", 0..=3)?.unwrap_or(0);
    if !matches!(mode, 0 | 3) {
        return Err(Refuse::Bad {
            field: "mode",
            want: "0 or 3",
        });
    }
    let doubled = (0..4).any(|at| channels[..at].contains(&channels[at]));
    if doubled {
        return Err(Refuse::SameSpiPins);
    }
    if spi.session.is_some() {
        return Err(Refuse::SpiOpen);
    }
    if pins.has(Owner::SwdClk) {
        return Err(Refuse::SwdOpen);
    }
    let claims: Vec<(u8, Owner)> = channels.into_iter().zip(FUNCTIONS).collect();
    pins.claim_all(&claims, now_ns)?;
    if mode == 3 {
        // The clock idles high.
        pins.drive(channels[0], Some(true), now_ns);
    }
    let halves = (CLOCK_HZ / 2)
        .div_ceil(hz)
        .clamp(*HALVES.start(), *HALVES.end());
    let session = Session {
        pins: channels,
        hz: CLOCK_HZ / (2 * halves),
        mode,
        held: false,
    };
    spi.session = Some(session);
    Ok(report(&session))
}

/// `spi_stop`: frees the channels.
pub(crate) fn stop(spi: &mut Spi, pins: &mut Pins, now_ns: u64) -> Value {
    pins.free(&FUNCTIONS, now_ns);
    spi.end(now_ns);
    json!({"active": false})
}

/// An answer that is sent when the last frame is over.
pub(crate) struct Later {
    pub(crate) at_ns: u64,
    pub(crate) answer: Result<Value, Refuse>,
}

/// Bytes that were shifted in both directions.
pub(crate) struct Exchange {
    frame: Arc<Frame>,
    hold: bool,
}

impl Exchange {
    /// `spi_xfer`: sends the bytes.
    pub(crate) fn send(spi: &mut Spi, args: &Args<'_>, now_ns: u64) -> Result<Self, Refuse> {
        spi.session()?;
        let sent = bytes(args, "tx", 1..=XFER_BYTES_MAX)?.ok_or(Refuse::Missing { field: "tx" })?;
        let hold = hold(args)?;
        spi.begin(now_ns);
        let frame = spi.shift(&sent, Manner::plain(hold))?;
        Ok(Self { frame, hold })
    }

    /// The received bytes. `levels` returns those of some channels from one instant to another.
    pub(crate) fn answer(&self, levels: impl FnOnce(u64, u64, u16) -> Levels) -> Later {
        let received = match &self.frame.answered {
            Some(answered) => answered.to_vec(),
            None => self.frame.sample(levels),
        };
        let data = json!({"rx": URL_SAFE_NO_PAD.encode(received), "cs": select(self.hold)});
        Later {
            at_ns: self.frame.end_ns(),
            answer: Ok(data),
        }
    }
}

/// `spi_stream`: a head and some of the uploaded bytes, in one frame.
pub(crate) fn stream(
    spi: &mut Spi,
    uploaded: &[u8],
    args: &Args<'_>,
    now_ns: u64,
) -> Result<Later, Refuse> {
    let session = *spi.session()?;
    let len: usize = args
        .uint("len", 0..=i64::MAX)?
        .ok_or(Refuse::Missing { field: "len" })?;
    let mut sent = bytes(args, "head", 0..=HEAD_BYTES_MAX)?.unwrap_or_default();
    let hold = hold(args)?;
    let staged = uploaded.get(..len).ok_or(Refuse::BeyondUpload {
        samples: len as u64,
        uploaded: uploaded.len() as u64,
    })?;
    if len > 0 && uploaded.is_empty() {
        return Err(Refuse::NothingUploaded);
    }
    sent.extend(staged);
    spi.begin(now_ns);
    if session.held {
        // The chip is deselected before the frame.
        spi.shift(&[], Manner::plain(false))?;
    }
    let manner = Manner {
        hold,
        burst: STREAM_BURST,
        pause_ns: STREAM_PAUSE_NS,
    };
    let frame = spi.shift(&sent, manner)?;
    let took_ms = (frame.end_ns() - frame.start_ns) / 1_000_000;
    let data = json!({"sent": sent.len(), "ms": took_ms, "cs": select(hold)});
    Ok(spi.later(Ok(data)))
}

/// `spi_flash`: reads, erases and programs in whole operations.
pub(crate) fn flash(spi: &mut Spi, args: &Args<'_>, now_ns: u64) -> Result<Later, Refuse> {
    spi.session()?;
    spi.begin(now_ns);
    let answer = flash::run(spi, args);
    Ok(spi.later(answer))
}

fn hold(args: &Args<'_>) -> Result<bool, Refuse> {
    match args.text("cs")?.unwrap_or("release") {
        "release" => Ok(false),
        "hold" => Ok(true),
        _ => Err(Refuse::Bad {
            field: "cs",
            want: "release or hold",
        }),
    }
}

fn select(hold: bool) -> &'static str {
    if hold { "held" } else { "released" }
}

fn bytes(
    args: &Args<'_>,
    field: &'static str,
    lengths: std::ops::RangeInclusive<usize>,
) -> Result<Option<Vec<u8>>, Refuse> {
    let Some(text) = args.text(field)? else {
        return Ok(None);
    };
    let decoded = URL_SAFE_NO_PAD.decode(text).ok();
    let fitting = decoded.filter(|bytes| lengths.contains(&bytes.len()));
    fitting.map(Some).ok_or(Refuse::Bad {
        field,
        want: "base64url within the limit of bytes",
    })
}

#[cfg(test)]
mod tests;
