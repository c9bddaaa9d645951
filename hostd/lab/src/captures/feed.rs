//! Events of a device's captures, for everyone who follows it: a ring that the captures fill and
//! each follower reads at its own pace, so that no follower slows a capture.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::framer::Frame;
use super::wire;
use base::ring::{Cursor, Ring, Whole};
use store::captures::CaptureRecord;

/// Bytes that one device's feed keeps for followers that are slow or reconnect.
const FEED_BYTES_MAX: usize = 16 << 20;

/// Most followers of a device that have its captures decoded while they arrive, each by a decoder of its own.
pub const DECODERS_MAX: usize = 8;

/// Rough cost of a message besides its samples, in bytes.
const MESSAGE_BYTES: usize = 512;

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// The capture has got this far.
    State(CaptureRecord),
    Frame {
        capture: Arc<str>,
        frame: Frame,
    },
    /// Logic samples were lost, from one up to another.
    Gap {
        capture: Arc<str>,
        from: u64,
        to: u64,
    },
    /// It is done, with this many frames.
    Done(CaptureRecord, u32),
    /// It failed, timed out or was cancelled.
    Failed(CaptureRecord),
}

/// An event with its encodings, which are made once for all followers.
#[derive(Debug)]
pub(crate) struct Message {
    pub event: Event,
    json: OnceLock<Utf8Bytes>,
    binary: OnceLock<Option<Bytes>>,
}

/// The feeds of all devices.
#[derive(Debug, Default)]
pub(crate) struct Feeds {
    feeds: Mutex<HashMap<String, Arc<Feed>>>,
}

/// One device's.
#[derive(Debug)]
pub(crate) struct Feed {
    ring: Ring<Arc<Message>>,
    followers: AtomicUsize,
    /// Of them, those that have it decoded.
    decoders: AtomicUsize,
}

/// A place among those that have a device's captures decoded.
#[derive(Debug)]
pub(crate) struct Place(Arc<Feed>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.decoders.fetch_sub(1, Ordering::AcqRel);
    }
}

/// One who follows.
#[derive(Debug)]
pub(crate) struct Following {
    feed: Arc<Feed>,
    pub cursor: Cursor<Arc<Message>>,
}

impl Message {
    #[must_use]
    pub(crate) fn new(event: Event) -> Self {
        Self {
            event,
            json: OnceLock::new(),
            binary: OnceLock::new(),
        }
    }

    /// Id of the message's capture.
    #[must_use]
    pub(crate) fn capture(&self) -> &str {
        match &self.event {
            Event::State(record) | Event::Done(record, _) | Event::Failed(record) => &record.id,
            Event::Frame { capture, .. } | Event::Gap { capture, .. } => capture,
        }
    }

    /// Whether it is the last one of its capture.
    #[must_use]
    pub(crate) fn is_last(&self) -> bool {
        matches!(self.event, Event::Done(..) | Event::Failed(_))
    }

    /// As text.
    #[must_use]
    pub(crate) fn json(&self) -> Utf8Bytes {
        self.json
            .get_or_init(|| wire::json(&self.event).into())
            .clone()
    }

    /// A frame as bytes; none for everything else.
    #[must_use]
    pub(crate) fn binary(&self) -> Option<Bytes> {
        let made = self.binary.get_or_init(|| match &self.event {
            Event::Frame { frame, .. } => Some(wire::binary(frame).into()),
            _ => None,
        });
        made.clone()
    }
}

impl Whole for Message {
    fn weight(&self) -> usize {
        MESSAGE_BYTES
            + match &self.event {
                Event::Frame { frame, .. } => frame.data.weight(),
                _ => 0,
            }
    }
}

impl Feeds {
    /// The feed of a device.
    #[must_use]
    pub(crate) fn of(&self, device: &str) -> Arc<Feed> {
        // Each change is one insertion, so a panic elsewhere leaves the map whole.
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        let feed = feeds.entry(device.to_owned()).or_insert_with(|| {
            Arc::new(Feed {
                ring: Ring::new(0, FEED_BYTES_MAX),
                followers: AtomicUsize::new(0),
                decoders: AtomicUsize::new(0),
            })
        });
        feed.clone()
    }
}

impl Feed {
    /// Tell everybody.
    pub(crate) fn tell(&self, event: Event) {
        let message = Message::new(event);
        let last = message.is_last();
        self.ring.push(Arc::new(message));
        // A finished capture can be read from its file, and no follower is behind.
        if last && self.followers.load(Ordering::Acquire) == 0 {
            self.ring.clear();
        }
    }

    /// A place for one who has the captures decoded; none if there are as many already.
    pub(crate) fn place(self: &Arc<Self>) -> Option<Place> {
        let taken = self
            .decoders
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
                (taken < DECODERS_MAX).then_some(taken + 1)
            });
        taken.ok().map(|_| Place(self.clone()))
    }

    /// Follow from now on. Kept messages stay as long as somebody follows.
    #[must_use]
    pub(crate) fn follow(self: &Arc<Self>) -> Following {
        self.followers.fetch_add(1, Ordering::AcqRel);
        Following {
            cursor: self.ring.cursor(self.ring.end()),
            feed: self.clone(),
        }
    }
}

impl Following {
    /// Continue with the first message that is `wanted`, or from now on if there is none.
    pub(crate) fn seek(&mut self, wanted: impl Fn(&Message) -> bool) {
        self.cursor = self.feed.ring.cursor_where(|message| wanted(message));
    }

    /// Continue after the last message about a capture, or from now on if there is none.
    pub(crate) fn seek_after_last(&mut self, capture: &str) {
        let ring = &self.feed.ring;
        let end = ring.end();
        self.seek(|m| m.is_last() && m.capture() == capture);
        let at = self.cursor.at();
        if at < end {
            self.cursor = self.feed.ring.cursor(at + 1);
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.feed.followers.fetch_sub(1, Ordering::AcqRel);
    }
}
