//! `GET /capture/{id}/overview`: the lowest and highest values of a channel, for a view from afar.

use guest::recordings::{self, Overview};
use guest::{ApiError, Object, Request, Response, Route, integer, text};

use crate::{capture, export};

/// Stretches when the caller does not say how many.
const POINTS_DEFAULT: u32 = 1000;

/// Most stretches.
const POINTS_MAX: u32 = 10_000;

/// Longest name of a channel, in characters.
const CHANNEL_CHARS_MAX: usize = 128;

/// Last sample that any capture can have.
const SAMPLE_MAX: u64 = 1 << 36;

pub(crate) const ROUTE: Route = Route {
    name: "captures.overview",
    method: "GET",
    pattern: "/capture/{id}/overview",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "A channel of a capture from afar",
    openapi: guest::compact_json!(include_str!("overview.json")),
    handle,
};

#[derive(Debug, PartialEq)]
struct View {
    channel: String,
    from: Option<u64>,
    to: Option<u64>,
    points: u32,
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let view = parse(request)?;
    let id = capture::id(request);
    let seen = recordings::look(id, &view.channel, view.from, view.to, view.points);
    seen.map(|seen| reply(&seen))
        .map_err(|error| export::refusal(error, id))
}

fn parse(request: &Request) -> Result<View, ApiError> {
    let mut query = request.query()?;
    let view = View {
        channel: query.required("channel", text(1..=CHANNEL_CHARS_MAX)),
        from: query.optional("from", integer(0..=SAMPLE_MAX)),
        to: query.optional("to", integer(1..=SAMPLE_MAX)),
        points: query.or("points", integer(1..=POINTS_MAX), POINTS_DEFAULT),
    };
    query.finish()?;
    Ok(view)
}

fn reply(seen: &Overview) -> Response {
    let mut body = Object::new();
    body.field("channel", &seen.channel)
        .field("name", &seen.name)
        .field("unit", &seen.unit)
        .field("sample_rate_hz", &seen.sample_rate_hz)
        .field("from", &seen.first)
        .field("to", &seen.end)
        .field("points", &seen.min.len());
    if seen.is_digital {
        body.field("min", &levels(&seen.min))
            .field("max", &levels(&seen.max));
    } else {
        body.field("min", &seen.min).field("max", &seen.max);
    }
    body.reply(200)
}

/// Levels as the integers that they are.
fn levels(values: &[f64]) -> Vec<u8> {
    values.iter().map(|value| u8::from(*value > 0.0)).collect()
}

#[cfg(test)]
mod tests {
    use guest::recordings::Overview;
    use guest::testing::{get, json};
    use serde_json::{Value, json};

    use super::{View, parse, reply};

    #[test]
    fn the_channel_is_needed_and_the_rest_has_bounds() {
        let view = |query: &str| parse(&get(&["01X"], query));
        let whole = View {
            channel: "LA1".into(),
            from: None,
            to: None,
            points: 1000,
        };
        assert_eq!(view("channel=LA1").unwrap(), whole);
        let part = view("channel=0&from=10&to=20&points=5").unwrap();
        assert_eq!((part.from, part.to, part.points), (Some(10), Some(20), 5));
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
    fn reply_is_the_documented_example() {
        let document: Value = serde_json::from_str(include_str!("overview.json")).unwrap();
        let expected = &document["responses"]["200"]["content"]["application/json"]["example"];
        let seen = Overview {
            channel: 0,
            name: "ADC".into(),
            is_digital: false,
            unit: "V".into(),
            sample_rate_hz: 400_000.0,
            first: 0,
            end: 4096,
            min: vec![-0.5, 0.25],
            max: vec![1.5, 3.25],
        };
        assert_eq!(json(&reply(&seen)), *expected);
        assert_eq!(json(&reply(&seen))["points"], json!(2));
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
            min: vec![0.0, 1.0],
            max: vec![1.0, 1.0],
        };
        let text = json(&reply(&seen)).to_string();
        assert!(
            text.contains(r#""min":[0,1]"#) && text.contains(r#""max":[1,1]"#),
            "{text}"
        );
    }
}
