//! `GET /capture/{id}/tiles`: what several channels do in aligned stretches, for a viewer.

use super::subject::CHANNELS_CHARS_MAX;
use guest::captures::{self, Status};
use guest::measures::{self, Lane};
use guest::{ApiError, Body, Openapi, Refusal, Request, Response, Route, integer, members, text};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use std::ops::Range;

use crate::capture::GapRecord;
use crate::{capture, export, refusal, subject};

/// Stretches of a tile.
const STRETCHES: u32 = 1024;

/// Most tiles of an answer.
const TILES_MAX: u32 = 8;

/// Samples of the widest stretch, as a power of two: the longest capture.
const LEVEL_MAX: u8 = subject::SAMPLES_LOG2;

/// Last tile that any capture can have: of the longest one, at level 0.
const INDEX_MAX: u32 = (1 << (LEVEL_MAX as u32 - STRETCHES.ilog2())) - 1;

/// What the binary form begins with; the last byte is its version.
const MAGIC: &[u8; 4] = b"BOV1";

/// Media types of the two forms.
const BINARY: &str = "application/octet-stream";
const JSON: &str = "application/json";

/// How long caches may keep it: the samples of a finished capture never change.
const CACHE: &str = "private, max-age=31536000, immutable";

/// Rises when the same samples are answered in another way.
const FORM: u32 = 1;

pub(crate) const ROUTE: Route = Route {
    name: "captures.tiles",
    method: "GET",
    pattern: "/capture/{id}/tiles",
    credentials: capture::CREDENTIALS,
    scope: capture::SCOPE,
    body_limit: 0,
    summary: "Channels of a capture in aligned stretches",
    openapi: Openapi::of(|operation| {
        let reply = "A tile is 1024 stretches of `2^level` samples. Binary, or JSON where `Accept` asks for it; \
                     docs/captures.md has the layout.";
        operation
            .refusals(&[Refusal::WrongState])
            .path(capture::ID.0, capture::ID.1)
            .query::<View>()
            .header("accept", "`application/json` for JSON.")
            .header("if-none-match", "`ETag` of the tiles that the client has.")
            .reply(200, reply, &Record::of(&example_view(), &example(), &[]))
            .reply_content(
                200,
                reply,
                BINARY,
                json!({"type": "string", "contentMediaType": BINARY}),
                json!("BOV1"),
            )
            .reply_empty(304, "The client has them already.");
    }),
    handle,
};

members! {
    #[derive(Debug, PartialEq)]
    struct View {
        /// A stretch is `2^level` samples.
        level: u8 = required(integer(0..=LEVEL_MAX)),
        /// The first tile: number `i` begins with sample `i * 1024 * 2^level`.
        index: u32 = required(integer(0..=INDEX_MAX)),
        /// Tiles one after another; fewer stretches come back at the end of the capture.
        tiles: u32 = or(integer(1..=TILES_MAX), 1),
        /// Channels by name, with commas between them, in the order of the answer; all when it is left out. A name with a comma
        /// is put between double quotes.
        channels: Option<String> = optional(text(1..=CHANNELS_CHARS_MAX)),
    }
}

/// Channels in stretches.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Tiles")]
struct Record<'a> {
    level: u8,
    /// The first tile.
    index: u32,
    /// Stretches of the longest channel.
    #[schemars(range(max = STRETCHES * TILES_MAX))]
    stretches: usize,
    lanes: Vec<LaneRecord<'a>>,
    /// Logic samples within the tiles that were lost; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<GapRecord>,
}

/// One channel. Stretches behind its end are left out.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TileLane")]
struct LaneRecord<'a> {
    /// Id of the channel.
    channel: u32,
    /// Of a digital channel: 1 = it was low, 2 = high, 3 = both.
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<&'a [u8]>,
    /// Lowest value of each stretch of an analog channel, in its unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<&'a [f32]>,
    /// Highest value of each stretch.
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<&'a [f32]>,
}

impl<'a> Record<'a> {
    fn of(view: &View, lanes: &'a [Lane], gaps: &[(u64, u64)]) -> Self {
        let covered = covered(view);
        let lost = gaps.iter().filter_map(|&(from, to)| {
            let (from, to) = (from.max(covered.start), to.min(covered.end));
            (from < to).then(|| (&(from, to)).into())
        });
        let record = |lane: &'a Lane| {
            let analog = is_analog(lane);
            LaneRecord {
                channel: lane.channel,
                states: (!analog).then_some(&lane.states),
                min: analog.then_some(&lane.min),
                max: analog.then_some(&lane.max),
            }
        };
        Self {
            level: view.level,
            index: view.index,
            stretches: stretches(lanes),
            lanes: lanes.iter().map(record).collect(),
            gaps: lost.collect(),
        }
    }
}

