//! A response body that the host produces while it is being sent. A guest holds it only as a
//! handle that it can pass on or drop.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::sync::mpsc::Receiver;
use tokio::sync::oneshot;

/// Names and values that come behind a body.
pub type Trailers = Vec<(String, String)>;

/// The reading end of a bounded queue of body parts. Dropping it tells the producer to stop.
pub struct BodyStream {
    content_type: Option<String>,
    parts: Receiver<io::Result<Bytes>>,
    /// Bytes that are still to come, if the producer has said how many there are.
    left: Option<u64>,
    trailers: Option<Pin<Box<dyn Future<Output = Option<Trailers>> + Send>>>,
    /// Until every part was read.
    taken: Option<oneshot::Sender<()>>,
}

impl BodyStream {
    /// `content_type` is used for responses whose handler sets none. The queue's capacity bounds
    /// what is held in memory; the body ends when the sender is dropped, or after its first error.
    #[must_use]
    pub fn new(content_type: Option<String>, parts: Receiver<io::Result<Bytes>>) -> Self {
        Self {
            content_type,
            parts,
            left: None,
            trailers: None,
            taken: None,
        }
    }

    /// With as many bytes as the producer promises, and what it may add behind them.
    #[must_use]
    pub fn ending(
        self,
        length: Option<u64>,
        trailers: impl Future<Output = Option<Trailers>> + Send + 'static,
    ) -> Self {
        Self {
            left: length,
            trailers: Some(Box::pin(trailers)),
            ..self
        }
    }

    /// Say by `taken` when every part was read; a reader that leaves before that drops it. For a stream that has its length
    /// already, if it ever has one: a reader that has as many bytes may leave.
    #[must_use]
    pub fn telling(mut self, taken: oneshot::Sender<()>) -> Self {
        self.taken = Some(taken);
        if self.left == Some(0) {
            self.tell_taken();
        }
        self
    }

    fn tell_taken(&mut self) {
        if let Some(taken) = self.taken.take() {
            // Whoever wanted to know may be gone.
            let _ = taken.send(());
        }
    }

    /// Bytes that are still to come, if that is known.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        self.left
    }

    /// Media type of the bytes, if the producer gave one.
    #[must_use]
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// The next part, None at the end.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let next = self.parts.poll_recv(cx);
        match &next {
            Poll::Ready(Some(Err(_))) => self.parts.close(),
            Poll::Ready(Some(Ok(part))) => {
                if let Some(left) = &mut self.left {
                    *left = left.saturating_sub(part.len() as u64);
                }
                if self.left == Some(0) {
                    self.tell_taken();
                }
            }
            Poll::Ready(None) => self.tell_taken(),
            Poll::Pending => {}
        }
        next
    }

    /// What comes behind the last part, once; for a body that came to its end.
    pub fn poll_trailers(&mut self, cx: &mut Context<'_>) -> Poll<Option<Trailers>> {
        let Some(trailers) = &mut self.trailers else {
            return Poll::Ready(None);
        };
        let told = ready!(trailers.as_mut().poll(cx));
        self.trailers = None;
        Poll::Ready(told)
    }

    /// The next part, None at the end.
    pub async fn recv(&mut self) -> Option<io::Result<Bytes>> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }
}

impl fmt::Debug for BodyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyStream")
            .field("content_type", &self.content_type)
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn parts_arrive_in_order_and_then_the_end() {
        let (sender, parts) = mpsc::channel(4);
        let mut stream = BodyStream::new(Some("text/csv".into()), parts);
        for part in ["a", "b"] {
            sender.send(Ok(Bytes::from(part))).await.unwrap();
        }
        drop(sender);
        assert_eq!(stream.content_type(), Some("text/csv"));
        assert_eq!(stream.recv().await.unwrap().unwrap(), "a");
        assert_eq!(stream.recv().await.unwrap().unwrap(), "b");
        assert!(stream.recv().await.is_none());
    }

    #[tokio::test]
    async fn what_is_left_counts_down_and_trailers_come_once() {
        let (sender, parts) = mpsc::channel(4);
        let trailers = vec![("x-sum".to_owned(), "1".to_owned())];
        let told = trailers.clone();
        let mut stream = BodyStream::new(None, parts).ending(Some(3), async { Some(told) });
        sender.send(Ok(Bytes::from("ab"))).await.unwrap();
        drop(sender);
        stream.recv().await.unwrap().unwrap();
        assert_eq!(stream.left(), Some(1));
        let next = std::future::poll_fn(|cx| stream.poll_trailers(cx)).await;
        assert_eq!(next, Some(trailers));
        let next = std::future::poll_fn(|cx| stream.poll_trailers(cx)).await;
        assert_eq!(next, None);
    }

    #[tokio::test]
    async fn who_leaves_before_the_end_is_told_apart() {
        for (length, reads, has_all) in [
            (None, 1, false),
            (None, 2, true),
            (Some(2), 0, false),
            (Some(2), 1, true),
            (Some(0), 0, true),
        ] {
            let (sender, parts) = mpsc::channel(4);
            sender.send(Ok(Bytes::from("ab"))).await.unwrap();
            drop(sender);
            let (tell, taken) = oneshot::channel();
            let stream = BodyStream::new(None, parts).ending(length, async { None });
            let mut stream = stream.telling(tell);
            for _ in 0..reads {
                stream.recv().await;
            }
            drop(stream);
            assert_eq!(taken.await.is_ok(), has_all, "{length:?} {reads}");
        }
    }

    #[tokio::test]
    async fn an_error_stops_the_producer() {
        let (sender, parts) = mpsc::channel(4);
        let mut stream = BodyStream::new(None, parts);
        sender
            .send(Err(io::Error::other("disk gone")))
            .await
            .unwrap();
        let error = stream.recv().await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), "disk gone");
        assert!(sender.is_closed());
        assert!(stream.recv().await.is_none());
    }
}
