//! Frames that a pod has received and not read yet: as many as its memory takes, and no more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pod_protocol::dial::POD_BUFFER_BYTES;
use tokio::sync::mpsc;

/// More came than a pod keeps.
#[derive(Debug, thiserror::Error)]
#[error("more than {POD_BUFFER_BYTES} bytes of frames came before they could be read")]
pub struct Overflow;

/// Where frames are put.
#[derive(Debug)]
pub struct Inbox {
    frames: mpsc::UnboundedSender<String>,
    unread: Arc<AtomicUsize>,
}

/// Where frames are taken.
#[derive(Debug)]
pub struct Outbox {
    frames: mpsc::UnboundedReceiver<String>,
    unread: Arc<AtomicUsize>,
}

/// An empty one.
pub fn mailbox() -> (Inbox, Outbox) {
    let (send, receive) = mpsc::unbounded_channel();
    let unread = Arc::new(AtomicUsize::new(0));
    let inbox = Inbox {
        frames: send,
        unread: unread.clone(),
    };
    let frames = receive;
    (inbox, Outbox { frames, unread })
}

impl Inbox {
    /// Puts a frame.
    ///
    /// # Errors
    /// There is no room for it, and the link has to be dropped.
    pub fn put(&self, frame: String) -> Result<(), Overflow> {
        let unread = self.unread.fetch_add(frame.len(), Ordering::Relaxed);
        if unread + frame.len() > POD_BUFFER_BYTES {
            return Err(Overflow);
        }
        // Nobody reads any more when the link ends anyway.
        let _ = self.frames.send(frame);
        Ok(())
    }
}

impl Outbox {
    pub(super) async fn take(&mut self) -> Option<String> {
        let frame = self.frames.recv().await?;
        self.unread.fetch_sub(frame.len(), Ordering::Relaxed);
        Some(frame)
    }
}
