//! Responses a guest could make up, good and bad.

use super::*;
use tokio::sync::mpsc;
use wasmtime::component::{Resource, ResourceTable};

struct Data(ResourceTable);

impl CallData for Data {
    fn table(&mut self) -> &mut ResourceTable {
        &mut self.0
    }
}

fn with_headers(headers: &[(&str, &str)]) -> Response {
    Response {
        status: 200,
        headers: headers
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect(),
        body: Body::Empty,
    }
}

fn checked(response: Response) -> Result<Reply, CallError> {
    check(response, &mut Data(ResourceTable::new()), 8)
}

#[test]
fn statuses_outside_the_range_are_refused() {
    for (status, good) in [
        (199, false),
        (200, true),
        (599, true),
        (600, false),
        (0, false),
    ] {
        let response = Response {
            status,
            ..with_headers(&[])
        };
        assert_eq!(checked(response).is_ok(), good, "{status}");
    }
}

#[test]
fn headers_that_could_split_the_response_are_refused() {
    for (name, value) in [
        ("x-a", "b\r\nset-cookie: c"),
        ("x-a", "b\n"),
        ("x-a", "\0"),
        ("x a", "b"),
        ("x-a:", "b"),
        ("X-A", "b"),
        ("", "b"),
        ("x\r\n", "b"),
    ] {
        let error = checked(with_headers(&[(name, value)])).unwrap_err();
        assert!(
            matches!(
                error,
                CallError::BadResponse(BadResponse::HeaderName(_) | BadResponse::HeaderValue(_))
            ),
            "{name:?} {value:?}: {error}"
        );
    }
    assert!(checked(with_headers(&[("x-a", "b\tc d"), ("etag", "\"ü\"")])).is_ok());
}

#[test]
fn headers_are_counted_and_measured() {
    let many = vec![("a", "b"); HEADERS_MAX + 1];
    assert!(matches!(
        checked(with_headers(&many)).unwrap_err(),
        CallError::BadResponse(BadResponse::HeaderCount(65))
    ));
    let long = "v".repeat(HEADER_BYTES_MAX);
    assert!(matches!(
        checked(with_headers(&[("a", &long)])).unwrap_err(),
        CallError::BadResponse(BadResponse::HeaderBytes(_))
    ));
}

#[test]
fn headers_of_the_host_are_dropped() {
    let reply = checked(with_headers(&[
        ("content-length", "9"),
        ("date", "x"),
        ("vary", "a"),
    ]));
    assert_eq!(
        reply.unwrap().headers,
        [("vary".to_owned(), "a".to_owned())]
    );
}

#[test]
fn body_limit_is_exact() {
    for (len, good) in [(8, true), (9, false)] {
        let response = Response {
            body: Body::Bytes(vec![0; len]),
            ..with_headers(&[])
        };
        assert_eq!(checked(response).is_ok(), good, "{len}");
    }
}

#[test]
fn a_stream_is_taken_out_and_names_its_type() {
    let mut data = Data(ResourceTable::new());
    let (_sender, parts) = mpsc::channel(1);
    let stream = BodyStream::new(Some("text/csv".to_owned()), parts);
    let handle = data.table().push(stream).unwrap();
    let response = Response {
        body: Body::Stream(handle),
        ..with_headers(&[])
    };
    let reply = check(response, &mut data, 0).unwrap();
    assert!(matches!(reply.body, ReplyBody::Stream(_)));
    assert_eq!(reply.headers[0].1, "text/csv");
    assert!(data.table().is_empty());
}

#[test]
fn a_stream_that_is_not_there_is_refused() {
    let response = Response {
        body: Body::Stream(Resource::new_own(7)),
        ..with_headers(&[])
    };
    assert!(matches!(
        checked(response).unwrap_err(),
        CallError::BadResponse(BadResponse::Stream(_))
    ));
}
