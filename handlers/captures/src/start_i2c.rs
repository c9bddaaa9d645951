//! `POST /analyzer/captures/start`: a logic-analyzer capture of an I²C bus; its record carries the
//! decoded events.

use guest::captures::{I2c, Order, Plan};
use guest::{ApiError, JSON_BODY_BYTES_MAX, Openapi, Request, Route, members};
use serde_json::json;

use crate::capture;
use crate::order::{self, Shared};
use crate::start;

pub(crate) const ROUTE: Route = Route {
    name: "captures.start_i2c",
    method: "POST",
    pattern: "/analyzer/captures/start",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Start an I²C analyzer capture",
    openapi: Openapi::of(|operation| {
        operation.body::<Ask>(json!({
            "device_id": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
            "samples": 1_000_000,
            "sample_rate_mhz": 1.0,
            "scl": 1,
            "sda": 2,
            "name": "boot"
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
        /// Channel of the data line: its name, such as `LA2`, or its number.
        sda: u8 = required(order::logic_channel()),
        /// Channel of the clock line: its name, such as `LA1`, or its number.
        scl: u8 = required(order::logic_channel()),
        /// Level of the input bank to select first, in mV; boards of the second revision have 3300
        /// alone. May be left out once a level is selected: until then such a capture is refused (409
        /// `wrong_state`).
        voltage_mv: Option<u32> = optional(order::voltage_mv()),
    }
}

pub(crate) fn parse(request: &Request) -> Result<Order, ApiError> {
    let ask: Ask = request.json()?.read()?;
    if ask.sda == ask.scl {
        return Err(ApiError::field("scl", "must be another channel than sda"));
    }
    Ok(ask.shared.order(Plan::I2c(I2c {
        samples: ask.samples,
        sample_rate_mhz: ask.sample_rate_mhz,
        sda: ask.sda,
        scl: ask.scl,
        voltage_mv: ask.voltage_mv,
    })))
}

#[cfg(test)]
mod tests {
    use guest::captures::Plan;
    use guest::testing::request;

    use super::parse;

    #[test]
    fn two_lines() {
        let lines = |members: &str| {
            let body = format!(r#"{{"device_id":"d","samples":10,"sample_rate_mhz":1,{members}}}"#);
            match parse(&request(&body)).map(|order| order.plan) {
                Ok(Plan::I2c(i2c)) => Ok((i2c.sda, i2c.scl, i2c.voltage_mv)),
                Ok(other) => panic!("{other:?}"),
                Err(error) => Err(error.message),
            }
        };
        assert_eq!(lines(r#""sda":2,"scl":1"#), Ok((2, 1, None)));
        assert_eq!(
            lines(r#""sda":2,"scl":1,"voltage_mv":3300"#),
            Ok((2, 1, Some(3300)))
        );
        assert_eq!(
            lines(r#""sda":2,"scl":2"#),
            Err("scl must be another channel than sda".into())
        );
        assert_eq!(lines(r#""sda":"LA2","scl":"LA1""#), Ok((2, 1, None)));
        assert!(lines(r#""sda":"LA2","scl":2"#).is_err());
        let rule = lines(r#""sda":1,"scl":"SCL""#).unwrap_err();
        assert!(rule.ends_with("or the number alone"), "{rule}");
        assert_eq!(lines(r#""sda":2"#), Err("scl is required".into()));
        assert_eq!(lines(r#""scl":1"#), Err("sda is required".into()));
    }
}
