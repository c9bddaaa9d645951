//! CAN with loopback: written frames come back, and rules answer received frames.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::args::Args;
use super::refuse::Refuse;

/// Frames that the receive ring holds.
const RING_FRAMES: usize = 31;

/// Frames that one `can_read` returns.
const READ_FRAMES_MAX: usize = 8;

/// Maximum number of responder rules.
const RULES_MAX: usize = 8;

/// Bytes in a frame.
const DATA_BYTES_MAX: usize = 8;

/// The controller's clock and its dividers: time quanta per bit, and the prescaler.
const CLOCK_HZ: u64 = 25_000_000;
const QUANTA: std::ops::RangeInclusive<u64> = 8..=25;
const PRESCALER_MAX: u64 = 512;

const DEFAULT_BITRATE: u64 = 500_000;
const STANDARD_ID_MAX: u64 = 0x7ff;
const EXTENDED_ID_MAX: u64 = 0x1fff_ffff;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    #[default]
    Normal,
    Internal,
    External,
    Listen,
}

impl Mode {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "normal" => Some(Self::Normal),
            "internal" => Some(Self::Internal),
            "external" => Some(Self::External),
            "listen" => Some(Self::Listen),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Internal => "internal",
            Self::External => "external",
            Self::Listen => "listen",
        }
    }
}

#[derive(Debug, Clone)]
struct Frame {
    id: u64,
    ext: bool,
    rtr: bool,
    data: Vec<u8>,
    ts_ms: u64,
}

#[derive(Debug)]
struct Rule {
    id: u64,
    ext: bool,
    reply: Frame,
}

/// The controller.
#[derive(Debug, Default)]
pub(crate) struct Can {
    enabled: bool,
    bitrate: u64,
    mode: Mode,
    term: bool,
    ring: VecDeque<Frame>,
    overflow: u64,
    rules: Vec<Rule>,
    hits: u64,
    last_ts_ms: u64,
}

impl Can {
    /// `can_config`: restarts the controller.
    pub(crate) fn config(&mut self, args: &Args<'_>) -> Result<Value, Refuse> {
        let bitrate = args
            .uint("bitrate", 1..=i64::MAX)?
            .unwrap_or(DEFAULT_BITRATE);
        let mode = Mode::from_name(args.text("mode")?.unwrap_or("normal")).ok_or(Refuse::Bad {
            field: "mode",
            want: "normal, internal, external or listen",
        })?;
        let term = args.flag("term")?.unwrap_or(false);
        // Accepted for clients that send it; the controller has no flexible data rate.
        args.flag("fd")?;
        if !is_supported(bitrate) {
            return Err(Refuse::CanBitrate { bitrate });
        }
        self.enabled = true;
        (self.bitrate, self.mode, self.term) = (bitrate, mode, term);
        self.ring.clear();
        self.overflow = 0;
        Ok(json!({"bitrate": bitrate, "mode": mode.name(), "term": term}))
    }

    /// `can_write`: one frame; in a loopback mode it comes back, and rules answer it.
    pub(crate) fn write(&mut self, args: &Args<'_>, now_ns: u64) -> Result<Value, Refuse> {
        let (id, ext) = identifier(args, "id", "ext")?;
        let rtr = args.flag("rtr")?.unwrap_or(false);
        let data = bytes(args, "data")?;
        if !self.enabled {
            return Err(Refuse::CanDisabled);
        }
        let dlc = data.len();
        if matches!(self.mode, Mode::Internal | Mode::External) {
            // Frames of separate commands are distinguished by their timestamps.
            let ts_ms = (now_ns / 1_000_000).max(self.last_ts_ms + 1);
            self.last_ts_ms = ts_ms;
            let frame = Frame {
                id,
                ext,
                rtr,
                data,
                ts_ms,
            };
            let matching = |rule: &&Rule| rule.id == id && rule.ext == ext;
            let reply = self.rules.iter().find(matching);
            let reply = reply.map(|rule| rule.reply.clone());
            self.receive(frame);
            if let Some(reply) = reply {
                self.hits += 1;
                self.receive(Frame { ts_ms, ..reply });
            }
        }
        Ok(json!({"id": id, "ext": ext, "dlc": dlc}))
    }

