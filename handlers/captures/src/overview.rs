//! `GET /capture/{id}/overview`: the lowest and highest values of a channel, for a zoomed-out view.

use guest::recordings::{self, Overview};
use guest::{ApiError, Openapi, Refusal, Request, Response, Route, integer, members};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::{capture, export, subject};

/// Stretches when the caller does not say how many.
const POINTS_DEFAULT: u32 = 1000;

/// Most stretches.
const POINTS_MAX: u32 = 10_000;

pub(crate) const ROUTE: Route = Route {
    name: "captures.overview",
    method: "GET",
    pattern: "/capture/{id}/overview",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "A channel of a capture from afar",
    openapi: Openapi::of(|operation| {
        operation
            .refusals(&[Refusal::WrongState])
            .path(capture::ID.0, capture::ID.1)
            .query::<View>()
            .reply(
                200,
                "Stretch `i` of `n` is the samples from `from + i*(to-from)/n` on, rounded down.",
                &Record::of(&example()),
            );
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct View {
        /// Channel by its name, such as `ADC` or `LA1`. Of a capture that a pod made, a bare number is that
        /// of the LA channel; of others it is refused unless it means one channel only (a name between
        /// double quotes is never anything else).
        channel: String = required(subject::channel()),
        /// First sample.
        from: u64 = or(subject::sample(0), 0),
        /// The sample behind the last one; the end of the capture when it is left out.
        to: Option<u64> = optional(subject::sample(1)),
        /// Equal stretches to look at; fewer come back when there are fewer samples.
        points: u32 = or(integer(1..=POINTS_MAX), POINTS_DEFAULT),
    }
}

/// A channel from afar.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Overview")]
struct Record<'a> {
    /// Id of the channel.
    channel: u32,
    name: &'a str,
    /// `V`, `A`, or empty for digital channels.
    unit: &'a str,
    #[schemars(extend("exclusiveMinimum" = 0))]
    sample_rate_hz: f64,
    from: u64,
    to: u64,
    /// When the trigger was met, in seconds from sample 0 of the capture: time 0 of a view. null = there was none, or it is
    /// not known.
    trigger_s: Option<f64>,
    #[schemars(range(max = POINTS_MAX))]
    points: usize,
    /// Lowest value of each stretch, in `unit`; the integers 0 or 1 for digital channels.
    #[schemars(with = "Vec<f64>", length(max = POINTS_MAX))]
    min: Curve<'a>,
    /// Highest value of each stretch.
    #[schemars(with = "Vec<f64>", length(max = POINTS_MAX))]
    max: Curve<'a>,
}

impl<'a> Record<'a> {
    fn of(seen: &'a Overview) -> Self {
        let curve = |values: &'a [f64]| Curve {
            values,
            is_digital: seen.is_digital,
        };
        Self {
            channel: seen.channel,
            name: &seen.name,
            unit: &seen.unit,
            sample_rate_hz: seen.sample_rate_hz,
            from: seen.first,
            to: seen.end,
            trigger_s: seen.trigger_s,
            points: seen.min.len(),
            min: curve(&seen.min),
            max: curve(&seen.max),
        }
    }
}

/// A value for each stretch; levels are written as the integers that they are.
struct Curve<'a> {
    values: &'a [f64],
    is_digital: bool,
}

impl Serialize for Curve<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_digital {
            serializer.collect_seq(self.values.iter().map(|value| u8::from(*value > 0.0)))
        } else {
            serializer.collect_seq(self.values)
        }
    }
}

/// An overview for the documentation.
fn example() -> Overview {
    Overview {
        channel: 0,
        name: "ADC".into(),
        is_digital: false,
        unit: "V".into(),
        sample_rate_hz: 400_000.0,
        first: 0,
        end: 4096,
        trigger_s: Some(0.0),
        min: vec![-0.5, 0.25],
        max: vec![1.5, 3.25],
    }
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let view = parse(request)?;
    let id = capture::id(request);
    let seen = recordings::look(id, &view.channel, Some(view.from), view.to, view.points);
    seen.map(|seen| Response::json(200, &Record::of(&seen)))
        .map_err(|error| export::refusal(error, id))
}

fn parse(request: &Request) -> Result<View, ApiError> {
    request.query()?.read()
}

#[cfg(test)]
mod tests {
    use guest::recordings::Overview;
    use guest::testing::get;
    use serde_json::json;

    use super::{Record, View, example, parse};

    #[test]
    fn the_channel_is_needed_and_the_rest_has_bounds() {
        let view = |query: &str| parse(&get(&["01X"], query));
        let whole = View {
            channel: "LA1".into(),
            from: 0,
            to: None,
            points: 1000,
        };
        assert_eq!(view("channel=LA1").unwrap(), whole);
        let part = view("channel=0&from=10&to=20&points=5").unwrap();
        assert_eq!((part.from, part.to, part.points), (10, Some(20), 5));
        for (query, field) in [
            ("", "channel"),
            ("channel=LA1&points=0", "points"),
            ("channel=LA1&points=10001", "points"),
            ("channel=LA1&from=-1", "from"),
            ("channel=LA1&to=0", "to"),
        ] {
            let error = view(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn everything_seen_is_told() {
        assert_eq!(
            json!(Record::of(&example())),
            json!({
                "channel": 0, "name": "ADC", "unit": "V", "sample_rate_hz": 400_000.0,
                "from": 0, "to": 4096, "trigger_s": 0.0, "points": 2, "min": [-0.5, 0.25], "max": [1.5, 3.25]
            })
        );
    }

    #[test]
    fn levels_are_integers() {
        let seen = Overview {
            channel: 0,
            name: "LA1".into(),
            is_digital: true,
            unit: String::new(),
            sample_rate_hz: 1e6,
            first: 0,
            end: 2,
            trigger_s: None,
            min: vec![0.0, 1.0],
            max: vec![1.0, 1.0],
        };
        let text = json!(Record::of(&seen)).to_string();
        assert!(
            text.contains(r#""min":[0,1]"#) && text.contains(r#""max":[1,1]"#),
            "{text}"
        );
    }
}
