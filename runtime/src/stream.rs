//! A response body that the host produces while it is being sent. A guest holds it only as a
//! handle that it can pass on or drop.

use std::io;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::sync::mpsc::Receiver;

/// The reading end of a bounded queue of body parts. Dropping it tells the producer to stop.
#[derive(Debug)]
pub struct BodyStream {
    content_type: Option<String>,
    parts: Receiver<io::Result<Bytes>>,
}

impl BodyStream {
    /// `content_type` is used for responses whose handler sets none. The queue's capacity bounds
    /// what is held in memory; the body ends when the sender is dropped, or after its first error.
    #[must_use]
    pub fn new(content_type: Option<String>, parts: Receiver<io::Result<Bytes>>) -> Self {
        Self {
            content_type,
            parts,
        }
    }

    /// Media type of the bytes, if the producer gave one.
    #[must_use]
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// The next part, None at the end.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let next = self.parts.poll_recv(cx);
        if let Poll::Ready(Some(Err(_))) = next {
            self.parts.close();
        }
        next
    }

    /// The next part, None at the end.
    pub async fn recv(&mut self) -> Option<io::Result<Bytes>> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
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
