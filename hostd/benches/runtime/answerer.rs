//! Who answers: plain Rust, a pooled instance, a fresh one. All take and give the same types.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response};
use runtime::{Engine, EngineOptions, Handler, HandlerOptions, Mode, ReplyBody};

use crate::host::{self, Call, Stored};
use crate::work;

pub(crate) enum Answerer {
    Native(Stored),
    Handler {
        name: &'static str,
        handler: Box<Handler<Call>>,
        stored: Stored,
    },
}

impl Answerer {
    /// All of them, native first.
    pub(crate) fn all() -> Vec<Arc<Self>> {
        let stored = Arc::new(work::stored());
        let path = PathBuf::from(env!("HOSTD_HANDLERS")).join("guests/bench.wasm");
        let wasm = std::fs::read(&path)
            .unwrap_or_else(|e| panic!("{}: {e}; run cargo xtask handlers", path.display()));
        // As the handlers in the binary: for the baseline, not for this machine.
        let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let code = runtime::precompile(&wasm, Some(&target)).unwrap();
        let engine = Engine::new(&EngineOptions::default()).unwrap();
        let component = engine.load(&code).unwrap();
        let mut linker = engine.linker();
        host::link(&mut linker);
        let modes = [
            ("pooled", Mode::Pooled { calls_max: 1_000 }),
            ("fresh", Mode::Fresh),
        ];
        let handlers = modes.map(|(name, mode)| {
            let options = HandlerOptions {
                name: name.to_owned(),
                mode,
                ..HandlerOptions::default()
            };
            let make = {
                let stored = stored.clone();
                move || Call::new(stored.clone())
            };
            let handler = Handler::new(&engine, &linker, &component, options, make).unwrap();
            Arc::new(Self::Handler {
                name,
                handler: Box::new(handler),
                stored: stored.clone(),
            })
        });
        let native = Arc::new(Self::Native(stored.clone()));
        std::iter::once(native).chain(handlers).collect()
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Native(_) => "native",
            Self::Handler { name, .. } => name,
        }
    }

    pub(crate) async fn answer(&self, request: Request<Bytes>) -> Response<Bytes> {
        match self {
            Self::Native(stored) => native(stored, &request),
            Self::Handler {
                handler, stored, ..
            } => through(handler, stored, request).await,
        }
    }
}

fn native(stored: &Stored, request: &Request<Bytes>) -> Response<Bytes> {
    let body = guest_bench::answer(request.body(), |key| stored.get(key).cloned()).unwrap();
    Response::builder()
        .header("content-type", "application/json")
        .header("cache-control", "no-store")
        .body(body.into())
        .unwrap()
}

/// The conversions are those that the server makes for every handler.
async fn through(
    handler: &Handler<Call>,
    stored: &Stored,
    request: Request<Bytes>,
) -> Response<Bytes> {
    let (head, body) = request.into_parts();
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    let headers = head
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)))
        .collect();
    let record = runtime::Request {
        id: head.headers.get("x-request-id").and_then(text).unwrap(),
        route: 0,
        params: Vec::new(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers,
        body: body.into(),
        caller: None,
    };
    let reply = handler
        .call(record, Call::new(stored.clone()))
        .await
        .unwrap();
    let body = match reply.body {
        ReplyBody::Empty => Bytes::new(),
        ReplyBody::Bytes(bytes) => bytes,
        ReplyBody::Stream(_) | ReplyBody::Upgrade(_) => {
            unreachable!("the bench guest builds its answers itself")
        }
    };
    let mut response = Response::new(body);
    *response.status_mut() = reply.status.try_into().unwrap();
    for (name, value) in reply.headers {
        let name = HeaderName::try_from(name).unwrap();
        let value = HeaderValue::try_from(value).unwrap();
        response.headers_mut().append(name, value);
    }
    response
}
