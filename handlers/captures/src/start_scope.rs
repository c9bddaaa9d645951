//! `POST /scope/captures/start`: an ADC capture.

use guest::captures::{Order, Plan, Scope};
use guest::{ApiError, JSON_BODY_BYTES_MAX, Request, Route, choice};

use crate::{capture, order};

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
    openapi: guest::compact_json!(
        r#"{"refusals":["device_offline","device_busy","lease_held","not_capable","quota_exceeded"],"requestBody":"#,
        include_str!("start_scope.json"),
        r#","responses":"#,
        include_str!("started.json"),
        "}",
    ),
    handle: |request| capture::start(&parse(request)?),
};

pub(crate) fn parse(request: &Request) -> Result<Order, ApiError> {
    order::parse(request, |body| {
        Plan::Scope(Scope {
            samples: body.or("samples", order::samples(), SAMPLES_DEFAULT),
            sample_rate_mhz: body.or("sample_rate_mhz", order::rate_mhz(), RATE_MHZ_DEFAULT),
            source: body.optional("source", choice(SOURCES)).map(str::to_owned),
        })
    })
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