/// The samples that the tiles stand for.
fn covered(view: &View) -> Range<u64> {
    let stretches = u64::from(STRETCHES);
    let first = u64::from(view.index) * stretches;
    let sample = |stretch: u64| stretch.saturating_mul(1 << view.level);
    sample(first)..sample(first + u64::from(view.tiles) * stretches)
}

fn is_analog(lane: &Lane) -> bool {
    !lane.min.is_empty()
}

fn stretches(lanes: &[Lane]) -> usize {
    let lengths = lanes
        .iter()
        .map(|lane| lane.states.len().max(lane.min.len()));
    lengths.max().unwrap_or(0)
}

/// For the documentation.
fn example_view() -> View {
    View {
        level: 9,
        index: 0,
        tiles: 1,
        channels: None,
    }
}

fn example() -> Vec<Lane> {
    let lane = |channel, states: &[u8], min: &[f32], max: &[f32]| Lane {
        channel,
        states: states.to_vec(),
        min: min.to_vec(),
        max: max.to_vec(),
    };
    vec![
        lane(0, &[1, 3, 2], &[], &[]),
        lane(1, &[], &[-0.5, 0.25], &[1.5, 3.25]),
    ]
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let view = parse(request)?;
    let id = capture::id(request);
    let headers = headers(request);
    if request.knows(&tag(request)) {
        let info = captures::get(id).map_err(|error| refusal::of(error, "capture", id))?;
        if info.status == Status::Done {
            return Ok(Response {
                status: 304,
                headers,
                body: Body::Bytes(Vec::new()),
            });
        }
    }
    let first = u64::from(view.index) * u64::from(STRETCHES);
    let count = view.tiles * STRETCHES;
    let lanes = measures::tiles(id, view.channels.as_deref(), view.level, first, count);
    let lanes = lanes.map_err(|error| export::refusal(error, id))?;
    let gaps = match wants_json(request) {
        true => {
            captures::get(id)
                .map_err(|error| refusal::of(error, "capture", id))?
                .gaps
        }
        false => Vec::new(),
    };
    answer(request, &view, (&lanes, &gaps), headers)
}

fn parse(request: &Request) -> Result<View, ApiError> {
    request.query()?.read()
}

fn answer(
    request: &Request,
    view: &View,
    (lanes, gaps): (&[Lane], &[(u64, u64)]),
    mut headers: Vec<(String, String)>,
) -> Result<Response, ApiError> {
    if stretches(lanes) == 0 {
        return Err(ApiError::field(
            "index",
            "is behind the end of the channels",
        ));
    }
    let (form, bytes) = match wants_json(request) {
        true => (
            JSON,
            json!(Record::of(view, lanes, gaps))
                .to_string()
                .into_bytes(),
        ),
        false => (BINARY, binary(view, lanes)),
    };
    headers.push(("content-type".to_owned(), form.to_owned()));
    Ok(Response {
        status: 200,
        headers,
        body: Body::Bytes(bytes),
    })
}

/// Whether JSON is asked for, rather than anything.
fn wants_json(request: &Request) -> bool {
    let accept = request.header("accept").unwrap_or_default();
    accept.contains(JSON) && !accept.contains(BINARY)
}

/// What stands for the tiles at this address: it says all else, and a capture's id is never used again.
fn tag(request: &Request) -> String {
    let form = if wants_json(request) {
        "json"
    } else {
        "binary"
    };
    format!("\"{FORM}-{form}\"")
}

/// What is the same with and without the tiles.
fn headers(request: &Request) -> Vec<(String, String)> {
    let header = |name: &str, value: String| (name.to_owned(), value);
    vec![
        header("etag", tag(request)),
        header("cache-control", CACHE.to_owned()),
        header("vary", "accept".to_owned()),
    ]
}

