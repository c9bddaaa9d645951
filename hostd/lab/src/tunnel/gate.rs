//! What may pass through a tunnel: while the pod reads lines, the commands that the tunnel's kind and
//! the caller's tier allow; while it reads raw bytes, anything.
//!
//! A pod returns from raw bytes to lines by rules of its own, and what it then reads as commands must
//! not slip past the gate. So the gate tracks the pod's mode from what both sides say, and ends the
//! tunnel before the pod could change its mode unseen.

use std::time::{Duration, Instant};

use bytes::Bytes;
use pods::protocol::REQUEST_LINE_BYTES_MAX;
use pods::protocol::commands::{self, Tier};
use pods::protocol::dap_frame::DAP_PACKET_BYTES_MAX;
use serde_json::{Map, Value, json};

use super::escape::{ESCAPE_PAUSE, Escape};

#[doc(hidden)]
pub mod fuzz;

/// What a tunnel is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Uart,
    Capture,
    Dac,
    Flash,
    /// Anything, with the device to itself.
    Any,
}

/// Commands of a capture tunnel: those that answer in several lines without driving anything.
const CAPTURE: [&str; 9] = [
    "capture",
    "capture_dual",
    "capture_read",
    "la_capture",
    "power_profile",
    "sensor_la",
    "sensor_regs",
    "stream",
    "test",
];

/// Commands of a DAC tunnel.
const DAC: [&str; 4] = ["dac_stop", "load", "load_bin", "replay"];

/// A pod abandons an upload after 30 s without a byte; the tunnel does so earlier.
const UPLOAD_PAUSE_MAX: Duration = Duration::from_secs(20);

/// A pod may end an unused debug session; the tunnel does so earlier.
const DAP_PAUSE_MAX: Duration = Duration::from_secs(120);

/// Longest line from a pod that is checked for an acknowledgement.
const ACK_BYTES_MAX: usize = 4096;

#[derive(Debug, PartialEq, Eq)]
enum Mode {
    /// The pod reads lines; the beginning of the next one.
    Lines(Vec<u8>),
    /// A command that may change the mode was passed on: nothing more passes until it is answered.
    Asked {
        switch: Switch,
        total: u64,
        answer: Vec<u8>,
    },
    Uart(Escape),
    /// Bytes left of the frame, none between two frames; and the part of its header received so
    /// far.
    Dap {
        left: u32,
        header: Option<u8>,
    },
    Upload {
        left: u64,
        line: Vec<u8>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    Uart,
    Dap,
    Upload,
}

/// What to do with bytes from the client.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Pass these on; the rest waits until the pod has answered.
    Pass { bytes: Bytes, rest: Bytes },
    /// Send the client this line in the pod's place, after passing on what came before it.
    Refuse {
        before: Bytes,
        line: Vec<u8>,
        rest: Bytes,
    },
    /// Pass these on, then end the tunnel.
    Last { bytes: Bytes, why: End },
}

/// Why the gate ends a tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum End {
    #[error("a command line is over {REQUEST_LINE_BYTES_MAX} bytes")]
    LineTooLong,
    #[error("the session was ended by its escape sequence")]
    Escaped,
    #[error("the debug session was ended by a frame of length 0 or above {DAP_PACKET_BYTES_MAX}")]
    FrameEnded,
    #[error("nothing was sent for too long")]
    Idle,
}

/// The gate of one tunnel.
#[derive(Debug)]
pub struct Gate {
    kind: Kind,
    tier_max: Tier,
    mode: Mode,
    /// When the client last sent something.
    last: Instant,
    has_reloaded: bool,
}

impl Gate {
    #[must_use]
    pub fn new(kind: Kind, tier_max: Tier, now: Instant) -> Self {
        Self {
            kind,
            tier_max,
            mode: Mode::Lines(Vec::new()),
            last: now,
            has_reloaded: false,
        }
    }

    /// Whether the pod may have reloaded, with another gateware image.
    #[must_use]
    pub(crate) fn has_reloaded(&self) -> bool {
        self.has_reloaded
    }

