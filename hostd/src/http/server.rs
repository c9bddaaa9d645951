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
use tracing::{debug, info, warn};

use crate::http::address::Address;
use crate::http::connections::{ConnectionLimits, Connections, Seat};
use crate::http::floods::Floods;
use crate::http::flow::{Asked, Flowing, Flows};
use crate::http::gateway::Gateway;
use crate::http::patience::Patience;
use crate::http::peer::Peer;
use crate::http::rejection::Rejections;
use base::config::HttpConfig;

/// Pause after a failed accept: out of file descriptors is the usual cause and needs time.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Idle connections closed after a failed accept, to free descriptors for waiting clients and for
/// files.
const ACCEPT_RELIEF: u32 = 32;

/// Most header fields in one head.
const HEADERS_MAX: usize = 100;

/// Streams at once on one HTTP/2 connection.
const STREAMS_MAX: u32 = 200;

/// A connection that has come in.
struct Client {
    stream: TcpStream,
    peer: Peer,
    flows: Arc<Flows>,
    seat: Arc<Seat>,
}

/// Serve `listener` until `stop` resolves, then drain: no new connections, open requests get
/// `config.drain_ms`, and whatever is left is cut.
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
    let connections = Connections::new(
        ConnectionLimits {
            total_max: config.connections_max,
            per_address_max: config.connections_per_address_max,
            reserve_max: config.connections_reserve,
        },
        gateway.native.metrics.connections.clone(),
    );
    tokio::pin!(stop);
    loop {
        let (stream, peer) = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, from)) => (stream, Peer(from.ip())),
                Err(e) => {
                    warn!(error = %e, "failed to accept a connection");
                    connections.relieve(ACCEPT_RELIEF);
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
        };
        let flows = Arc::new(Flows::default());
        // A proxy's address stands for many clients.
        let is_one = !gateway.proxies.trusts(peer.0);
        let share = is_one.then(|| Address::from(peer.0));
        let Some(seat) = connections.admit(share, flows.clone()) else {
            continue;
        };
        let client = Client {
            stream,
            peer,
            flows,
            seat: Arc::new(seat),
        };
        welcome(client, &builder, &gateway, config, &graceful);
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
    client: Client,
    builder: &Builder<TokioExecutor>,
    gateway: &Arc<Gateway>,
    config: &HttpConfig,
    graceful: &GracefulShutdown,
) {
    let Client {
        stream,
        peer,
        flows,
        seat,
    } = client;
    prepare(&stream);
    let head_wait = Duration::from_millis(config.head_wait_ms);
    let write_wait = Duration::from_millis(config.write_wait_ms);
    let upgraded = Arc::new(AtomicBool::new(false));
    let refused = {
        let gateway = gateway.clone();
        move |status: StatusCode| {
            let metrics = &gateway.native.metrics;
            metrics.record("none", status.as_u16(), Duration::ZERO);
        }
    };
    let cut = {
        let gateway = gateway.clone();
        let address = Address::from(peer.0);
        move || {
            info!(%address, "cut a connection for a flood of HTTP/2 frames");
            let counters = &gateway.native.metrics.connections;
            counters.flooded.fetch_add(1, Ordering::Relaxed);
        }
    };
    let stream = Patience::new(stream, write_wait, upgraded.clone());
    let stream = Floods::new(stream, cut);
    let stream = Rejections::new(stream, flows.clone(), refused);
    let service = {
        let (gateway, seat, flows) = (gateway.clone(), seat.clone(), flows.clone());
        service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            request.extensions_mut().insert(seat.standing());
            let flow = flows.ask(request.version());
            answer(gateway.clone(), upgraded.clone(), flow, request)
        })
    };
    let connection = builder
        .serve_connection_with_upgrades(TokioIo::new(stream), service)
        .into_owned();
    let connection = graceful.watch(connection);
    let over = async move {
        tokio::select! {
            () = seat.silence(head_wait) => "it asked nothing",
            () = seat.shed() => "it makes room for another",
            () = flows.stalled(write_wait) => "it takes nothing of an answer",
        }
    };
    tokio::spawn(attend(connection, over));
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

/// Serve a connection to its end, or close it once `over` gives a reason.
async fn attend<E: Display>(
    connection: impl Future<Output = Result<(), E>>,
    over: impl Future<Output = &'static str>,
) {
    tokio::select! {
        // Handle what has arrived before treating the connection as idle.
        biased;
        ended = connection => if let Err(e) = ended {
            debug!(error = %e, "connection ended");
        },
        why = over => debug!(why, "closed a connection"),
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
