//! The bench handler's work behind `wasi:http`, as `wasmtime serve` runs it. It has no store, so
//! the guest contains the value, which can only make this side of the comparison faster.

#![cfg(target_arch = "wasm32")]

use wasip2::exports::http::incoming_handler::Guest;
use wasip2::http::types::{
    Fields, IncomingRequest, OutgoingBody, OutgoingResponse, ResponseOutparam,
};
use wasip2::io::streams::StreamError;

/// Size of one read; the request is far smaller.
const READ_BYTES_MAX: u64 = 64 << 10;

struct Bench;

wasip2::http::proxy::export!(Bench);

impl Guest for Bench {
    fn handle(request: IncomingRequest, out: ResponseOutparam) {
        let value = br#"{"name":"bench-pod-7","board":"BM-20 rev C","online":true}"#;
        let answer = guest_bench::answer(&read(&request), |_| Some(value.to_vec()));
        let Ok(answer) = answer else {
            return ResponseOutparam::set(out, Ok(empty(400)));
        };
        let headers = [
            ("content-type", "application/json"),
            ("cache-control", "no-store"),
        ]
        .map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
        let headers = Fields::from_list(&headers).expect("both are allowed");
        let response = OutgoingResponse::new(headers);
        let body = response.body().expect("taken once");
        ResponseOutparam::set(out, Ok(response));
        let stream = body.write().expect("taken once");
        stream
            .blocking_write_and_flush(&answer)
            .expect("shorter than the 4 KiB of one write");
        drop(stream);
        OutgoingBody::finish(body, None).expect("no length was promised");
    }
}

fn empty(status: u16) -> OutgoingResponse {
    let response = OutgoingResponse::new(Fields::new());
    response.set_status_code(status).expect("a valid status");
    response
}

fn read(request: &IncomingRequest) -> Vec<u8> {
    let body = request.consume().expect("taken once");
    let stream = body.stream().expect("taken once");
    let mut all = Vec::new();
    loop {
        match stream.blocking_read(READ_BYTES_MAX) {
            Ok(part) => all.extend(part),
            Err(StreamError::Closed) => return all,
            Err(StreamError::LastOperationFailed(_)) => panic!("the request broke off"),
        }
    }
}
