//! Strictness of bodies: each problem is reported with the path of the member.

use crate::testing::mutations;
use crate::{ApiError, Fields, choice, flag, integer, list, nested, number, text};

const EDGES: &[(&str, char)] = &[("rising", 'r'), ("falling", 'f')];

crate::members! {
    #[derive(Debug, PartialEq)]
    struct Body {
        id: String = required(text(1..=8)),
        samples: u32 = or(integer(1..=4096), 256),
        rate: f64 = or(number(0.0, 24.0), 1.0),
        loud: bool = or(flag(), false),
        channels: Vec<u8> = or(list(integer(1..=14), 0..=14), Vec::new()),
        trigger: Option<Trigger> = optional(nested()),
    }
}

crate::members! {
    #[derive(Debug, PartialEq)]
    struct Trigger {
        channel: u8 = required(integer(1..=14)),
        edge: char = or(choice(EDGES), 'r'),
    }
}

fn read(body: &[u8]) -> Result<Body, ApiError> {
    Fields::parse(body)?.read()
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
        Body {
            id: "x".into(),
            samples: 4096,
            rate: 0.5,
            loud: true,
            channels: vec![1, 14],
            trigger: Some(Trigger {
                channel: 2,
                edge: 'f'
            })
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

crate::members! {
    struct Outer {
        a: Inner = required(nested()),
    }
}

crate::members! {
    struct Inner {
        b: u8 = required(integer(3..=9)),
    }
}

#[test]
fn a_required_object_is_read_or_missed() {
    let read = |body: &str| {
        let read = Fields::parse(body.as_bytes()).unwrap().read::<Outer>();
        read.map(|outer| outer.a.b).map_err(|e| e.message)
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

crate::members! {
    struct Parts {
        swclk: Option<u8> = optional(integer(1..=14)),
        verify: Option<bool> = optional(flag()),
        target: Option<String> = optional(text(1..=4)),
    }
}

#[test]
fn parts_of_a_form_are_read_as_text() {
    let read = |list: &[(&str, &str)]| {
        let owned = list.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned()));
        Fields::of_texts(owned.collect()).read::<Parts>()
    };
    let parts = read(&[("swclk", "11"), ("verify", "false"), ("target", "11")]).unwrap();
    assert_eq!(
        (parts.swclk, parts.verify, parts.target.as_deref()),
        (Some(11), Some(false), Some("11"))
    );
    let error = read(&[("swclk", "15"), ("other", "")]).err().unwrap();
    assert_eq!(error.fields.len(), 2);
}

#[test]
fn an_older_name_stands_for_the_newer_one() {
    let read = |list: &[(&str, &str)]| {
        let owned = list.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned()));
        let mut fields = Fields::of_texts(owned.collect());
        fields.rename("goal", "target");
        fields.read::<Parts>()
    };
    let parts = read(&[("goal", "11")]).unwrap();
    assert_eq!(parts.target.as_deref(), Some("11"));
    assert_eq!(read(&[]).unwrap().target, None);
    let error = read(&[("goal", "11"), ("target", "12")]).err().unwrap();
    assert_eq!(error.fields[0].field, "goal");
}
