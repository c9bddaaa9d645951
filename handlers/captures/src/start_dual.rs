//! `POST /capture/start`: ADC and logic analyzer from one trigger.

use guest::captures::{Dual, Order, Plan};
use guest::{ApiError, JSON_BODY_BYTES_MAX, Request, Route, integer};

use crate::{capture, order};

pub(crate) const ROUTE: Route = Route {
    name: "captures.start_dual",
    method: "POST",
    pattern: "/capture/start",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Start a simultaneous ADC and logic-analyzer capture",
    openapi: guest::compact_json!(
        r#"{"refusals":["device_offline","device_busy","lease_held","not_capable","quota_exceeded"],"requestBody":"#,
        include_str!("start_dual.json"),
        r#","responses":"#,
        include_str!("started.json"),
        "}",
    ),
    handle: |request| capture::start(&parse(request)?),
};

pub(crate) fn parse(request: &Request) -> Result<Order, ApiError> {
    order::parse(request, |body| {
        let both_given = body.has("adc_samples") && body.has("la_samples");
        let count = || integer(0..=order::SAMPLES_MAX);
        let dual = Dual {
            adc_samples: body.required("adc_samples", count()),
            adc_rate_mhz: body.required("adc_rate_mhz", order::rate_mhz()),
            la_samples: body.required("la_samples", count()),
            la_rate_mhz: body.required("la_rate_mhz", order::rate_mhz()),
        };
        if both_given && dual.adc_samples == 0 && dual.la_samples == 0 {
            body.problem("adc_samples", "and la_samples must not both be 0");
        }
        Plan::Dual(dual)
    })
}

#[cfg(test)]
mod tests {
    use guest::captures::Plan;
    use guest::testing::request;

    use super::parse;

    #[test]
    fn one_side_may_be_empty() {
        let counts = |adc: i64, la: i64| {
            let body = format!(
                r#"{{"device_id":"d","adc_samples":{adc},"adc_rate_mhz":0.4,
                    "la_samples":{la},"la_rate_mhz":24}}"#
            );
            match parse(&request(&body)).map(|order| order.plan) {
                Ok(Plan::Dual(dual)) => Ok((dual.adc_samples, dual.la_samples)),
                Ok(other) => panic!("{other:?}"),
                Err(error) => Err(error.message),
            }
        };
        assert_eq!(counts(10, 20), Ok((10, 20)));
        assert_eq!(counts(0, 20), Ok((0, 20)));
        assert_eq!(counts(10, 0), Ok((10, 0)));
        assert_eq!(
            counts(0, 0),
            Err("adc_samples and la_samples must not both be 0".into())
        );
        assert!(counts(-1, 1).is_err());
        let error = parse(&request(r#"{"device_id":"d"}"#)).unwrap_err();
        assert_eq!(error.fields.len(), 4);
    }
}
