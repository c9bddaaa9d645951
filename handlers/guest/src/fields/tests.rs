//! Strictness of bodies: each problem is told with the path of the member.

use crate::testing::mutations;
use crate::{ApiError, Fields, choice, flag, integer, list, number, text};

#[derive(Debug, PartialEq)]
struct Order {
    id: String,
    samples: u32,
    rate: f64,
    loud: bool,
    channels: Vec<u8>,
    trigger: Option<(u8, char)>,
}

const EDGES: &[(&str, char)] = &[("rising", 'r'), ("falling", 'f')];

fn read(body: &[u8]) -> Result<Order, ApiError> {
    let mut body = Fields::parse(body)?;
    let order = Order {
        id: body.required("id", text(1..=8)),
        samples: body.or("samples", integer(1..=4096), 256),
        rate: body.or("rate", number(0.0, 24.0), 1.0),
        loud: body.or("loud", flag(), false),
        channels: body.or("channels", list(integer(1..=14), 0..=14), Vec::new()),
        trigger: body.nested("trigger", |trigger| {
            (
                trigger.required("channel", integer(1..=14)),
                trigger.or("edge", choice(EDGES), 'r'),
            )
        }),
    };
    body.finish()?;
    Ok(order)
}

fn problems(body: &str) -> Vec<String> {
    let error = read(body.as_bytes()).unwrap_err();
    assert_eq!((error.status, error.code), (400, "invalid_request"));
    let line = |p: crate::FieldProblem| format!("{} {}", p.field, p.message);
    error.fields.into_iter().map(line).collect()
}

