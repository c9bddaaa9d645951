//! A component of the world `wasi:http/proxy`, written against the crate `wasip2` alone. The path says what it does, with a
//! number or a URL behind `?`.

#![cfg(target_arch = "wasm32")]

mod crimes;
mod errand;
mod reply;

use wasip2::http::types::{IncomingRequest, Method, ResponseOutparam};

use reply::Answer;

wasip2::http::proxy::export!(Proxy);

/// Tests write other versions over it, in as many letters.
static MARK: &str = "MARK:version-1.0.0:";

/// What is read of a body at once.
const READ_BYTES: u64 = 16 << 10;

struct Proxy;

impl wasip2::exports::http::incoming_handler::Guest for Proxy {
    fn handle(request: IncomingRequest, out: ResponseOutparam) {
        let target = request.path_with_query().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let number = query.parse().unwrap_or(0);
        match path {
            "/mark" => Answer::ok(out).text(std::hint::black_box(MARK)),
            "/echo" => echo(&request, out),
            "/stream" => reply::stream(out, number),
            "/large" => reply::large(out, number),
            "/promise" => reply::promise(out, number),
            "/trailers" => reply::trailers(out),
            "/headers" => reply::headers(out, number),
            "/header" => reply::header(out, number),
            "/cookie" => reply::cookie(out),
            "/forbidden" => reply::forbidden(out),
            "/status" => reply::status(out, number),
            "/fetch" => errand::fetch(&request, out, query),
            "/fetch-many" => errand::many(out, query),
            _ => match path.strip_prefix("/crime/") {
                Some(crime) => crimes::commit(crime, out),
                None => see(&request, out),
            },
        }
    }
}

/// Tell everything that there is to see of the request.
fn see(request: &IncomingRequest, out: ResponseOutparam) {
    let mut text = format!(
        "{} {}\nauthority: {}\n",
        method(&request.method()),
        request.path_with_query().unwrap_or_default(),
        request.authority().unwrap_or_default()
    );
    for (name, value) in request.headers().entries() {
        text += &format!("{name}={}\n", String::from_utf8_lossy(&value));
    }
    println(&format!(
        "seen: {}",
        request.path_with_query().unwrap_or_default()
    ));
    Answer::ok(out).text(&text);
}

/// Send the body back while it is read.
fn echo(request: &IncomingRequest, out: ResponseOutparam) {
    let Ok(body) = request.consume() else { return };
    let Ok(stream) = body.stream() else { return };
    let length = request.headers().get("content-length");
    let length = length
        .first()
        .map(|value| String::from_utf8_lossy(value).into_owned());
    let promised: Vec<_> = length
        .iter()
        .map(|text| ("content-length", text.as_str()))
        .collect();
    let answer = Answer::new(out, 200, &promised);
    while let Ok(bytes) = stream.blocking_read(READ_BYTES) {
        answer.write(&bytes);
    }
    answer.finish();
}

fn method(method: &Method) -> &str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
        Method::Patch => "PATCH",
        _ => "another",
    }
}

/// A line for the log.
fn println(line: &str) {
    let out = wasip2::cli::stdout::get_stdout();
    let _ = out.blocking_write_and_flush(format!("{line}\n").as_bytes());
}
