//! `POST /la/captures/start`: a raw logic-analyzer capture.

use guest::captures::{Logic, Order, Plan};
use guest::{ApiError, JSON_BODY_BYTES_MAX, Openapi, Request, Route, members};
use serde_json::json;

use crate::capture;
use crate::order::{self, Shared};
use crate::start;

pub(crate) const ROUTE: Route = Route {
    name: "captures.start_logic",
    method: "POST",
    pattern: "/la/captures/start",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Start a logic-analyzer capture",
    openapi: Openapi::of(|operation| {
        operation.body::<Ask>(json!({
            "device_id": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
            "samples": 1_000_000,
            "sample_rate_mhz": 1.0,
            "channels": [1, 2],
            "trigger": {"channel": 2, "edge": "falling", "timeout_ms": 5000}
        }));
        start::describe_logic(operation);
    }),
    handle: |request| start::start(&parse(request)?),
};

members! {
    struct Ask {
        shared: Shared = inline(),
        /// Bounded by what the device reports.
        samples: u64 = required(order::samples()),
        /// Megasamples per second. The logic analyzer takes the nearest rate that it has; pods have 12 at most.
        sample_rate_mhz: f64 = required(order::logic_rate_mhz()),
        /// Channels to keep; absent = all.
        channels: Option<Vec<u8>> = optional(order::logic_channels()),
        /// Level of the input bank to select first, in mV; boards of the second revision have 3300
        /// alone. May be left out once a level is selected: until then such a capture is refused (409
        /// `wrong_state`).
        voltage_mv: Option<u32> = optional(order::voltage_mv()),
    }
}

pub(crate) fn parse(request: &Request) -> Result<Order, ApiError> {
    let ask: Ask = request.json()?.read()?;
    Ok(ask.shared.order(Plan::Logic(Logic {
        samples: ask.samples,
        sample_rate_mhz: ask.sample_rate_mhz,
        channels: ask.channels.unwrap_or_default(),
        voltage_mv: ask.voltage_mv,
    })))
}

#[cfg(test)]
mod tests {
    use guest::captures::Plan;
    use guest::testing::request;

    use super::parse;

    #[test]
    fn channels_are_all_or_a_set() {
        let channels = |members: &str| {
            let body = format!(r#"{{"device_id":"d","samples":10,"sample_rate_mhz":1{members}}}"#);
            match parse(&request(&body)).map(|order| order.plan) {
                Ok(Plan::Logic(logic)) => Ok(logic.channels),
                Ok(other) => panic!("{other:?}"),
                Err(error) => Err(error.message),
            }
        };
        assert_eq!(channels(""), Ok(vec![]));
        assert_eq!(channels(r#","channels":[14,1]"#), Ok(vec![14, 1]));
        assert_eq!(
            channels(r#","channels":[2,3,2]"#),
            Err("channels must not repeat a channel".into())
        );
        assert!(channels(r#","channels":[]"#).is_err());
        assert!(channels(r#","channels":[0]"#).is_err());
    }

    #[test]
    fn count_and_rate_are_required() {
        let error = parse(&request(r#"{"device_id":"d"}"#)).unwrap_err();
        let fields: Vec<_> = error.fields.iter().map(|p| p.field.as_str()).collect();
        assert_eq!(fields, ["samples", "sample_rate_mhz"]);
    }
}