/// The binary form, little-endian; lanes are padded to four bytes, and to the longest one.
fn binary(view: &View, lanes: &[Lane]) -> Vec<u8> {
    let stretches = stretches(lanes);
    let short = |number: usize| u16::try_from(number).expect("there are few").to_le_bytes();
    let mut bytes = MAGIC.to_vec();
    bytes.extend(short(lanes.len()));
    bytes.extend(short(stretches));
    bytes.extend([view.level, 0, 0, 0]);
    bytes.extend(view.index.to_le_bytes());
    for lane in lanes {
        let channel = u16::try_from(lane.channel).expect("a capture has few channels");
        bytes.extend([u8::from(is_analog(lane)), 0]);
        bytes.extend(channel.to_le_bytes());
        if is_analog(lane) {
            for values in [&lane.min, &lane.max] {
                let padded = values.iter().copied().chain(std::iter::repeat(f32::NAN));
                bytes.extend(padded.take(stretches).flat_map(f32::to_le_bytes));
            }
            continue;
        }
        let padded = stretches.next_multiple_of(16);
        let states = lane.states.iter().copied().chain(std::iter::repeat(0));
        let states: Vec<u8> = states.take(padded).collect();
        bytes.extend(states.chunks(4).map(|four| {
            let placed = (0..).zip(four);
            placed.fold(0, |byte, (place, state)| byte | state << (2 * place))
        }));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use guest::testing::{bytes, get, header};
    use serde_json::json;

    use super::*;

    fn view(query: &str) -> Result<View, ApiError> {
        parse(&get(&["01X"], query))
    }

    #[test]
    fn level_and_index_are_needed_and_the_rest_has_bounds() {
        let whole = View {
            level: 9,
            index: 3,
            tiles: 1,
            channels: None,
        };
        assert_eq!(view("level=9&index=3").unwrap(), whole);
        let part = view("level=0&index=0&tiles=8&channels=LA1,ADC").unwrap();
        assert_eq!((part.tiles, part.channels.as_deref()), (8, Some("LA1,ADC")));
        for (query, field) in [
            ("index=0", "level"),
            ("level=1", "index"),
            ("level=37&index=0", "level"),
            ("level=0&index=67108864", "index"),
            ("level=0&index=0&tiles=9", "tiles"),
            ("level=0&index=0&tiles=0", "tiles"),
            ("level=0&index=0&channels=", "channels"),
        ] {
            let error = view(query).unwrap_err();
            assert_eq!((error.status, error.fields[0].field.as_str()), (400, field));
        }
    }

    #[test]
    fn the_binary_form_is_packed_and_padded() {
        let view = example_view();
        let mut expected = b"BOV1\x02\0\x03\0\x09\0\0\0\0\0\0\0".to_vec();
        expected.extend([0, 0, 0, 0, 0b10_11_01, 0, 0, 0]);
        expected.extend([1, 0, 1, 0]);
        for value in [-0.5, 0.25, f32::NAN, 1.5, 3.25, f32::NAN] {
            expected.extend(value.to_le_bytes());
        }
        assert_eq!(binary(&view, &example()), expected);
    }

    #[test]
    fn json_is_answered_where_it_is_asked_for() {
        let mut request = get(&["01X"], "level=9&index=0");
        let answered = |request: &Request| {
            let lost = [(0, 10), (600_000, 700_000)];
            answer(
                request,
                &example_view(),
                (&example(), &lost),
                headers(request),
            )
            .unwrap()
        };
        let response = answered(&request);
        assert_eq!(header(&response, "content-type"), Some(BINARY));
        assert_eq!(header(&response, "etag"), Some("\"1-binary\""));
        assert!(bytes(&response).starts_with(MAGIC));
        request.headers = vec![("accept".to_owned(), "application/json".to_owned())];
        let response = answered(&request);
        assert_eq!(header(&response, "etag"), Some("\"1-json\""));
        assert_eq!(header(&response, "cache-control"), Some(CACHE));
        assert_eq!(
            guest::testing::json(&response),
            json!({"level": 9, "index": 0, "stretches": 3, "lanes": [
                {"channel": 0, "states": [1, 3, 2]},
                {"channel": 1, "min": [-0.5, 0.25], "max": [1.5, 3.25]}
            ], "gaps": [{"from": 0, "to": 10}]})
        );
        let behind = answer(&request, &example_view(), (&[], &[]), headers(&request)).unwrap_err();
        assert_eq!(
            (behind.status, behind.fields[0].field.as_str()),
            (400, "index")
        );
    }

    #[test]
    fn a_client_that_has_the_tiles_is_known() {
        let known = |tags: &str| {
            let mut request = get(&["01X"], "level=9&index=0");
            request.headers = vec![("if-none-match".to_owned(), tags.to_owned())];
            request.knows(&tag(&request))
        };
        assert!(known("\"1-binary\"") && known("W/\"1-binary\"") && known("\"0\", \"1-binary\""));
        assert!(known("*") && !known("\"1-json\"") && !known(""));
    }
}
