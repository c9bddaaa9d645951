//! WebSockets: the handshake, how many there may be, and the task that serves each. The
//! [`Live`](base::live::Live) stream that a handler granted decides what flows over one.

use std::sync::Arc;
use std::time::Duration;

use admission::{Admission, Crowded, Limits, OwnedPermit, Requester};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, Version};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tracing::{debug, info, warn};

use crate::http::body::ResponseBody;
use crate::http::error::ApiError;
use base::live::{BoxedLive, Ending, Over, Patience, Peer, Socket};

pub mod query;

/// Largest message accepted from a client. Published clients send at most 1 KiB.
const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Bytes that may wait to be sent on one socket before its producer must wait.
const WRITE_BUFFER_BYTES_MAX: usize = 1 << 20;

/// Time for a client to complete the handshake.
const UPGRADE_WAIT: Duration = Duration::from_secs(10);

/// Time for open sockets to close cleanly when the server stops.
const STOP_WAIT: Duration = Duration::from_secs(3);

/// Retry delay when there are too many, in seconds.
const RETRY_AFTER_S: u32 = 1;

/// The one version of the protocol, RFC 6455.
const VERSION: &str = "13";

/// Bytes of the nonce in `Sec-WebSocket-Key`.
const KEY_BYTES: usize = 16;

/// All open WebSockets.
#[derive(Debug)]
pub struct Sockets {
    /// Each user and each organisation has its share.
    shares: Arc<Admission>,
    permits: Arc<Semaphore>,
    permits_max: u32,
    patience: Patience,
    stopping: watch::Sender<bool>,
}

/// The right to one WebSocket.
#[derive(Debug)]
pub struct Permit {
    _share: OwnedPermit,
    _of_all: OwnedSemaphorePermit,
    _of_job: Option<OwnedSemaphorePermit>,
}

impl Sockets {
    /// Room for `permits_max`.
    #[must_use]
    pub fn new(permits_max: u32, patience: Patience) -> Self {
        let limits = Limits {
            permits_max,
            per_user_max: permits_max,
            per_org_max: permits_max,
            queued_max: 0,
            wait_max: Duration::ZERO,
        };
        Self {
            shares: Arc::new(Admission::new(limits)),
            permits: Arc::new(Semaphore::new(permits_max as usize)),
            permits_max,
            patience,
            stopping: watch::Sender::new(false),
        }
    }

    /// Room for one more of `requester`. A job's takes one of the job's places besides, which it has already.
    ///
    /// # Errors
    /// 503 when there is none, 429 when the requester's user or organisation has its share.
    pub fn enter(
        &self,
        requester: &Requester,
        of_job: Option<OwnedSemaphorePermit>,
    ) -> Result<Permit, ApiError> {
        let share = self.shares.try_enter_owned(Some(requester));
        let share = share.map_err(|crowded| match crowded {
            Crowded::All => ApiError::overloaded(RETRY_AFTER_S),
            Crowded::Org => ApiError::too_many_sockets("this organisation", RETRY_AFTER_S),
            Crowded::User => ApiError::too_many_sockets("this user", RETRY_AFTER_S),
        })?;
        let of_all = self.permits.clone().try_acquire_owned();
        let of_all = of_all.map_err(|_| ApiError::overloaded(RETRY_AFTER_S))?;
        Ok(Permit {
            _share: share,
            _of_all: of_all,
            _of_job: of_job,
        })
    }

    /// Serve `stream` once the client has its 101, until `over` at the latest.
    pub fn serve(
        &self,
        permit: Permit,
        upgrade: OnUpgrade,
        (stream, over): (BoxedLive, Over),
        request_id: String,
    ) {
        let stopping = self.stopping.subscribe();
        let patience = self.patience;
        tokio::spawn(async move {
            let name = stream.name();
            let upgraded = match tokio::time::timeout(UPGRADE_WAIT, upgrade).await {
                Ok(Ok(upgraded)) => TokioIo::new(upgraded),
                Ok(Err(error)) => {
                    return debug!(request_id, %error, "a WebSocket did not come about");
                }
                Err(_) => return debug!(request_id, "a WebSocket took too long to come about"),
            };
            let config = WebSocketConfig::default()
                .max_message_size(Some(MESSAGE_BYTES_MAX))
                .max_frame_size(Some(MESSAGE_BYTES_MAX))
                .max_write_buffer_size(WRITE_BUFFER_BYTES_MAX);
            let socket = Socket::from_raw_socket(Box::new(upgraded), Role::Server, Some(config));
            let peer = Peer::new(socket.await, patience);
            info!(request_id, stream = name, "WebSocket open");
            stream.serve(peer, Ending::new(stopping, over)).await;
            info!(request_id, stream = name, "WebSocket closed");
            drop(permit);
        });
    }

    /// Tell all streams to end, and wait a little for them.
    pub async fn stop(&self) {
        self.stopping.send_replace(true);
        let all = self.permits.acquire_many(self.permits_max);
        if tokio::time::timeout(STOP_WAIT, all).await.is_err() {
            warn!("cutting WebSockets that did not close in time");
        }
    }
}

/// Check a handshake (RFC 6455 section 4.2.1) and compute its answer.
///
/// # Errors
/// 426 when it is not one, 400 when it is malformed.
pub fn handshake(head: &Parts) -> Result<HeaderValue, ApiError> {
    let has = |name, word: &str| {
        let values = head.headers.get_all(name).into_iter();
        values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|part| part.trim().eq_ignore_ascii_case(word))
    };
    let asked = head.method == Method::GET
        && head.version == Version::HTTP_11
        && has(CONNECTION, "upgrade")
        && has(UPGRADE, "websocket");
    if !asked {
        return Err(ApiError::upgrade_required(
            "this endpoint is a WebSocket; open it with HTTP/1.1 and Upgrade: websocket",
        ));
    }
    if !has(SEC_WEBSOCKET_VERSION, VERSION) {
        return Err(ApiError::upgrade_required(
            "this server speaks version 13 of the WebSocket protocol",
        ));
    }
    let key = head.headers.get(SEC_WEBSOCKET_KEY);
    let key = key.filter(|key| {
        STANDARD
            .decode(key)
            .is_ok_and(|nonce| nonce.len() == KEY_BYTES)
    });
    let key = key.ok_or_else(|| {
        ApiError::new(
            StatusCode::BAD_REQUEST,
            "invalid_request",
            "Sec-WebSocket-Key must be 16 bytes in base 64",
        )
    })?;
    let accept = derive_accept_key(key.as_bytes());
    HeaderValue::from_str(&accept).map_err(|_| ApiError::internal())
}

/// The 101 that completes a handshake.
#[must_use]
pub fn switching(accept: HeaderValue) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    response
}

#[cfg(test)]
mod tests;