    fn receive(&mut self, frame: Frame) {
        if self.ring.len() == RING_FRAMES {
            self.overflow += 1;
        } else {
            self.ring.push_back(frame);
        }
    }

    /// `can_read`: takes frames out of the ring.
    pub(crate) fn read(&mut self, args: &Args<'_>) -> Result<Value, Refuse> {
        let most: usize = args.uint("max", 1..=i64::MAX)?.unwrap_or(usize::MAX);
        let most = most.min(READ_FRAMES_MAX);
        let count = most.min(self.ring.len());
        let frames: Vec<Value> = self
            .ring
            .drain(..count)
            .map(|frame| {
                json!({"id": frame.id, "ext": frame.ext, "rtr": frame.rtr,
                    "dlc": frame.data.len(), "data": frame.data, "ts": frame.ts_ms})
            })
            .collect();
        Ok(json!({"frames": frames, "overflow": self.overflow}))
    }

    /// `can_status`.
    pub(crate) fn status(&self) -> Value {
        json!({"enabled": self.enabled, "mode": self.mode.name(), "bitrate": self.bitrate,
            "term": self.term, "tec": 0, "rec": 0, "bus_off": false, "error_passive": false,
            "bus_off_recoveries": 0, "rx_pending": self.ring.len(),
            "rx_overflow": self.overflow, "responder_rules": self.rules.len(),
            "responder_hits": self.hits})
    }

    /// `can_term`: the termination, which can be switched even while CAN is disabled.
    pub(crate) fn term(&mut self, args: &Args<'_>) -> Result<Value, Refuse> {
        self.term = args.flag("on")?.ok_or(Refuse::Missing { field: "on" })?;
        Ok(json!({"term": self.term}))
    }

    /// `can_respond`: adds a rule, or clears them all.
    pub(crate) fn respond(&mut self, args: &Args<'_>) -> Result<Value, Refuse> {
        if args.flag("clear")? == Some(true) {
            self.rules.clear();
            self.hits = 0;
            return Ok(json!({"rules": 0}));
        }
        let (id, ext) = identifier(args, "match_id", "ext")?;
        let (reply_id, reply_ext) = identifier(args, "reply_id", "reply_ext")?;
        let data = bytes(args, "reply_data")?;
        if self.rules.len() == RULES_MAX {
            return Err(Refuse::CanRules { limit: RULES_MAX });
        }
        let reply = Frame {
            id: reply_id,
            ext: reply_ext,
            rtr: false,
            data,
            ts_ms: 0,
        };
        self.rules.push(Rule { id, ext, reply });
        Ok(json!({"rule": self.rules.len() - 1, "rules": self.rules.len()}))
    }

    /// `can_disable`: the rules are kept.
    pub(crate) fn disable(&mut self) -> Value {
        self.enabled = false;
        self.ring.clear();
        json!({"enabled": false})
    }
}

/// Whether some number of quanta gives an integer prescaler.
fn is_supported(bitrate: u64) -> bool {
    QUANTA.into_iter().any(|quanta| {
        let divisor = bitrate.saturating_mul(quanta);
        CLOCK_HZ.is_multiple_of(divisor) && CLOCK_HZ / divisor <= PRESCALER_MAX
    })
}

fn identifier(args: &Args<'_>, id: &'static str, ext: &'static str) -> Result<(u64, bool), Refuse> {
    let ext = args.flag(ext)?.unwrap_or(false);
    let most = if ext {
        EXTENDED_ID_MAX
    } else {
        STANDARD_ID_MAX
    };
    let most = i64::try_from(most).expect("29 bits");
    let number = args.uint(id, 0..=most)?;
    Ok((number.ok_or(Refuse::Missing { field: id })?, ext))
}

fn bytes(args: &Args<'_>, field: &'static str) -> Result<Vec<u8>, Refuse> {
    let Some(value) = args.0.get(field).filter(|value| !value.is_null()) else {
        return Ok(Vec::new());
    };
    let byte = |value: &Value| u8::try_from(value.as_u64()?).ok();
    let bytes: Option<Vec<u8>> = value
        .as_array()
        .filter(|list| list.len() <= DATA_BYTES_MAX)
        .and_then(|list| list.iter().map(byte).collect());
    bytes.ok_or(Refuse::CanData { field })
}

#[cfg(test)]
mod tests;