    /// Whether to read more from the client; not while a mode-changing command is unanswered.
    #[must_use]
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.mode, Mode::Asked { .. })
    }

    /// When to call [`Gate::pause`], if nothing arrives before.
    #[must_use]
    pub(crate) fn wakes_at(&self) -> Option<Instant> {
        match &self.mode {
            Mode::Uart(escape) if escape.is_complete() => Some(self.last + ESCAPE_PAUSE),
            Mode::Upload { .. } => Some(self.last + UPLOAD_PAUSE_MAX),
            Mode::Dap { .. } => Some(self.last + DAP_PAUSE_MAX),
            Mode::Lines(_) | Mode::Asked { .. } | Mode::Uart(_) => None,
        }
    }

    /// Nothing has arrived by [`Gate::wakes_at`]: whether the tunnel ends.
    #[must_use]
    pub(crate) fn pause(&self, now: Instant) -> Option<End> {
        self.wakes_at().filter(|at| *at <= now)?;
        Some(match self.mode {
            Mode::Uart(_) => End::Escaped,
            _ => End::Idle,
        })
    }

    /// Bytes from the client, while `Gate::is_open`. Unchanged bytes are not copied.
    pub fn client(&mut self, bytes: Bytes, now: Instant) -> Verdict {
        let pause = now.saturating_duration_since(self.last);
        self.last = now;
        match &mut self.mode {
            Mode::Uart(escape) => escape.follow(&bytes, pause),
            Mode::Dap { left, header } => {
                if let Err((passed, why)) = frames(left, header, &bytes) {
                    let bytes = bytes.slice(..passed);
                    return Verdict::Last { bytes, why };
                }
            }
            Mode::Upload { left, .. } if *left > bytes.len() as u64 => *left -= bytes.len() as u64,
            Mode::Upload { .. } | Mode::Lines(_) | Mode::Asked { .. } => return self.lines(&bytes),
        }
        Verdict::Pass {
            bytes,
            rest: Bytes::new(),
        }
    }

    /// Bytes that contain lines, perhaps after the end of an upload.
    fn lines(&mut self, bytes: &Bytes) -> Verdict {
        let mut passed = Vec::with_capacity(bytes.len());
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            match &mut self.mode {
                Mode::Asked { .. } | Mode::Uart(_) | Mode::Dap { .. } => break,
                Mode::Upload { left, .. } => {
                    let took = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    passed.extend_from_slice(&rest[..took]);
                    *left -= took as u64;
                    at += took;
                    if *left == 0 {
                        self.mode = Mode::Lines(Vec::new());
                    }
                }
                Mode::Lines(line) => {
                    let end = memchr::memchr(b'\n', rest);
                    let took = end.map_or(rest.len(), |end| end + 1);
                    line.extend_from_slice(&rest[..took]);
                    at += took;
                    if line.len() > REQUEST_LINE_BYTES_MAX + 1 {
                        let (bytes, why) = (passed.into(), End::LineTooLong);
                        return Verdict::Last { bytes, why };
                    }
                    if end.is_none() {
                        break;
                    }
                    let line = std::mem::take(line);
                    match self.judge(line.trim_ascii()) {
                        Ok(line) => passed.extend_from_slice(&line),
                        Err(refusal) => {
                            return Verdict::Refuse {
                                before: passed.into(),
                                line: refusal,
                                rest: bytes.slice(at..),
                            };
                        }
                    }
                }
            }
        }
        Verdict::Pass {
            bytes: passed.into(),
            rest: bytes.slice(at..),
        }
    }

    /// The line to send to the pod for a command line, or the refusal instead. The command is
    /// serialised again, so that the pod cannot read a different command from the one judged here;
    /// and any other kind of line would switch a real pod's connection to SCPI.
    fn judge(&mut self, line: &[u8]) -> Result<Vec<u8>, Vec<u8>> {
        if line.is_empty() {
            return Ok(Vec::new());
        }
        let Ok(request) = serde_json::from_slice::<Map<String, Value>>(line) else {
            return Err(refusal("the request is not a JSON object in one line"));
        };
        let verb = request.get("cmd").and_then(Value::as_str).unwrap_or("");
        let refuse = |why: &str| Err(refusal(&format!("forbidden: {verb} {why}")));
        if commands::tier_of(&request) > self.tier_max {
            return refuse("needs an administrator");
        }
        let switch = match verb {
            "uart_proxy_start" => Some(Switch::Uart),
            "dap_start" => Some(Switch::Dap),
            "load_bin" => Some(Switch::Upload),
            _ => None,
        };
        let fits = match self.kind {
            Kind::Any => true,
            Kind::Uart => switch == Some(Switch::Uart),
            Kind::Flash => switch == Some(Switch::Dap),
            Kind::Capture => CAPTURE.contains(&verb),
            Kind::Dac => DAC.contains(&verb),
        };
        if !fits {
            return refuse("is not what this kind of tunnel is for");
        }
        // Raw bytes that the gate does not track.
        if verb == "speedtest" {
            return refuse("cannot pass through a tunnel");
        }
        self.has_reloaded |= verb == "fpga_image";
        if let Some(switch) = switch {
            let total = request.get("total").and_then(Value::as_u64).unwrap_or(0);
            self.mode = Mode::Asked {
                switch,
                total,
                answer: Vec::new(),
            };
        }
        Ok(line_of(Value::Object(request)))
    }

    /// Bytes from the pod, before they are passed on. True: the gate is open again.
    pub fn pod(&mut self, bytes: &[u8], now: Instant) -> bool {
        match &mut self.mode {
            Mode::Asked {
                switch,
                total,
                answer,
            } => {
                let end = bytes.iter().position(|b| *b == b'\n');
                let room = ACK_BYTES_MAX.saturating_sub(answer.len());
                let part = &bytes[..end.unwrap_or(bytes.len())];
                answer.extend_from_slice(&part[..part.len().min(room)]);
                if end.is_none() {
                    return false;
                }
                let granted = is_ok(answer);
                self.mode = match (granted, *switch) {
                    (false, _) => Mode::Lines(Vec::new()),
                    (true, Switch::Uart) => Mode::Uart(Escape::BEGIN),
                    (true, Switch::Dap) => Mode::Dap {
                        left: 0,
                        header: None,
                    },
                    (true, Switch::Upload) => Mode::Upload {
                        left: *total,
                        line: Vec::new(),
                    },
                };
                self.last = now;
                true
            }
            // A pod that abandons an upload says so in a line.
            Mode::Upload { line, .. } => {
                for byte in bytes {
                    if *byte != b'\n' {
                        if line.len() < ACK_BYTES_MAX {
                            line.push(*byte);
                        }
                    } else if is_error(&std::mem::take(line)) {
                        self.mode = Mode::Lines(Vec::new());
                        break;
                    }
                }
                false
            }
            Mode::Lines(_) | Mode::Uart(_) | Mode::Dap { .. } => false,
        }
    }
}

