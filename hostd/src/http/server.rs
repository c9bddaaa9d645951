//! The accept loop: HTTP/1.1 and HTTP/2 (prior knowledge) on one port, with limits on connections,
//! heads and idle time, and an orderly drain.

use std::convert::Infallible;
use std::fmt::Display;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::{debug, warn};

use crate::config::HttpConfig;
use crate::http::flow::{Asked, Flowing, Flows};
use crate::http::gateway::Gateway;
use crate::http::patience::Patience;
use crate::http::rejection::Rejections;

/// Pause after a failed accept: out of file descriptors is the usual cause and needs time.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Most header fields in one head.
const HEADERS_MAX: usize = 100;

/// Streams at once on one HTTP/2 connection.
const STREAMS_MAX: u32 = 200;

/// Serve `listener` until `stop` resolves, then drain: no new connections, open requests get
/// `config.drain_ms`, and what is left is cut.
///
/// # Errors
/// None while running: a failed accept is logged and retried.
pub async fn serve(
    listener: TcpListener,
    gateway: Arc<Gateway>,
    config: &HttpConfig,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let builder = builder(config);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(config.connections_max as usize));
    tokio::pin!(stop);
    loop {
        let stream = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(e) => {
                    warn!(error = %e, "failed to accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
        };
        let Ok(place) = places.clone().try_acquire_owned() else {
            gateway
                .native
                .metrics
                .connections_refused
                .fetch_add(1, Ordering::Relaxed);
            drop(stream);
            continue;
        };
        welcome(stream, place, &builder, &gateway, config, &graceful);
    }
    drop(listener);
    gateway.native.set_ready(false);
    let drain = Duration::from_millis(config.drain_ms);
    if tokio::time::timeout(drain, graceful.shutdown())
        .await
        .is_err()
    {
        warn!(
            drain_ms = config.drain_ms,
            "cutting connections that did not drain"
        );
    }
    Ok(())
}

/// Serve a connection on a task of its own.
fn welcome(
    stream: TcpStream,
    place: OwnedSemaphorePermit,
    builder: &Builder<TokioExecutor>,
    gateway: &Arc<Gateway>,
    config: &HttpConfig,
    graceful: &GracefulShutdown,
) {
    prepare(&stream);
    let head_wait = Duration::from_millis(config.head_wait_ms);
    let write_wait = Duration::from_millis(config.write_wait_ms);
    let asked = Arc::new(AtomicBool::new(false));
    let upgraded = Arc::new(AtomicBool::new(false));
    let flows = Arc::new(Flows::default());
    let refused = {
        let gateway = gateway.clone();
        move |status: StatusCode| {
            let metrics = &gateway.native.metrics;
            metrics.record("none", status.as_u16(), Duration::ZERO);
        }
    };
    let stream = Patience::new(stream, write_wait, upgraded.clone());
    let stream = Rejections::new(stream, flows.clone(), refused);
    let service = {
        let (gateway, asked, flows) = (gateway.clone(), asked.clone(), flows.clone());
        service_fn(move |request: Request<Incoming>| {
            asked.store(true, Ordering::Relaxed);
            let flow = flows.ask(request.version());
            answer(gateway.clone(), upgraded.clone(), flow, request)
        })
    };
    let connection = builder
        .serve_connection_with_upgrades(TokioIo::new(stream), service)
        .into_owned();
    let connection = graceful.watch(connection);
    let too_long = async move {
        tokio::select! {
            () = silence(head_wait, &asked) => "it asked nothing",
            () = flows.stalled(write_wait) => "it takes nothing of an answer",
        }
    };
    tokio::spawn(attend(connection, gateway.clone(), too_long, place));
}

/// Answer one request of a connection; `upgraded` is set when it becomes a WebSocket.
async fn answer(
    gateway: Arc<Gateway>,
    upgraded: Arc<AtomicBool>,
    asked: Asked,
    request: Request<Incoming>,
) -> Result<Response<Flowing>, Infallible> {
    let response = gateway.answer(request).await;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        upgraded.store(true, Ordering::Relaxed);
    }
    Ok(response.map(|body| asked.answer(body)))
}

/// See a connection to its end, or close it once `too_long` tells why.
async fn attend<E: Display>(
    connection: impl Future<Output = Result<(), E>>,
    gateway: Arc<Gateway>,
    too_long: impl Future<Output = &'static str>,
    place: OwnedSemaphorePermit,
) {
    let open = &gateway.native.metrics.connections_open;
    open.fetch_add(1, Ordering::Relaxed);
    tokio::select! {
        ended = connection => if let Err(e) = ended {
            debug!(error = %e, "connection ended");
        },
        why = too_long => debug!(why, "closed a connection"),
    }
    open.fetch_sub(1, Ordering::Relaxed);
    drop(place);
}

/// Resolves when a connection has made no request for `wait`. Until the protocol version is known,
/// no other limit applies: a sender of nothing, or of half a preface, would keep its place for good.
async fn silence(wait: Duration, asked: &AtomicBool) {
    tokio::time::sleep(wait).await;
    if asked.load(Ordering::Relaxed) {
        std::future::pending().await
    }
}

fn prepare(stream: &TcpStream) {
    if let Err(e) = stream.set_nodelay(true) {
        debug!(error = %e, "failed to disable Nagle's algorithm");
    }
}

fn builder(config: &HttpConfig) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_millis(config.head_wait_ms))
        .max_buf_size(config.head_bytes_max as usize)
        .max_headers(HEADERS_MAX)
        .keep_alive(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(config.head_bytes_max)
        .keep_alive_interval(Duration::from_millis(config.head_wait_ms))
        .keep_alive_timeout(Duration::from_millis(config.head_wait_ms));
    builder
}

#[cfg(test)]
mod tests;
