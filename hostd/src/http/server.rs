//! The accept loop: HTTP/1.1 and HTTP/2 (prior knowledge) on one port, with limits on connections,
//! heads and idle time, and an orderly drain. Relays of jobs have their connections served here, too.

use std::convert::Infallible;
use std::fmt::{self, Display};
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
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tracing::{debug, info, warn};

use crate::http::address::Address;
use crate::http::connections::{ConnectionLimits, Connections, Numbered, Seat};
use crate::http::floods::Floods;
use crate::http::flow::{Asked, Flowing, Flows};
use crate::http::gateway::Gateway;
use crate::http::heads::Strict;
use crate::http::patience::Patience;
use crate::http::peer::Peer;
use crate::http::rejection::Rejections;
use crate::http::relay::Relayed;
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

/// Serves connections, whatever they come over.
#[derive(Debug)]
pub(super) struct Server {
    builder: Builder<TokioExecutor>,
    gateway: Arc<Gateway>,
    head_wait: Duration,
    write_wait: Duration,
}

/// A connection that has come in.
pub(super) struct Client<S> {
    pub(super) stream: S,
    pub(super) source: Source,
    pub(super) flows: Arc<Flows>,
    pub(super) seat: Seat,
}

/// Where a connection comes from, which its requests say.
#[derive(Debug, Clone)]
pub(super) enum Source {
    Network(Peer),
    Relay(Relayed),
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
    let server = Server::new(gateway.clone(), config);
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
                    wait_for_room(&e, &connections).await;
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
        prepare(&stream);
        let source = Source::Network(peer);
        let client = Client {
            stream,
            source,
            flows,
            seat,
        };
        let (connection, over) = server.connection(client);
        tokio::spawn(attend(graceful.watch(connection), over));
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

/// After a failed accept.
pub(super) async fn wait_for_room(error: &io::Error, connections: &Connections) {
    warn!(%error, "failed to accept a connection");
    connections.relieve(ACCEPT_RELIEF);
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

impl Server {
    pub(super) fn new(gateway: Arc<Gateway>, config: &HttpConfig) -> Self {
        Self {
            builder: builder(config),
            gateway,
            head_wait: Duration::from_millis(config.head_wait_ms),
            write_wait: Duration::from_millis(config.write_wait_ms),
        }
    }

    pub(super) fn gateway(&self) -> &Arc<Gateway> {
        &self.gateway
    }

    /// What serves a connection, and what gives the reason to close it before its end; see
    /// [`attend`].
    pub(super) fn connection<S>(
        &self,
        client: Client<S>,
    ) -> (
        impl GracefulConnection<Error: Display> + Send + use<S>,
        impl Future<Output = &'static str> + Send + use<S>,
    )
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Client {
            stream,
            source,
            flows,
            seat,
        } = client;
        let seat = Arc::new(seat);
        let (head_wait, write_wait) = (self.head_wait, self.write_wait);
        let upgraded = Arc::new(AtomicBool::new(false));
        let refused = {
            let gateway = self.gateway.clone();
            move |status: StatusCode| {
                let metrics = &gateway.native.metrics;
                metrics.record("none", status.as_u16(), Duration::ZERO);
            }
        };
        let cut = {
            let (gateway, source) = (self.gateway.clone(), source.clone());
            move || {
                info!(%source, "cut a connection for a flood of HTTP/2 frames");
                let counters = &gateway.native.metrics.connections;
                counters.flooded.fetch_add(1, Ordering::Relaxed);
            }
        };
        let stream = Patience::new(stream, write_wait, upgraded.clone());
        let stream = Strict::new(stream, upgraded.clone());
        let stream = Floods::new(stream, cut);
        let stream = Rejections::new(stream, flows.clone(), refused);
        let service = {
            let (gateway, seat, flows) = (self.gateway.clone(), seat.clone(), flows.clone());
            service_fn(move |mut request: Request<Incoming>| {
                source.mark(&mut request);
                request.extensions_mut().insert(seat.standing());
                request.extensions_mut().insert(Numbered(seat.number()));
                let flow = flows.ask(request.version());
                answer(gateway.clone(), upgraded.clone(), flow, request)
            })
        };
        let connection = self
            .builder
            .serve_connection_with_upgrades(TokioIo::new(stream), service)
            .into_owned();
        let over = async move {
            tokio::select! {
                () = seat.silence(head_wait) => "it asked nothing",
                () = seat.shed() => "it makes room for another",
                () = flows.stalled(write_wait) => "it takes nothing of an answer",
            }
        };
        (connection, over)
    }
}

impl Source {
    fn mark(&self, request: &mut Request<Incoming>) {
        let extensions = request.extensions_mut();
        match self {
            Self::Network(peer) => drop(extensions.insert(*peer)),
            Self::Relay(relayed) => drop(extensions.insert(relayed.clone())),
        }
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(peer) => Address::from(peer.0).fmt(f),
            Self::Relay(relayed) => write!(f, "job {}", relayed.job()),
        }
    }
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
pub(super) async fn attend<E: Display>(
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