fn refusal(message: &str) -> Vec<u8> {
    line_of(json!({"status": "error", "message": message}))
}

fn line_of(object: Value) -> Vec<u8> {
    let mut line = object.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Follow whole and partial frames; returns how much precedes an invalid one, and why it is
/// invalid.
fn frames(left: &mut u32, header: &mut Option<u8>, bytes: &[u8]) -> Result<(), (usize, End)> {
    let mut at = 0;
    while at < bytes.len() {
        at += frame(left, header, &bytes[at..]).map_err(|why| (at, why))?;
    }
    Ok(())
}

/// Take the bytes of one frame, or of its header, from the front of `bytes`.
fn frame(left: &mut u32, header: &mut Option<u8>, bytes: &[u8]) -> Result<usize, End> {
    if *left > 0 {
        let took = bytes.len().min(*left as usize);
        *left -= u32::try_from(took).expect("a frame is short");
        return Ok(took);
    }
    match header.take() {
        None => {
            *header = Some(bytes[0]);
            // A first half alone does no harm; the second half decides.
            match bytes.get(1) {
                None => Ok(1),
                Some(high) => length(left, header, bytes[0], *high).map(|()| 2),
            }
        }
        Some(low) => length(left, header, low, bytes[0]).map(|()| 1),
    }
}

fn length(left: &mut u32, header: &mut Option<u8>, low: u8, high: u8) -> Result<(), End> {
    *header = None;
    let length = u16::from_le_bytes([low, high]);
    if length == 0 || usize::from(length) > DAP_PACKET_BYTES_MAX {
        return Err(End::FrameEnded);
    }
    *left = u32::from(length);
    Ok(())
}

fn status(line: &[u8]) -> Option<String> {
    let object: Map<String, Value> = serde_json::from_slice(line).ok()?;
    Some(object.get("status")?.as_str()?.to_owned())
}

fn is_ok(line: &[u8]) -> bool {
    status(line).as_deref() == Some("ok")
}

fn is_error(line: &[u8]) -> bool {
    status(line).as_deref() == Some("error")
}

#[cfg(test)]
mod tests;
