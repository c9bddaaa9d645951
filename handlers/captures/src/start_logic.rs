//! `POST /la/captures/start`: a raw logic-analyzer capture.

use guest::captures::{Logic, Order, Plan};
use guest::{ApiError, JSON_BODY_BYTES_MAX, Request, Route, list};

use crate::{capture, order};

pub(crate) const ROUTE: Route = Route {
    name: "captures.start_logic",
    method: "POST",
    pattern: "/la/captures/start",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Start a logic-analyzer capture",
    openapi: guest::compact_json!(
        r#"{"refusals":["device_offline","device_busy","lease_held","not_capable","quota_exceeded","wrong_state"],"requestBody":"#,
        include_str!("start_logic.json"),
        r#","responses":"#,
        include_str!("started.json"),
        "}",
    ),
    handle: |request| capture::start(&parse(request)?),
};

pub(crate) fn parse(request: &Request) -> Result<Order, ApiError> {
    order::parse(request, |body| {
        let channels = list(order::logic_channel(), 1..=14);
        let logic = Logic {
            samples: body.required("samples", order::samples()),
            sample_rate_mhz: body.required("sample_rate_mhz", order::rate_mhz()),
            channels: body.or("channels", channels, Vec::new()),
            voltage_mv: order::voltage_mv(body),
        };
        let mask = logic.channels.iter().fold(0_u16, |mask, n| mask | 1 << n);
        if mask.count_ones() as usize != logic.channels.len() {
            body.problem("channels", "must not repeat a channel");
        }
        Plan::Logic(logic)
    })
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
