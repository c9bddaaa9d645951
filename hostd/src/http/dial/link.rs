//! The WebSocket of a pod that has proven its key, as frames for its session.

use std::sync::Arc;
use std::time::Duration;

use base::live::Connection;
use futures_util::{SinkExt as _, StreamExt as _, future};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use pods::dial::{Dialled, Heard, Said};
use pods::protocol::dial::FROM_POD_BYTES_MAX;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tracing::debug;

/// Time for a pod to complete the upgrade.
const UPGRADE_WAIT: Duration = Duration::from_secs(10);

/// Longest reason in a frame that closes, in bytes: RFC 6455 leaves 123.
const REASON_BYTES_MAX: usize = 120;

/// Serves a pod that has proven its key, to the end of its session.
pub(super) async fn serve(dialled: Arc<Dialled>, public_key: String, upgrade: OnUpgrade) {
    let upgraded = match timeout(UPGRADE_WAIT, upgrade).await {
        Ok(Ok(upgraded)) => TokioIo::new(upgraded),
        Ok(Err(error)) => return debug!(%error, "a pod's WebSocket did not come about"),
        Err(_) => return debug!("a pod's WebSocket took too long to come about"),
    };
    let config = WebSocketConfig::default()
        .max_message_size(Some(FROM_POD_BYTES_MAX))
        .max_frame_size(Some(FROM_POD_BYTES_MAX));
    let connection: Box<dyn Connection> = Box::new(upgraded);
    let socket = WebSocketStream::from_raw_socket(connection, Role::Server, Some(config)).await;
    let (to, from) = socket.split();
    let from = from.map(|message| message.map(heard));
    let to = to.with(|said| {
        future::ok::<_, tokio_tungstenite::tungstenite::Error>(match said {
            Said::Text(text) => Message::text(text),
            Said::Close(reason) => Message::Close(Some(CloseFrame {
                code: CloseCode::Away,
                reason: reason[..reason.floor_char_boundary(REASON_BYTES_MAX)].into(),
            })),
        })
    });
    dialled.serve(&public_key, from, to).await;
}

fn heard(message: Message) -> Heard<Utf8Bytes> {
    match message {
        Message::Text(text) => Heard::Text(text),
        Message::Binary(_) | Message::Frame(_) => Heard::Odd,
        Message::Ping(_) | Message::Pong(_) | Message::Close(_) => Heard::Sign,
    }
}
