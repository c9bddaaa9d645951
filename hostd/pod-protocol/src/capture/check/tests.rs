//! Requests at and beyond their bounds.

use super::RequestError;
use crate::TRIGGER_NS_MAX;
use crate::capture::{CaptureRequest, Condition, Edge, Length, Trigger};

fn la(samples: u64, rate_mhz: f64) -> CaptureRequest {
    CaptureRequest::La {
        samples,
        rate_mhz,
        trigger: None,
    }
}

fn stream(samples: u64, rate_mhz: f64) -> CaptureRequest {
    CaptureRequest::Stream {
        samples,
        rate_mhz,
        trigger: None,
    }
}

fn dual(adc_samples: u64, la_samples: u64) -> CaptureRequest {
    CaptureRequest::Dual {
        adc_samples,
        adc_rate_mhz: 0.4,
        la_samples,
        la_rate_mhz: 1.0,
        trigger: None,
    }
}

fn waiting(condition: Condition, timeout_ms: u32, pre_samples: u64) -> CaptureRequest {
    CaptureRequest::Scope {
        samples: 10,
        rate_mhz: 0.1,
        source: None,
        trigger: Some(Trigger {
            condition,
            timeout_ms,
            pre_samples,
        }),
    }
}

fn triggered(channel: u8, timeout_ms: u32) -> CaptureRequest {
    waiting(Condition::edge(channel, Edge::Rising), timeout_ms, 0)
}

fn on(condition: Condition) -> CaptureRequest {
    waiting(condition, 1, 9)
}

fn pulse(ns: u64) -> Condition {
    Condition::Pulse {
        channel: 14,
        is_high: true,
        length: Length::ShorterThan(ns),
    }
}

fn level(channel: u8, for_ns: u64) -> Condition {
    Condition::Level {
        channel,
        is_high: false,
        for_ns,
    }
}

fn pattern(channels: u16, levels: u16) -> Condition {
    Condition::Pattern { channels, levels }
}

/// Logic samples at 1 MHz beside 100 of the ADC at 400 kHz, which take 250 µs.
fn before_both(la_samples: u64, pre_samples: u64) -> CaptureRequest {
    CaptureRequest::Dual {
        adc_samples: 100,
        adc_rate_mhz: 0.4,
        la_samples,
        la_rate_mhz: 1.0,
        trigger: Some(Trigger {
            condition: Condition::edge(1, Edge::High),
            timeout_ms: 1,
            pre_samples,
        }),
    }
}

#[test]
fn everything_within_its_bounds_passes() {
    for request in [
        la(1, 12.0),
        la(4_194_304, 1.0),
        stream(1 << 32, 3.0),
        dual(0, 4_192_256),
        dual(4_192_256, 0),
        dual(4_000_000, 192_256),
        triggered(1, 1),
        triggered(14, 600_000),
        on(pulse(1)),
        on(pulse(TRIGGER_NS_MAX)),
        on(level(1, 1)),
        on(pattern(0x3FFF, 0x2001)),
        before_both(200, 199),
        before_both(1_000, 249),
    ] {
        assert_eq!(request.check(), Ok(()), "{request:?}");
    }
}

#[test]
fn what_is_out_of_bounds_is_named_with_its_bound() {
    for (request, names) in [
        (la(0, 1.0), "`samples` must be 1 to 4194304, not 0"),
        (la(u64::MAX, 1.0), "`samples` must be 1 to 4194304"),
        (stream(0, 1.0), "`samples` must be 1 to 4294967296, not 0"),
        (
            stream((1 << 32) + 1, 1.0),
            "`samples` must be 1 to 4294967296",
        ),
        (la(10, 0.0), "`rate_mhz`"),
        (la(10, f64::NAN), "`rate_mhz`"),
        (la(10, f64::INFINITY), "`rate_mhz`"),
        (la(4_000_000, 1e-9), "less than 3600 s"),
        (dual(0, 0), "`adc_samples` must be 1 to 4192256"),
        (dual(4_192_000, 257), "`la_samples` must be 0 to 256"),
        (dual(u64::MAX, 1), "`adc_samples`"),
        (triggered(0, 5), "`trigger.channel` must be 1 to 14"),
        (triggered(15, 5), "`trigger.channel` must be 1 to 14"),
        (triggered(3, 0), "`trigger.timeout_ms` must be 1 to 600000"),
        (triggered(3, 600_001), "`trigger.timeout_ms`"),
        (
            waiting(level(1, 1), 1, 10),
            "`pre_samples` must be 0 to 9, not 10",
        ),
        (before_both(200, 200), "`pre_samples` must be 0 to 199"),
        (before_both(1_000, 250), "`pre_samples` must be 0 to 249"),
        (on(pulse(0)), "must be 1 to 600000000000 ns, not 0"),
        (on(level(1, TRIGGER_NS_MAX + 1)), "must be 1 to"),
        (on(level(15, 1)), "`trigger.channel` must be 1 to 14"),
        (on(pattern(0, 0)), "one or more of channels"),
        (on(pattern(0x4000, 0)), "one or more of channels"),
        (on(pattern(1, 2)), "one or more of channels"),
    ] {
        let error: RequestError = request.check().unwrap_err();
        assert!(
            error.to_string().contains(names),
            "{error} should say {names}"
        );
    }
}
