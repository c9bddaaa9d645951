//! WebSockets of the server, and what their ends mean.

use std::time::Duration;

use anyhow::{Context, anyhow};
use futures_util::{SinkExt, StreamExt};
use http::HeaderValue;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::super::server::{CONNECT_WAIT, Failed, Server, upgrade};
use super::bench::LEASE_HEADER;
use super::over::Over;
use super::ports::Shared;

/// Time for the server to answer a Close, which it does when the pod has let go.
const CLOSE_WAIT: Duration = Duration::from_secs(10);

/// Close codes of the server.
const STOPPING: u16 = 1001;
const LEASE_LOST: u16 = 4001;
const DEVICE_OFFLINE: u16 = 4002;

pub(super) type Socket = WebSocketStream<Box<dyn upgrade::Connection>>;

/// Why one stream ended, as a fragment; empty if there is nothing to say.
#[derive(Debug)]
pub(super) struct Ended(pub(super) String);

/// Opens a stream under the lease. `path` begins with `/`, below that of the API.
///
/// # Errors
/// The server cannot be reached, or refuses.
pub(super) async fn open(shared: &Shared, path: &str) -> Result<Socket, Failed> {
    let bench = shared.bench.clone();
    let server = super::blocking(move || bench.session()).await?;
    let opened = tokio::time::timeout(CONNECT_WAIT, handshake(&server, path, &shared.lease));
    let late = || Failed::Lost(anyhow!("reach {} in time", server.api));
    opened.await.map_err(|_| late())?
}

async fn handshake(server: &Server, path: &str, lease: &str) -> Result<Socket, Failed> {
    let mut request = upgrade::request(server, path).map_err(Failed::Here)?;
    let lease = HeaderValue::from_str(lease).context("show the lease");
    let mut lease = lease.map_err(Failed::Here)?;
    lease.set_sensitive(true);
    request.headers_mut().insert(LEASE_HEADER, lease);
    let connection = upgrade::connect(server).await.map_err(Failed::Lost)?;
    match tokio_tungstenite::client_async(request, connection).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(answer)) => Err(upgrade::refused(&answer)),
        Err(error) => Err(Failed::Lost(anyhow!("open a stream: {error}"))),
    }
}

/// What the end of a stream means: for all, or for this stream alone.
pub(super) fn ended(shared: &Shared, end: Option<Result<Message, Error>>) -> Ended {
    let close = match end {
        Some(Ok(Message::Close(Some(close)))) => close,
        Some(Ok(_)) | None => return Ended(String::new()),
        Some(Err(error)) => {
            // Perhaps the server is gone.
            shared.doubt.notify_one();
            return Ended(format!("the way to the server broke: {error}"));
        }
    };
    let CloseFrame { code, reason } = close;
    let over = match u16::from(code) {
        LEASE_LOST => {
            Over::LeaseEnded("the lease is over: it expired, or somebody took it away".to_owned())
        }
        DEVICE_OFFLINE => Over::Device(format!("go on: the device is away: {reason}")),
        STOPPING => Over::Server("go on: the server stops".to_owned()),
        code => {
            let why = match reason.is_empty() {
                true => String::new(),
                false => format!("the server ended it: {code} {reason}"),
            };
            return Ended(why);
        }
    };
    shared.ending.end(over);
    Ended(String::new())
}

/// Closes a stream, and waits until the pod has let go of what it used.
pub(super) async fn close(mut socket: Socket) {
    let closed = async {
        // A connection that is gone is closed.
        let _ = socket.close(None).await;
        while let Some(Ok(_)) = socket.next().await {}
    };
    let _ = tokio::time::timeout(CLOSE_WAIT, closed).await;
}

/// Sends a message; false when the stream has ended.
pub(super) async fn send(sink: &mut (impl SinkExt<Message> + Unpin), message: Message) -> bool {
    sink.send(message).await.is_ok()
}