#[test]
fn reads_values_and_defaults() {
    let order = read(br#"{"id":"x"}"#).unwrap();
    assert_eq!((order.samples, order.rate, order.trigger), (256, 1.0, None));
    let order = read(
        br#"{"id":"x","samples":4096.0,"rate":0.5,"loud":true,"channels":[1,14],
            "trigger":{"channel":2,"edge":"falling"}}"#,
    );
    assert_eq!(
        order.unwrap(),
        Order {
            id: "x".into(),
            samples: 4096,
            rate: 0.5,
            loud: true,
            channels: vec![1, 14],
            trigger: Some((2, 'f'))
        }
    );
    assert_eq!(read(br#"{"id":"x","trigger":null}"#).unwrap().trigger, None);
}

#[test]
fn tells_what_is_wrong_with_each_member() {
    let table = [
        ("{}", "id is required"),
        (r#"{"id":null}"#, "id is required"),
        (r#"{"id":7}"#, "id must be a string"),
        (r#"{"id":""}"#, "id must have 1..=8 characters"),
        (
            r#"{"id":"a\u0000"}"#,
            "id must not contain control characters",
        ),
        (
            r#"{"id":"x","samples":0}"#,
            "samples must be an integer, 1..=4096",
        ),
        (
            r#"{"id":"x","samples":-1}"#,
            "samples must be an integer, 1..=4096",
        ),
        (
            r#"{"id":"x","samples":1.5}"#,
            "samples must be an integer, 1..=4096",
        ),
        (
            r#"{"id":"x","samples":"1"}"#,
            "samples must be an integer, 1..=4096",
        ),
        (
            r#"{"id":"x","samples":1e300}"#,
            "samples must be an integer, 1..=4096",
        ),
        (
            r#"{"id":"x","rate":0}"#,
            "rate must be a number greater than 0 and at most 24",
        ),
        (r#"{"id":"x","loud":1}"#, "loud must be true or false"),
        (r#"{"id":"x","channels":3}"#, "channels must be a list"),
        (
            r#"{"id":"x","channels":[1,15]}"#,
            "channels item 1 must be an integer, 1..=14",
        ),
        (
            r#"{"id":"x","trigger":[]}"#,
            "trigger must be an object, not a list",
        ),
        (r#"{"id":"x","trigger":{}}"#, "trigger.channel is required"),
        (
            r#"{"id":"x","trigger":{"channel":1,"edge":"up"}}"#,
            "trigger.edge must be one of rising, falling",
        ),
        (r#"{"id":"x","sample":1}"#, "sample is not known here"),
        (
            r#"{"id":"x","trigger":{"channel":1,"x":1}}"#,
            "trigger.x is not known here",
        ),
    ];
    for (body, expected) in table {
        assert_eq!(problems(body), [expected], "{body}");
    }
}

#[test]
fn tells_all_problems_at_once_up_to_a_limit() {
    assert_eq!(
        problems(r#"{"sample":1,"trigger":{"channel":99}}"#),
        [
            "id is required",
            "trigger.channel must be an integer, 1..=14",
            "sample is not known here"
        ]
    );
    let many: Vec<String> = (0..100).map(|n| format!("\"x{n}\":1")).collect();
    assert_eq!(problems(&format!("{{{}}}", many.join(","))).len(), 16);
}

#[test]
fn a_required_object_is_read_or_missed() {
    let read = |body: &str| {
        let mut body = Fields::parse(body.as_bytes()).unwrap();
        let id = body.nested_required("a", |a| a.required("b", integer(3u8..=9)));
        body.finish().map(|()| id).map_err(|e| e.message)
    };
    assert_eq!(read(r#"{"a":{"b":4}}"#), Ok(4));
    assert_eq!(read("{}"), Err("a is required".into()));
    assert_eq!(
        read(r#"{"a":4}"#),
        Err("a must be an object, not a number".into())
    );
    assert_eq!(
        read(r#"{"a":{"b":2}}"#),
        Err("a.b must be an integer, 3..=9".into())
    );
}

#[test]
fn only_objects_of_bounded_depth_are_bodies() {
    for (body, expected) in [
        ("[]", "the body must be a JSON object, not a list"),
        ("\"x\"", "the body must be a JSON object, not a string"),
        ("null", "the body must be a JSON object, not null"),
        (
            "{",
            "the body is not valid JSON: EOF while parsing an object at line 1 column 1",
        ),
        (
            "{} {}",
            "the body is not valid JSON: trailing characters at line 1 column 4",
        ),
    ] {
        assert_eq!(read(body.as_bytes()).unwrap_err().message, expected);
    }
    let nest = |levels: usize| format!("{}{}", "{\"a\":".repeat(levels), "[".repeat(100_000));
    assert!(
        read(nest(40).as_bytes())
            .unwrap_err()
            .message
            .contains("deeper than 32")
    );
    let brackets_in_text = format!(r#"{{"id":"x","y":"{}\"["}}"#, "[".repeat(100));
    assert_eq!(problems(&brackets_in_text), ["y is not known here"]);
}

#[test]
fn mutated_bodies_never_panic() {
    let valid =
        br#"{"id":"x","samples":4096,"rate":0.5,"channels":[1,14],"trigger":{"channel":2}}"#;
    let mut refused = 0;
    mutations(0x5EED_F1E1D5, valid, 20_000, |body| {
        refused += usize::from(read(body).is_err());
    });
    assert!(
        refused > 10_000,
        "mutations hardly ever break the body: {refused}"
    );
}

#[test]
fn parts_of_a_form_are_read_as_text() {
    let parts = |list: &[(&str, &str)]| {
        let owned = list.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned()));
        Fields::of_texts(owned.collect())
    };
    let mut form = parts(&[("swclk", "11"), ("verify", "false"), ("target", "11")]);
    assert_eq!(form.required("swclk", integer(1..=14u8)), 11);
    assert!(!form.required("verify", flag()));
    assert_eq!(form.required("target", text(1..=4)), "11");
    assert!(form.finish().is_ok());
    let mut form = parts(&[("swclk", "15"), ("other", "")]);
    form.optional("swclk", integer(1..=14u8));
    assert_eq!(form.finish().unwrap_err().fields.len(), 2);
}
