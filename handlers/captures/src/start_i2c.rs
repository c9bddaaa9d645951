//! `POST /analyzer/captures/start`: a logic-analyzer capture of an I²C bus; its record carries the
//! decoded events.

use guest::captures::{I2c, Order, Plan};
use guest::{ApiError, JSON_BODY_BYTES_MAX, Request, Route};

use crate::{capture, order};

pub(crate) const ROUTE: Route = Route {
    name: "captures.start_i2c",
    method: "POST",
    pattern: "/analyzer/captures/start",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Start an I²C analyzer capture",
    openapi: guest::compact_json!(
        r#"{"refusals":["device_offline","device_busy","lease_held","not_capable","quota_exceeded","wrong_state"],"requestBody":"#,
        include_str!("start_i2c.json"),
        r#","responses":"#,
        include_str!("started.json"),
        "}",
    ),
    handle: |request| capture::start(&parse(request)?),
};

pub(crate) fn parse(request: &Request) -> Result<Order, ApiError> {
    order::parse(request, |body| {
        let line = || order::logic_channel();
        let i2c = I2c {
            samples: body.required("samples", order::samples()),
            sample_rate_mhz: body.required("sample_rate_mhz", order::rate_mhz()),
            sda: body.required("sda", line()),
            scl: body.required("scl", line()),
            voltage_mv: order::voltage_mv(body),
        };
        // Lines that are missing or no channels are told as such, not as equal.
        if i2c.sda > 0 && i2c.sda == i2c.scl {
            body.problem("scl", "must be another channel than sda");
        }
        Plan::I2c(i2c)
    })
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
