//! A fuzz entry: whatever a client and a pod say to each other through a gate.

use std::time::{Duration, Instant};

use bytes::Bytes;
use pods::protocol::commands::{self, Tier};
use serde_json::{Map, Value};

use super::{Gate, Kind, Mode, Verdict};

/// How far the caller's commands may reach.
const TIER_MAX: Tier = Tier::Instrument;

/// Plays a script. Its first byte is the kind of the tunnel; then come messages: a byte with the
/// sender (bit 0: the pod) and the pause before it (the other bits, in 100 ms), a length byte, and
/// the bytes.
///
/// # Panics
/// If a command passes that the caller may not send. Nothing else may panic.
pub fn sayings(script: &[u8]) {
    let Some((kind, mut script)) = script.split_first() else {
        return;
    };
    let kinds = [Kind::Any, Kind::Uart, Kind::Capture, Kind::Dac, Kind::Flash];
    let mut now = Instant::now();
    let mut gate = Gate::new(kinds[usize::from(*kind) % kinds.len()], TIER_MAX, now);
    while let [how, length, rest @ ..] = script {
        let (said, after) = rest.split_at(rest.len().min(usize::from(*length)));
        script = after;
        now += Duration::from_millis(100) * u32::from(how >> 1);
        if gate.pause(now).is_some() {
            return;
        }
        if how & 1 == 1 {
            gate.pod(said, now);
        } else if gate.is_open() && !client(&mut gate, said, now) {
            return;
        }
    }
}

/// A client's message, in as many pieces as the gate takes. False: the tunnel has ended.
fn client(gate: &mut Gate, said: &[u8], now: Instant) -> bool {
    let mut said = Bytes::copy_from_slice(said);
    while gate.is_open() && !said.is_empty() {
        let reads_lines = matches!(gate.mode, Mode::Lines(_));
        let (passed, rest) = match gate.client(said.clone(), now) {
            Verdict::Pass { bytes, rest } => (bytes, Some(rest)),
            Verdict::Refuse { before, rest, .. } => (before, Some(rest)),
            Verdict::Last { bytes, .. } => (bytes, None),
        };
        if reads_lines {
            passed
                .split_inclusive(|b| *b == b'\n')
                .for_each(expect_allowed);
        }
        let Some(rest) = rest else {
            return false;
        };
        assert!(rest.len() < said.len() || !gate.is_open());
        said = rest;
    }
    true
}

fn expect_allowed(line: &[u8]) {
    let request: Map<String, Value> = serde_json::from_slice(line).expect("a JSON object");
    assert!(line.ends_with(b"\n"));
    assert!(commands::tier_of(&request) <= TIER_MAX, "{request:?}");
}
