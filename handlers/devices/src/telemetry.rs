//! `GET /bench/devices/{id}/telemetry`: what the rails of a device's target gave in the last hour.

use guest::devices::{self, Readings};
use guest::{ApiError, Openapi, Request, Response, Route, integer, members};
use schemars::JsonSchema;
use serde::Serialize;

use crate::device;

/// Readings that the server keeps of a device.
const POINTS_MAX: u32 = 720;

/// Largest moment, in milliseconds: what JSON numbers hold exactly.
const FROM_MAX: u64 = (1 << 53) - 1;

pub(crate) const ROUTE: Route = Route {
    name: "devices.telemetry",
    method: "GET",
    pattern: "/bench/devices/{id}/telemetry",
    credentials: device::CREDENTIALS,
    scope: device::SCOPE,
    body_limit: 0,
    summary: "What the rails gave in the last hour",
    openapi: Openapi::of(|operation| {
        operation
            .description(
                "Read every few seconds while the device is not being captured from, flashed or updated, and whenever somebody \
                 sends `power_status`. Kept in memory: it begins anew with the server. A device that cannot measure has no samples.",
            )
            .path(device::ID.0, device::ID.1)
            .query::<Asked>()
            .reply(200, "Each rail, oldest samples first.", &Record::from(&example()));
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct Asked {
        /// Samples of this moment and later, in milliseconds since 1970.
        from: u64 = or(integer(0..=FROM_MAX), 0),
        /// Samples of each rail at most. Where there are more readings, a sample is their average.
        points: u32 = or(integer(1..=POINTS_MAX), POINTS_MAX),
    }
}

/// What the rails of a target gave.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Telemetry")]
struct Record {
    /// Milliseconds between two readings.
    interval_ms: u32,
    rails: Vec<Rail>,
}

/// What one rail gave: columns of equal length.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RailTelemetry")]
struct Rail {
    /// 1 = internal 5 V, 2 = external supply.
    rail: u8,
    /// When, in milliseconds since 1970.
    at_ms: Vec<u64>,
    /// Millivolts behind the switch.
    mv: Vec<i64>,
    /// Microamperes, signed.
    ua: Vec<i64>,
    /// The most microamperes of the readings that a sample stands for.
    ua_max: Vec<i64>,
}

impl From<&Readings> for Record {
    fn from(told: &Readings) -> Self {
        let rails = told.rails.iter().map(|rail| Rail {
            rail: rail.rail,
            at_ms: rail.samples.iter().map(|sample| sample.at_ms).collect(),
            mv: rail.samples.iter().map(|sample| sample.mv).collect(),
            ua: rail.samples.iter().map(|sample| sample.ua).collect(),
            ua_max: rail.samples.iter().map(|sample| sample.ua_max).collect(),
        });
        Self {
            interval_ms: told.interval_ms,
            rails: rails.collect(),
        }
    }
}

fn example() -> Readings {
    let sample = |at_ms, ua| devices::RailSample {
        at_ms,
        mv: 4987,
        ua,
        ua_max: ua,
    };
    Readings {
        interval_ms: 5000,
        rails: vec![
            devices::RailTelemetry {
                rail: 1,
                samples: vec![
                    sample(1_767_323_045_000, 12_400),
                    sample(1_767_323_050_000, 12_550),
                ],
            },
            devices::RailTelemetry {
                rail: 2,
                samples: Vec::new(),
            },
        ],
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let asked = parse(request)?;
    let id = device::id(request);
    devices::telemetry(id, asked.from, asked.points)
        .map(|told| reply(&told))
        .map_err(|error| device::refusal(error, id))
}

fn reply(told: &Readings) -> Response {
    Response::json(200, &Record::from(told))
}

fn parse(request: &Request) -> Result<Asked, ApiError> {
    request.query()?.read()
}

#[cfg(test)]
mod tests {
    use guest::testing::{get, json, mutations};
    use serde_json::json;

    use super::{Asked, example, parse, reply};

    #[test]
    fn the_query_has_bounds() {
        let asked = |query: &str| parse(&get(&["01X"], query));
        let of = |from, points| Asked { from, points };
        assert_eq!(asked(""), Ok(of(0, 720)));
        assert_eq!(
            asked("from=1767323045000&points=1"),
            Ok(of(1_767_323_045_000, 1))
        );
        for (query, field) in [
            ("from=-1", "from"),
            ("from=9007199254740992", "from"),
            ("points=0", "points"),
            ("points=721", "points"),
            ("to=1", "to"),
        ] {
            let error = asked(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn columns_are_of_equal_length() {
        let told = json(&reply(&example()));
        assert_eq!(
            told["rails"][0],
            json!({"rail": 1, "at_ms": [1_767_323_045_000_u64, 1_767_323_050_000_u64], "mv": [4987, 4987],
                "ua": [12400, 12550], "ua_max": [12400, 12550]})
        );
        assert_eq!(told["rails"][1]["mv"], json!([]));
    }

    #[test]
    fn mutated_queries_never_panic() {
        mutations(0x7E_1E, b"from=1767323045000&points=100", 5000, |query| {
            if let Ok(query) = std::str::from_utf8(query)
                && let Ok(asked) = parse(&get(&[], query))
            {
                assert!((1..=720).contains(&asked.points));
            }
        });
    }
}
