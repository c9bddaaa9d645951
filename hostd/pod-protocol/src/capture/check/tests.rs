//! Requests at and beyond their bounds.

use super::RequestError;
use crate::capture::{CaptureRequest, Edge, Trigger};

fn la(samples: u64, rate_mhz: f64) -> CaptureRequest {
    CaptureRequest::La {
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

fn triggered(channel: u8, timeout_ms: u32) -> CaptureRequest {
    CaptureRequest::Scope {
        samples: 10,
        rate_mhz: 0.1,
        source: None,
        trigger: Some(Trigger {
            channel,
            edge: Edge::Rising,
            timeout_ms,
        }),
    }
}

#[test]
fn everything_within_its_bounds_passes() {
    for request in [
        la(1, 12.0),
        la(4_194_304, 1.0),
        dual(0, 4_192_256),
        dual(4_192_256, 0),
        dual(4_000_000, 192_256),
        triggered(1, 1),
        triggered(14, 600_000),
    ] {
        assert_eq!(request.check(), Ok(()), "{request:?}");
    }
}

#[test]
fn what_is_out_of_bounds_is_named_with_its_bound() {
    for (request, names) in [
        (la(0, 1.0), "`samples` must be 1 to 4194304, not 0"),
        (la(u64::MAX, 1.0), "`samples` must be 1 to 4194304"),
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
    ] {
        let error: RequestError = request.check().unwrap_err();
        assert!(
            error.to_string().contains(names),
            "{error} should say {names}"
        );
    }
}
