//! Decoding and strictness of query strings.

use crate::testing::mutations;
use crate::{ApiError, Query, flag, integer, number, text};

crate::members! {
    struct Asked {
        limit: u32 = or(integer(1..=200), 50),
        name: Option<String> = optional(text(0..=20)),
    }
}

fn read(query: &str) -> Result<(u32, Option<String>), ApiError> {
    let asked: Asked = Query::parse(query)?.read()?;
    Ok((asked.limit, asked.name))
}

#[test]
fn reads_and_decodes() {
    assert_eq!(read("").unwrap(), (50, None));
    assert_eq!(read("limit=200&").unwrap(), (200, None));
    assert_eq!(
        read("name=a%20b+c%26%3D%e2%82%ac").unwrap().1.as_deref(),
        Some("a b c&=€")
    );
    assert_eq!(read("n%61me=").unwrap().1.as_deref(), Some(""));
    assert_eq!(read("name").unwrap().1.as_deref(), Some(""));
}

#[test]
fn tells_what_is_wrong() {
    for (query, expected) in [
        ("limit=0", "limit must be an integer, 1..=200"),
        ("limit=5x", "limit must be an integer, 1..=200"),
        ("limit=", "limit must be an integer, 1..=200"),
        ("limit=1&limit=2", "limit is given twice"),
        ("offset=1", "offset is not known here"),
        ("name=%0a", "name must not contain control characters"),
        (
            "name=%f",
            "the query has a % that two hex digits do not follow",
        ),
        (
            "name=%zz",
            "the query has a % that two hex digits do not follow",
        ),
        ("name=%ff", "the query is not UTF-8 once decoded"),
    ] {
        let error = read(query).unwrap_err();
        assert_eq!(
            (error.status, error.message.as_str()),
            (400, expected),
            "{query}"
        );
    }
}

crate::members! {
    struct Shaped {
        on: bool = required(flag()),
        rate: f64 = required(number(0.0, 2.0)),
        off: Option<bool> = optional(flag()),
    }
}

#[test]
fn other_shapes_read_text_too() {
    let shaped = |text: &str| Query::parse(text).unwrap().read::<Shaped>();
    let read = shaped("on=true&rate=1.5").unwrap();
    assert_eq!((read.on, read.rate, read.off), (true, 1.5, None));
    let error = shaped("off=yes&rate=1.5").err().unwrap();
    let told: Vec<String> = error
        .fields
        .iter()
        .map(|p| format!("{} {}", p.field, p.message))
        .collect();
    assert_eq!(told, ["on is required", "off must be true or false"]);
}

crate::members! {
    struct Known {
        limit: u32 = or(integer(1..=9), 5),
    }
}

#[test]
fn what_a_type_does_not_know_is_given_beside_it() {
    let open = |text: &str| Query::parse(text).unwrap().read_open::<Known>();
    let (known, others) = open("b=1&limit=7&a=%20").unwrap();
    let expected = [("a", " "), ("b", "1")].map(|(n, v)| (n.to_owned(), v.to_owned()));
    assert_eq!((known.limit, others), (7, expected.to_vec()));
    let problems = open("b=1&limit=0").err().unwrap().fields;
    assert_eq!((problems.len(), problems[0].field.as_str()), (1, "limit"));
}

#[test]
fn is_bounded() {
    assert!(
        read(&"x".repeat(9000))
            .unwrap_err()
            .message
            .contains("8192 bytes")
    );
    let many: Vec<String> = (0..100).map(|n| format!("x{n}")).collect();
    assert!(
        read(&many.join("&"))
            .unwrap_err()
            .message
            .contains("64 parameters")
    );
}

#[test]
fn mutated_queries_never_panic() {
    let mut refused = 0;
    mutations(
        0x05EE_D0E1,
        b"limit=20&name=a%20b&x=%e2%82%ac",
        20_000,
        |query| {
            if let Ok(query) = std::str::from_utf8(query) {
                refused += usize::from(read(query).is_err());
            }
        },
    );
    assert!(
        refused > 10_000,
        "mutations hardly ever break the query: {refused}"
    );
}
