//! For the unit tests of handlers: requests to parse, responses to inspect, and seeded mutations of
//! valid inputs for the fuzz tests.

use serde_json::Value;

use crate::{Body, Caller, Credential, Request, Response, Role, Route, Schemas};

/// A request by an owner's signed-in session, with a JSON body; empty = no body.
#[must_use]
pub fn request(body: &str) -> Request {
    Request {
        id: "01TESTREQUEST".to_owned(),
        route: 0,
        params: Vec::new(),
        query: String::new(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: body.as_bytes().to_vec(),
        caller: Some(caller(Role::Owner, Credential::UserSession, &[])),
    }
}

/// A request without body.
#[must_use]
pub fn get(params: &[&str], query: &str) -> Request {
    Request {
        params: params.iter().map(|&param| param.to_owned()).collect(),
        query: query.to_owned(),
        headers: Vec::new(),
        ..request("")
    }
}

#[must_use]
pub fn caller(role: Role, credential: Credential, scopes: &[&str]) -> Caller {
    Caller {
        org: "01TESTORG".to_owned(),
        user: "01TESTUSER".to_owned(),
        role,
        credential,
        kid: None,
        scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
        devices: None,
    }
}

/// The bytes of a response; none for an empty body.
///
/// # Panics
/// When the body is a stream, which only the host can read.
#[must_use]
pub fn bytes(response: &Response) -> &[u8] {
    match &response.body {
        Body::Empty => &[],
        Body::Bytes(bytes) => bytes,
        Body::Stream(_) => panic!("the body is a stream"),
        Body::Upgrade(_) => panic!("there is no body but an upgrade"),
    }
}

/// The JSON of a response.
///
/// # Panics
/// When it is not JSON.
#[must_use]
pub fn json(response: &Response) -> Value {
    serde_json::from_slice(bytes(response)).expect("a handler writes valid JSON")
}

/// First value of a response's header.
#[must_use]
pub fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    let found = response.headers.iter().find(|(n, _)| n == name);
    found.map(|(_, value)| value.as_str())
}

/// The example body of a route's request.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn request_example(route: &Route) -> Vec<u8> {
    let members = route.openapi.members(&mut Schemas::default());
    let example = &members["requestBody"]["content"]["application/json"]["example"];
    assert!(example.is_object(), "{} has no example", route.name);
    example.to_string().into_bytes()
}

/// Call `try_one` with `count` random mutations of `valid`, the same ones for the same seed.
///
/// # Panics
/// When `seed` is 0 or `valid` is empty.
pub fn mutations(seed: u64, valid: &[u8], count: usize, mut try_one: impl FnMut(&[u8])) {
    assert!(seed != 0 && !valid.is_empty());
    let mut state = seed;
    // Marsaglia's xorshift64.
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % (bound as u64)).expect("less than a usize")
    };
    const TOKENS: &[&[u8]] = &[
        b"null",
        b"true",
        b"-1",
        b"1e999",
        b"0.5",
        b"{}",
        b"[]",
        b"\"",
        b"\\",
        b"\\u0000",
        b"[[[[",
        b"%",
        b"%zz",
        b"&",
        b"=",
        b"18446744073709551616",
        b"\xff\xfe",
        b"\0",
        b",",
        b":",
    ];
    for _ in 0..count {
        let mut input = valid.to_vec();
        for _ in 0..=below(4) {
            let at = below(input.len() + 1);
            match below(4) {
                0 => input.truncate(at),
                1 => {
                    let token = TOKENS[below(TOKENS.len())];
                    let end = (at + below(8)).min(input.len());
                    input.splice(at..end, token.iter().copied());
                }
                2 if at < input.len() => {
                    input[at] = u8::try_from(below(256)).expect("less than 256");
                }
                _ => {
                    let end = (at + below(32)).min(input.len());
                    let copied = input[at..end].to_vec();
                    input.splice(at..at, copied);
                }
            }
        }
        try_one(&input);
    }
}
