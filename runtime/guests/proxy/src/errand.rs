//! Requests to others.

use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingRequest, OutgoingBody, OutgoingRequest,
    ResponseOutparam, Scheme,
};

use crate::READ_BYTES;
use crate::reply::Answer;

/// Requests that follow one another until one is no redirect.
const REDIRECTS_MAX: usize = 3;

/// Send a request to the URL, with the request's method and body, and tell what came back.
pub(crate) fn fetch(request: &IncomingRequest, out: ResponseOutparam, url: &str) {
    let mut body = Vec::new();
    if let Ok(incoming) = request.consume()
        && let Ok(stream) = incoming.stream()
    {
        while let Ok(bytes) = stream.blocking_read(READ_BYTES) {
            body.extend(bytes);
        }
    }
    let mut told = String::new();
    let mut url = url.to_owned();
    for _ in 0..REDIRECTS_MAX {
        match once(request, &url, &body) {
            Ok((status, location, text)) => {
                told += &format!("{status} {text}\n");
                match location {
                    Some(location) => url = location,
                    None => break,
                }
            }
            Err(code) => {
                told += &format!("{code:?}\n");
                break;
            }
        }
    }
    Answer::ok(out).text(&told);
}

/// Send 20 requests at once, and tell how many had which status.
pub(crate) fn many(out: ResponseOutparam, url: &str) {
    let begun: Vec<_> = (0..20)
        .map(|_| send("GET", url, b"").and_then(|begun| told(&begun)))
        .collect();
    let mut text = String::new();
    for one in begun {
        text += &match one {
            Ok((status, ..)) => format!("{status}\n"),
            Err(code) => format!("{code:?}\n"),
        };
    }
    Answer::ok(out).text(&text);
}

type Told = (u16, Option<String>, String);

fn once(request: &IncomingRequest, url: &str, body: &[u8]) -> Result<Told, ErrorCode> {
    let method = crate::method(&request.method()).to_owned();
    told(&send(&method, url, body)?)
}

fn send(method: &str, url: &str, body: &[u8]) -> Result<FutureIncomingResponse, ErrorCode> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let fields = Fields::new();
    let _ = fields.append("x-own", b"1");
    let _ = fields.append("content-length", body.len().to_string().as_bytes());
    let request = OutgoingRequest::new(fields);
    let scheme = if scheme == "https" {
        Scheme::Https
    } else {
        Scheme::Http
    };
    let _ = request.set_method(&match method {
        "POST" => wasip2::http::types::Method::Post,
        _ => wasip2::http::types::Method::Get,
    });
    let _ = request.set_scheme(Some(&scheme));
    let _ = request.set_authority(Some(authority));
    let _ = request.set_path_with_query(Some(path));
    let Ok(outgoing) = request.body() else {
        return Err(ErrorCode::InternalError(None));
    };
    // The body is written after the request is on its way, as most do it.
    let begun = handle(request, None)?;
    if let Ok(stream) = outgoing.write() {
        for part in body.chunks(4096) {
            if let Err(error) = stream.blocking_write_and_flush(part) {
                return Err(ErrorCode::InternalError(Some(format!("{error:?}"))));
            }
        }
    }
    OutgoingBody::finish(outgoing, None)?;
    Ok(begun)
}

fn told(begun: &FutureIncomingResponse) -> Result<Told, ErrorCode> {
    begun.subscribe().block();
    let Some(Ok(answer)) = begun.get() else {
        return Err(ErrorCode::InternalError(None));
    };
    let answer = answer?;
    let location = answer.headers().get("location").into_iter().next();
    let location = location.map(|value| String::from_utf8_lossy(&value).into_owned());
    let mut text = Vec::new();
    if let Ok(body) = answer.consume()
        && let Ok(stream) = body.stream()
    {
        while let Ok(bytes) = stream.blocking_read(READ_BYTES) {
            text.extend(bytes);
        }
    }
    Ok((
        answer.status(),
        location,
        String::from_utf8_lossy(&text).into_owned(),
    ))
}
