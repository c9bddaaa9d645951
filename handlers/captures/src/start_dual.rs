//! `POST /capture/start`: ADC and logic analyzer from one trigger.

use guest::captures::{Dual, Order, Plan};
use guest::codes::SAMPLES_MAX;
use guest::{ApiError, JSON_BODY_BYTES_MAX, Openapi, Request, Route, Shape, integer, members};
use serde_json::json;

use crate::capture;
use crate::order::{self, Shared};
use crate::start;

pub(crate) const ROUTE: Route = Route {
    name: "captures.start_dual",
    method: "POST",
    pattern: "/capture/start",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: JSON_BODY_BYTES_MAX,
    summary: "Start a simultaneous ADC and logic-analyzer capture",
    openapi: Openapi::of(|operation| {
        operation.body::<Ask>(json!({
            "device_id": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
            "adc_samples": 4096,
            "adc_rate_mhz": 0.1,
            "la_samples": 409_600,
            "la_rate_mhz": 10.0
        }));
        start::describe(operation);
    }),
    handle: |request| start::start(&parse(request)?),
};

members! {
    struct Ask {
        shared: Shared = inline(),
        /// 0 = no ADC.
        adc_samples: u64 = required(count()),
        /// Megasamples per second. The ADC takes the nearest rate that it has, at most 0.4.
        adc_rate_mhz: f64 = required(order::adc_rate_mhz()),
        /// 0 = no logic analyzer.
        la_samples: u64 = required(count()),
        /// Megasamples per second. The logic analyzer takes the nearest rate that it has; pods have 12 at most.
        la_rate_mhz: f64 = required(order::logic_rate_mhz()),
    }
}

fn count() -> impl Shape<Value = u64> {
    integer(0..=SAMPLES_MAX)
}

pub(crate) fn parse(request: &Request) -> Result<Order, ApiError> {
    let ask: Ask = request.json()?.read()?;
    if ask.adc_samples == 0 && ask.la_samples == 0 {
        let rule = "and la_samples must not both be 0";
        return Err(ApiError::field("adc_samples", rule));
    }
    Ok(ask.shared.order(Plan::Dual(Dual {
        adc_samples: ask.adc_samples,
        adc_rate_mhz: ask.adc_rate_mhz,
        la_samples: ask.la_samples,
        la_rate_mhz: ask.la_rate_mhz,
    })))
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
