//! What a bench reports about itself.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pod_protocol::capture::ConditionKind;
use pod_protocol::{CAPTURE_DUAL, CAPTURE_PRE, UART_PARITY};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::bench::Parts;
use crate::driver::SCHEME;
use crate::plain::LEVEL_MV;
use crate::presence::Part;

impl Parts {
    /// The data of `status`.
    pub(crate) fn status(&self) -> Value {
        let is_there = |part| self.presences.lack(part).is_none();
        let mut caps = vec!["command"];
        let mut offer = |part, offered: &[&'static str]| {
            if is_there(part) {
                caps.extend(offered);
            }
        };
        offer(Part::Uart, &["uart"]);
        offer(Part::Power, &["power"]);
        offer(Part::Probe, &["swd", "nrst_pin"]);
        offer(Part::Logic, &["la", ConditionKind::Edge.capability()]);
        let facts = self.logic.as_ref().and_then(|logic| logic.facts());
        if facts.is_some_and(|facts| facts.is_searched) {
            offer(Part::Logic, &[CAPTURE_PRE]);
            offer(
                Part::Logic,
                &ConditionKind::FURTHER.map(ConditionKind::capability),
            );
        }
        offer(Part::Analog, &["analog", "scope", "capture_b64"]);
        let both = self.logic.as_ref().zip(self.analog.as_ref());
        if both.is_some_and(|(logic, analog)| logic.is_one_with(analog)) {
            offer(Part::Logic, &[CAPTURE_DUAL]);
        }
        let parts: Vec<&str> = self.presences.all().into_iter().map(Part::name).collect();
        let missing: Vec<Value> = self
            .presences
            .missing()
            .into_iter()
            .map(|m| json!(m))
            .collect();
        let up_ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut status = json!({
            "device": SCHEME,
            "board": "bench",
            "board_rev": SCHEME,
            "version": env!("CARGO_PKG_VERSION"),
            "analog": is_there(Part::Analog),
            "nrst_pin": is_there(Part::Probe),
            "la_vccio_mv": LEVEL_MV,
            "caps": caps,
            "parts": parts,
            "missing": missing,
            "last_crash": "none",
            "reset": "start",
            "uptime_ms": up_ms,
        });
        if let Some(uart) = &self.uart {
            status[UART_PARITY] = json!(uart.parity());
        }
        if let Some(facts) = self.logic.as_ref().and_then(|logic| logic.facts()) {
            status["la_channels"] = json!(facts.logic.len());
            status["la_max_samples"] = json!(facts.samples_max);
        }
        if let Some(facts) = self.analog.as_ref().and_then(|analog| analog.facts()) {
            status["adc_bits"] = json!(16);
            status["adc_channels"] = json!(1);
            status["adc_cal_a"] = json!(facts.fit.a_volts);
            status["adc_cal_b"] = json!(facts.fit.b_volts_per_count);
            status["adc_cal_unwrap"] = json!(facts.fit.unwrap);
        }
        status
    }

    /// The data of `identity_public`. Nothing has the private half of this key: it only tells benches apart, by name.
    pub(crate) fn identity(&self) -> Value {
        let key = Sha256::digest(format!("{SCHEME}:{}", self.name));
        json!({"public": URL_SAFE_NO_PAD.encode(key)})
    }
}
