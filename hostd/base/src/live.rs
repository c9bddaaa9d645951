//! Live streams: what flows over a WebSocket once a handler has admitted the client, how messages
//! are sent and received, how the client's presence is checked, and how the stream ends.

use std::fmt::Debug;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_tungstenite::WebSocketStream;
use tracing::info;

mod peer;

pub use peer::{Goodbye, Patience, Peer, Said};
pub use tokio_tungstenite::tungstenite::Message;

/// The connection below a WebSocket, whatever it is.
pub trait Connection: AsyncRead + AsyncWrite + Debug + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Debug + Send + Unpin> Connection for T {}

/// A WebSocket, after its handshake.
pub type Socket = WebSocketStream<Box<dyn Connection>>;

/// Resolves when the credential that opened a stream is no longer valid, with the code of the
/// reason.
pub type Over = Pin<Box<dyn Future<Output = &'static str> + Send>>;

/// Tells a live stream to end, whatever it carries.
pub struct Ending {
    stopping: watch::Receiver<bool>,
    over: Over,
}

impl Ending {
    /// Ends a stream when the server stops, as `stopping` says, or when `over` resolves.
    #[must_use]
    pub fn new(stopping: watch::Receiver<bool>, over: Over) -> Self {
        Self { stopping, over }
    }

    /// Resolves when the server stops, or when the client may no longer have the stream. Do not
    /// await it again after it has resolved.
    pub async fn ended(&mut self) -> Goodbye {
        tokio::select! {
            // An error means that the server is already gone.
            _ = self.stopping.wait_for(|stop| *stop) => Goodbye::stopping(),
            code = &mut self.over => {
                info!(reason = code, "ending a WebSocket with its credential");
                Goodbye::policy(code)
            }
        }
    }
}

/// What a WebSocket carries. The implementation closes it.
pub trait Live: Send {
    /// For the log: `tunnel`, `uart`.
    fn name(&self) -> &'static str;

    /// Serve the client to its end.
    fn serve(
        self: Box<Self>,
        peer: Peer,
        ending: Ending,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// What a handler's upgrade holds.
pub type BoxedLive = Box<dyn Live>;
