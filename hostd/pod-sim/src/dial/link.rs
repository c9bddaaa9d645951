//! Frames between a WebSocket and the pod behind it, pings, and the end of a link that has gone silent.

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use pod_protocol::connection::BoxedStream;
use pod_protocol::dial::{PING_EVERY, SILENCE_MAX};
use tokio::sync::mpsc;
use tokio::time::{interval, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Bytes, Message};

use super::mailbox::{Inbox, mailbox};
use super::{DialError, SimPod};

type Socket = WebSocketStream<BoxedStream>;

/// Frames that wait to be sent; whoever has more waits as well.
pub(super) const WAITING_MAX: usize = 32;

/// Serves a server to the end of its link.
pub(super) async fn serve(pod: &SimPod, device_id: &str, socket: Socket) -> DialError {
    let (to, from) = socket.split();
    let (inbox, outbox) = mailbox();
    let (send, waiting) = mpsc::channel(WAITING_MAX);
    tokio::select! {
        error = receive(from, inbox) => error,
        error = transmit(to, waiting) => error,
        () = pod.converse(device_id, outbox, send) => DialError::Closed("a frame was no message".to_owned()),
    }
}

async fn receive(mut from: SplitStream<Socket>, inbox: Inbox) -> DialError {
    loop {
        match timeout(SILENCE_MAX, from.next()).await {
            Err(_) => return DialError::Silent,
            Ok(Some(Ok(Message::Text(text)))) => {
                if let Err(overflow) = inbox.put(text.as_str().to_owned()) {
                    return overflow.into();
                }
            }
            Ok(Some(Ok(Message::Close(close)))) => {
                let reason =
                    close.map_or_else(String::new, |close| close.reason.as_str().to_owned());
                return DialError::Closed(reason);
            }
            Ok(Some(Ok(_))) => {}
            Ok(None | Some(Err(_))) => return DialError::Closed("the connection broke".to_owned()),
        }
    }
}

async fn transmit(
    mut to: SplitSink<Socket, Message>,
    mut waiting: mpsc::Receiver<String>,
) -> DialError {
    let mut ping = interval(PING_EVERY);
    let broken = || DialError::Closed("the connection broke".to_owned());
    loop {
        let mut message = tokio::select! {
            Some(frame) = waiting.recv() => Message::text(frame),
            _ = ping.tick() => Message::Ping(Bytes::new()),
        };
        // Whatever waits goes out together.
        loop {
            if to.feed(message).await.is_err() {
                return broken();
            }
            match waiting.try_recv() {
                Ok(frame) => message = Message::text(frame),
                Err(_) => break,
            }
        }
        if to.flush().await.is_err() {
            return broken();
        }
    }
}
