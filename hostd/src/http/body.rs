//! Bodies: why a request's cannot be read, and the one body type of responses.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use admission::Crowded;
use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use runtime::{BodyStream, Trailers};

use base::pace::TooSlow;

/// How much of a refused request's body is read, so that its sender sees the refusal: a sender that
/// is still writing when the connection closes sees only the close.
const DRAIN_BYTES_MAX: u64 = 16 << 20;

/// Time for that.
const DRAIN_WAIT: Duration = Duration::from_secs(5);

/// Time for a body whose sender does not declare its length.
const DRAIN_UNDECLARED_WAIT: Duration = Duration::from_millis(500);

/// Why a request body could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("body over {limit_bytes} bytes")]
    TooLarge { limit_bytes: u32 },
    #[error(transparent)]
    TooSlow(#[from] TooSlow),
    #[error("too many bodies are on their way")]
    Crowded(Crowded),
    #[error("connection broke while the body was read")]
    Broken,
}

fn declared(body: &Incoming) -> Option<u64> {
    body.size_hint().exact()
}

/// Read and discard the body of a refused request, within bounds. If any is left unread, the sender
/// loses the connection, without notice if the answer is already on its way.
pub async fn drain(mut body: Incoming) {
    let (mut left, wait) = match declared(&body) {
        // Over the bound it is not worth it.
        Some(length) if length > DRAIN_BYTES_MAX => return,
        Some(length) => (length, DRAIN_WAIT),
        // Usually an empty body whose end comes in a packet of its own.
        None => (DRAIN_BYTES_MAX, DRAIN_UNDECLARED_WAIT),
    };
    let all = async {
        while let Some(Ok(frame)) = body.frame().await {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            match left.checked_sub(bytes as u64) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    // A slow sender has had its time.
    let _ = tokio::time::timeout(wait, all).await;
}

/// Whether a body declares more than `limit_bytes`.
#[must_use]
pub fn is_over(body: &Incoming, limit_bytes: u32) -> bool {
    declared(body).is_some_and(|n| n > u64::from(limit_bytes))
}

/// A response body: bytes at hand, or a stream that the host fills while it is sent.
#[derive(Debug)]
pub enum ResponseBody {
    Full(Full<Bytes>),
    Stream(BodyStream),
}

impl ResponseBody {
    #[must_use]
    pub fn empty() -> Self {
        Self::full(Bytes::new())
    }

    #[must_use]
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self::Full(Full::new(bytes.into()))
    }
}

/// A stream that ended early: the connection is cut, so the client cannot mistake it for complete.
#[derive(Debug, thiserror::Error)]
#[error("response stream ended early: {0}")]
pub struct StreamCut(String);

impl From<Infallible> for StreamCut {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Trailers as they are sent; none if there are none.
fn behind(trailers: Trailers) -> Option<Frame<Bytes>> {
    let fields = trailers.into_iter();
    let fields = fields.filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)));
    let map: HeaderMap = fields.collect();
    (!map.is_empty()).then(|| Frame::trailers(map))
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = StreamCut;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StreamCut>>> {
        match self.get_mut() {
            Self::Full(full) => Pin::new(full).poll_frame(cx).map_err(StreamCut::from),
            Self::Stream(stream) => match ready!(stream.poll_next(cx)) {
                Some(part) => {
                    let part = part.map(Frame::data);
                    Poll::Ready(Some(part.map_err(|e| StreamCut(e.to_string()))))
                }
                None => {
                    let trailers = ready!(stream.poll_trailers(cx));
                    Poll::Ready(trailers.and_then(behind).map(Ok))
                }
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Full(full) => full.is_end_stream(),
            Self::Stream(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Full(full) => full.size_hint(),
            Self::Stream(stream) => stream
                .left()
                .map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}
