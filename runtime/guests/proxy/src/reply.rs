//! Responses of all kinds.

use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::http::types::{Fields, OutgoingBody, OutgoingResponse, ResponseOutparam};
use wasip2::io::streams::OutputStream;

/// What is written at once.
const WRITE_BYTES: usize = 4 << 10;

/// Between the parts of a slow response.
const PAUSE_NS: u64 = 20_000_000;

/// A response whose head was sent.
pub(crate) struct Answer {
    /// Before the body, which may not go while its stream is held: fields go in this order.
    stream: OutputStream,
    body: OutgoingBody,
}

impl Answer {
    pub(crate) fn ok(out: ResponseOutparam) -> Self {
        Self::new(out, 200, &[])
    }

    pub(crate) fn new(out: ResponseOutparam, status: u16, headers: &[(&str, &str)]) -> Self {
        let fields = Fields::new();
        for (name, value) in headers {
            // What may not be said is left out.
            let _ = fields.append(name, value.as_bytes());
        }
        let response = OutgoingResponse::new(fields);
        let _ = response.set_status_code(status);
        let Ok(body) = response.body() else {
            std::process::abort()
        };
        ResponseOutparam::set(out, Ok(response));
        let Ok(stream) = body.write() else {
            std::process::abort()
        };
        Self { stream, body }
    }

    /// Write bytes, as long as somebody reads them.
    pub(crate) fn write(&self, bytes: &[u8]) -> bool {
        let mut parts = bytes.chunks(WRITE_BYTES);
        parts.all(|part| self.stream.blocking_write_and_flush(part).is_ok())
    }

    pub(crate) fn finish(self) -> bool {
        drop(self.stream);
        OutgoingBody::finish(self.body, None).is_ok()
    }

    pub(crate) fn text(self, text: &str) {
        self.write(text.as_bytes());
        self.finish();
    }
}

/// As many parts, with a pause before each.
pub(crate) fn stream(out: ResponseOutparam, parts: u64) {
    let answer = Answer::new(out, 200, &[("content-type", "text/plain")]);
    for number in 0..parts {
        subscribe_duration(PAUSE_NS).block();
        if !answer.write(format!("part {number}\n").as_bytes()) {
            super::println("nobody reads");
            return;
        }
    }
    answer.finish();
}

/// As many MiB, written without waiting for more room than there is.
pub(crate) fn large(out: ResponseOutparam, mib: u64) {
    let answer = Answer::ok(out);
    let mut left = mib << 20;
    let ready = answer.stream.subscribe();
    while left > 0 {
        let Ok(room) = answer.stream.check_write() else {
            super::println("nobody reads");
            return;
        };
        if room == 0 {
            ready.block();
            continue;
        }
        let now = room.min(left);
        let Ok(now) = usize::try_from(now) else {
            return;
        };
        if answer.stream.write(&vec![b'x'; now]).is_err() {
            super::println("nobody reads");
            return;
        }
        left -= now as u64;
    }
    drop(ready);
    super::println("written");
    answer.finish();
}

/// Promise eight bytes, and write as many as asked for.
pub(crate) fn promise(out: ResponseOutparam, bytes: u64) {
    let answer = Answer::new(out, 200, &[("content-length", "8")]);
    let written = (0..bytes).all(|_| answer.write(b"x"));
    let kept = answer.finish();
    super::println(&format!("promise: {written} {kept}"));
}

pub(crate) fn trailers(out: ResponseOutparam) {
    let answer = Answer::new(out, 200, &[("trailer", "x-sum")]);
    answer.write(b"body");
    drop(answer.stream);
    let fields = Fields::new();
    let _ = fields.append("x-sum", b"4");
    let _ = fields.append("set-cookie", b"a=b");
    let _ = OutgoingBody::finish(answer.body, Some(fields));
}

/// As many headers.
pub(crate) fn headers(out: ResponseOutparam, count: u64) {
    let names: Vec<String> = (0..count).map(|n| format!("x-{n}")).collect();
    let all: Vec<_> = names.iter().map(|name| (name.as_str(), "1")).collect();
    Answer::new(out, 200, &all).text("");
}

/// A header of as many bytes.
pub(crate) fn header(out: ResponseOutparam, bytes: u64) {
    let value = "x".repeat(usize::try_from(bytes).unwrap_or(0));
    Answer::new(out, 200, &[("x-long", &value)]).text("");
}

/// What concerns the whole server.
pub(crate) fn cookie(out: ResponseOutparam) {
    let all = [
        ("set-cookie", "a=b"),
        ("access-control-allow-origin", "*"),
        ("Content-Security-Policy", "default-src *"),
        ("content-type", "text/html"),
        ("x-own", "1"),
    ];
    Answer::new(out, 200, &all).text("<script>");
}

/// Which headers the contract lets nobody say.
pub(crate) fn forbidden(out: ResponseOutparam) {
    let fields = Fields::new();
    let mut told = String::new();
    for name in ["host", "Connection", "transfer-encoding", "a b", "x-own"] {
        told += &format!("{name}: {:?}\n", fields.append(name, b"1"));
    }
    told += &format!("lines: {:?}\n", fields.append("x-own", b"a\r\nb"));
    Answer::ok(out).text(&told);
}

/// A status of its own, without a body.
pub(crate) fn status(out: ResponseOutparam, status: u64) {
    let response = OutgoingResponse::new(Fields::new());
    let taken = response.set_status_code(u16::try_from(status).unwrap_or(0));
    if taken.is_err() {
        return Answer::ok(out).text("refused");
    }
    ResponseOutparam::set(out, Ok(response));
}
