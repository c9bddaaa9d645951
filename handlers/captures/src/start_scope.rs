//! `POST /scope/captures/start`: an ADC capture.

use guest::captures::{Order, Plan, Scope};
use guest::{ApiError, JSON_BODY_BYTES_MAX, Openapi, Request, Route, choice, members};
use serde_json::json;

use crate::capture;
use crate::order::{self, Shared};
use crate::start;

/// Samples when the caller does not say.
const SAMPLES_DEFAULT: u64 = 256;

/// Rate when the caller does not say, in MHz.
const RATE_MHZ_DEFAULT: f64 = 1.0;

/// Signals that the pod can route to its ADC.
const SOURCES: &[(&str, &str)] = &[
    ("ext", "ext"),
    ("cal1", "cal1"),
    ("cal2", "cal2"),
    ("current_in", "current_in"),
];

pub(crate) const ROUTE: Route = Route {
    name: "captures.start_scope",
    method: "POST",
    pattern: "/scope/captures/start",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Start an ADC capture",
    openapi: Openapi::of(|operation| {
        operation.body::<Ask>(json!({
            "device_id": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
            "samples": 4096,
            "sample_rate_mhz": 0.4,
            "source": "ext"
        }));
        start::describe(operation);
    }),
    handle: |request| start::start(&parse(request)?),
};

members! {
    struct Ask {
        shared: Shared = inline(),
        /// Bounded by what the device reports.
        samples: u64 = or(order::samples(), SAMPLES_DEFAULT),
        /// Megasamples per second. The ADC takes the nearest rate that it has, at most 0.4.
        sample_rate_mhz: f64 = or(order::adc_rate_mhz(), RATE_MHZ_DEFAULT),
        /// Signal to route to the ADC first; absent leaves the routing alone.
        source: Option<&'static str> = optional(choice(SOURCES)),
    }
}

pub(crate) fn parse(request: &Request) -> Result<Order, ApiError> {
    let ask: Ask = request.json()?.read()?;
    Ok(ask.shared.order(Plan::Scope(Scope {
        samples: ask.samples,
        sample_rate_mhz: ask.sample_rate_mhz,
        source: ask.source.map(str::to_owned),
    })))
}

#[cfg(test)]
mod tests {
    use guest::captures::{Plan, Scope};
    use guest::testing::request;

    use super::parse;

    fn plan(body: &str) -> Scope {
        match parse(&request(body)).unwrap().plan {
            Plan::Scope(scope) => scope,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn defaults_and_source() {
        let scope = plan(r#"{"device_id":"d"}"#);
        assert_eq!((scope.samples, scope.sample_rate_mhz), (256, 1.0));
        assert_eq!(scope.source, None);
        let scope = plan(r#"{"device_id":"d","samples":9,"sample_rate_mhz":0.4,"source":"cal2"}"#);
        assert_eq!((scope.samples, scope.sample_rate_mhz), (9, 0.4));
        assert_eq!(scope.source.as_deref(), Some("cal2"));
    }

    #[test]
    fn other_sources_are_refused() {
        let error = parse(&request(r#"{"device_id":"d","source":"usb"}"#)).unwrap_err();
        assert_eq!(
            error.message,
            "source must be one of ext, cal1, cal2, current_in"
        );
    }
}
