//! One follower of a device's captures: it gets events, frames as they are received, and word of
//! what it was too slow for.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use pods::PodEvent;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_tungstenite::tungstenite::Message as Frame;

pub use super::feed::DECODERS_MAX;
use super::feed::{Event, Following, Message, Place};
use super::framer;
use super::layout;
use super::reader::{ReadError, Reader};
use super::{Captures, wire};
use crate::decoders::NoSpec;
use base::live::{Ending, Goodbye, Live, Peer};
use base::ring::Found;
use decoding::Decoding;
pub use decoding::Job;
use store::captures::{CaptureRecord, Status};

mod decoding;

/// Frames read from a file at once.
const READ_FRAMES: usize = 16;

/// The reason with which a follower is disconnected that misses samples of a capture that it has decoded.
const TOO_SLOW: &str = "too_slow: samples to decode were dropped; connect again, or decode the capture once it is done";

/// Why a capture is not decoded whose beginning is not kept any more.
const TOO_LATE: &str = "its first samples are no longer kept: decode it once it is done";

/// Why nothing is decoded.
#[derive(Debug)]
pub enum NoDecoding {
    Spec(NoSpec),
    /// Too many followers of the device have it decoded.
    Busy,
}

/// Where a follower continues.
#[derive(Debug)]
pub struct Resume {
    pub org: String,
    pub capture: String,
    /// First frame that it does not have.
    pub from_seq: u32,
}

/// A follower whose WebSocket is not open yet.
pub struct Follower {
    captures: Arc<Captures>,
    device: String,
    online: bool,
    binary: bool,
    resume: Option<Resume>,
    following: Following,
    events: broadcast::Receiver<PodEvent>,
    position: Position,
    decoded: Option<Decoded>,
}

/// What a follower has decoded.
struct Decoded {
    job: Job,
    /// The capture that arrives.
    now: Option<Decoding>,
    /// The last capture that cannot be decoded.
    failed: Option<String>,
    _place: Place,
}

/// What the client has received, so that a gap is noticed.
#[derive(Debug, Default)]
struct Position {
    /// The capture it is in, and the number of the frame that comes next.
    at: Option<(String, u32)>,
    /// Messages that were lost since.
    lost: u64,
}

impl Follower {
    /// A follower of `device`, from the running capture on or from where it left off.
    #[must_use]
    pub fn new(
        captures: Arc<Captures>,
        device: &str,
        (online, events): (bool, broadcast::Receiver<PodEvent>),
        binary: bool,
        resume: Option<Resume>,
    ) -> Self {
        let following = captures.feeds.of(device).follow();
        Self {
            captures,
            device: device.to_owned(),
            online,
            binary,
            resume,
            following,
            events,
            position: Position::default(),
            decoded: None,
        }
    }

    /// The same with the captures decoded while they arrive. One that is resumed must be so from its first frame on.
    ///
    /// # Errors
    /// The job cannot be, or as many follow the device that way as may.
    pub fn with_decoding(mut self, job: Job) -> Result<Self, NoDecoding> {
        job.check(&self.captures).map_err(NoDecoding::Spec)?;
        let place = self.captures.feeds.of(&self.device).place();
        self.decoded = Some(Decoded {
            job,
            now: None,
            failed: None,
            _place: place.ok_or(NoDecoding::Busy)?,
        });
        Ok(self)
    }

    async fn run(mut self, mut peer: Peer, mut ending: Ending) {
        let goodbye = tokio::select! {
            told = self.tell(&mut peer) => match told {
                Err(goodbye) => goodbye,
                Ok(never) => match never {},
            },
            goodbye = ending.ended() => goodbye,
        };
        drop(self);
        peer.close(goodbye).await;
    }

    async fn tell(&mut self, peer: &mut Peer) -> Result<Infallible, Goodbye> {
        let current = self.captures.current(&self.device);
        let hello = json!({"type": "hello", "version": 1, "device_id": self.device,
            "online": self.online, "capture_id": current,
            "format": if self.binary { "binary" } else { "json" }});
        send(peer, &hello).await?;
        match (self.resume.take(), current) {
            (Some(resume), _) => self.go_on(peer, resume).await?,
            (None, Some(current)) => self.following.seek(|m| m.capture() == current),
            (None, None) => {}
        }
        loop {
            tokio::select! {
                Some(found) = self.following.cursor.next() => match found {
                    Found::Lost { .. } if self.is_decoding() => {
                        return Err(Goodbye::policy(TOO_SLOW));
                    }
                    Found::Lost { from, to } => self.position.lost += to.saturating_sub(from),
                    Found::Piece { piece, .. } => self.pass(peer, &piece).await?,
                },
                event = self.events.recv() => {
                    let text = match event {
                        Ok(event) => wire::device(&self.device, &event),
                        Err(RecvError::Lagged(count)) => {
                            json!({"type": "device.event", "device_id": self.device,
                                "event": "missed", "detail": {"count": count}})
                            .to_string()
                        }
                        Err(RecvError::Closed) => {
                            return Err(Goodbye::device_offline("the device was removed"));
                        }
                    };
                    peer.send(Frame::Text(text.into())).await?;
                }
                said = peer.hear(true) => {
                    said?;
                    return Err(Goodbye::unsupported("this stream takes no messages"));
                }
            }
        }
    }

    /// Send the rest of a finished capture, or continue a running one.
    async fn go_on(&mut self, peer: &mut Peer, resume: Resume) -> Result<(), Goodbye> {
        let from_seq = resume.from_seq;
        // Looked up only now that none of its messages can be missed.
        let found = self.captures.get(&resume.org, &resume.capture).await;
        let Ok(record) = found else {
            return Err(Goodbye::policy("the capture is gone"));
        };
        send(peer, &wire::state(&record)).await?;
        match record.status {
            Status::Pending | Status::Armed | Status::Running => {
                self.position.at = Some((record.id.clone(), from_seq));
                let is_decoded = self.decoded.is_some();
                self.following.seek(|message| {
                    message.capture() == record.id
                        && match &message.event {
                            Event::Frame { frame, .. } => frame.span.seq >= from_seq,
                            // Its rates are with its states.
                            _ => is_decoded || message.is_last(),
                        }
                });
                return Ok(());
            }
            Status::Failed | Status::TimedOut | Status::Cancelled => {
                self.following.seek_after_last(&record.id);
                let failed = Message::new(Event::Failed(record));
                return peer.send(Frame::Text(failed.json())).await;
            }
            Status::Done => {}
        }
        if let Some(text) = self.begin(&record) {
            send(peer, &text).await?;
        }
        // Its frames come from its file, and later messages follow.
        self.following.seek_after_last(&record.id);
        self.position.at = Some((record.id.clone(), from_seq));
        let reader = self.captures.read(&record.org, &record.id).await;
        let Ok(reader) = reader else {
            return Err(Goodbye::policy("the capture cannot be read any more"));
        };
        let frames = wire::count(&record);
        let mut seq = from_seq;
        while seq < frames {
            let reader = reader.clone();
            let permit = self.captures.reader_permit().await;
            let read = tokio::task::spawn_blocking(move || {
                let read = page(&reader, seq);
                drop(permit);
                read
            });
            let Ok(Ok(page)) = read.await else {
                return Err(Goodbye::policy("the capture cannot be read any more"));
            };
            for frame in page {
                seq = frame.span.seq + 1;
                let capture = record.id.as_str().into();
                let message = Message::new(Event::Frame { capture, frame });
                self.pass(peer, &message).await?;
            }
        }
        self.pass(peer, &Message::new(Event::Done(record, frames)))
            .await
    }

    /// Send a message, after reporting those lost before it.
    async fn pass(&mut self, peer: &mut Peer, message: &Message) -> Result<(), Goodbye> {
        for text in self.position.step(message) {
            send(peer, &text).await?;
        }
        if let Event::State(record) = &message.event
            && let Some(text) = self.begin(record)
        {
            send(peer, &text).await?;
        }
        for text in self.decode(&message.event) {
            peer.send(Frame::Text(text.into())).await?;
        }
        let is_left_out = matches!(message.event, Event::Frame { .. })
            && self.decoded.as_ref().is_some_and(|of| !of.job.has_frames);
        if is_left_out {
            return Ok(());
        }
        let binary = self.binary.then(|| message.binary()).flatten();
        let sent = match binary {
            Some(bytes) => Frame::Binary(bytes),
            None => Frame::Text(message.json()),
        };
        peer.send(sent).await
    }
}

impl Follower {
    /// Whether samples of a capture were decoded that go on.
    fn is_decoding(&self) -> bool {
        let now = self.decoded.as_ref().and_then(|of| of.now.as_ref());
        now.is_some_and(|now| !now.is_new())
    }

    /// Begins to decode a capture, unless it waits for its turn; why it cannot be decoded.
    fn begin(&mut self, record: &CaptureRecord) -> Option<Value> {
        let decoded = self.decoded.as_mut()?;
        let is_begun = |now: &Decoding| now.is_of(&record.id) && !now.is_new();
        if record.status == Status::Pending || decoded.now.as_ref().is_some_and(is_begun) {
            return None;
        }
        match Decoding::begin(&decoded.job, &self.captures, record) {
            Ok(now) => {
                (decoded.now, decoded.failed) = (Some(now), None);
                None
            }
            Err(why) => {
                decoded.now = None;
                decoded.fail(&record.id, &why)
            }
        }
    }

    /// What is decoded with a message, as messages that come before it.
    fn decode(&mut self, event: &Event) -> Vec<String> {
        let Some(decoded) = &mut self.decoded else {
            return Vec::new();
        };
        match event {
            Event::State(_) => Vec::new(),
            Event::Gap { capture, from, to } => {
                if let Some(now) = decoded.now.as_mut().filter(|now| now.is_of(capture)) {
                    now.lose(*from, *to);
                }
                Vec::new()
            }
            Event::Frame { capture, frame } => {
                let now = decoded.now.as_mut().filter(|now| now.is_of(capture));
                if let Some((said, upto)) = now.and_then(|now| Some((now.take(frame)?, now.upto())))
                {
                    return said.messages(capture, upto);
                }
                decoded.now = None;
                let failed = decoded.fail(capture, TOO_LATE);
                failed.map(|text| text.to_string()).into_iter().collect()
            }
            Event::Done(record, _) => {
                let now = decoded.now.take().filter(|now| now.is_of(&record.id));
                let finished = now.map(Decoding::finish);
                finished.map_or_else(Vec::new, |(upto, said)| said.messages(&record.id, upto))
            }
            Event::Failed(record) => {
                decoded.now.take_if(|now| now.is_of(&record.id));
                Vec::new()
            }
        }
    }
}

impl Decoded {
    /// Says once that a capture is not decoded.
    fn fail(&mut self, capture: &str, why: &str) -> Option<Value> {
        if self.failed.as_deref() == Some(capture) {
            return None;
        }
        self.failed = Some(capture.to_owned());
        Some(decoding::failed(capture, why))
    }
}

impl Position {
    /// Advance to `message`; returns what was dropped before it.
    fn step(&mut self, message: &Message) -> Vec<Value> {
        let id = message.capture();
        let stays = self.at.as_ref().is_some_and(|(at, _)| at == id);
        match &message.event {
            // A capture that waits for its turn, or never got it, has no frames.
            Event::State(record) if record.status == Status::Pending => return Vec::new(),
            Event::Failed(_) if !stays => return Vec::new(),
            _ => {}
        }
        let mut told = Vec::new();
        let lost = std::mem::take(&mut self.lost);
        let dropped = |id: &str, from: u32, to: Option<u32>| json!({"type": "dropped", "capture_id": id, "from": from, "to": to, "messages": lost});
        // Of the previous capture, all that is known is that the rest is lost.
        if let Some((before, next)) = self.at.take_if(|_| !stays)
            && lost > 0
        {
            told.push(dropped(&before, next, None));
        }
        let next = self.at.as_ref().map_or(0, |(_, next)| *next);
        let reached = match &message.event {
            Event::Frame { frame, .. } => frame.span.seq,
            Event::Done(_, frames) => *frames,
            Event::State(_) | Event::Gap { .. } | Event::Failed(_) => next,
        };
        // Also sent for a new capture, so that its frames can be attributed to it.
        if reached > next || lost > 0 {
            told.push(dropped(id, next, Some(reached)));
        }
        self.at = match &message.event {
            Event::Frame { frame, .. } => Some((id.to_owned(), frame.span.seq + 1)),
            Event::State(_) | Event::Gap { .. } => Some((id.to_owned(), next)),
            Event::Done(..) | Event::Failed(_) => None,
        };
        told
    }
}

fn page(reader: &Reader, from_seq: u32) -> Result<Vec<framer::Frame>, ReadError> {
    layout::frames(&reader.samples(), from_seq)
        .take(READ_FRAMES)
        .map(|span| {
            let data = reader.frame(span)?;
            Ok(framer::Frame { span, data })
        })
        .collect()
}

async fn send(peer: &mut Peer, told: &Value) -> Result<(), Goodbye> {
    peer.send(Frame::Text(told.to_string().into())).await
}

impl Live for Follower {
    fn name(&self) -> &'static str {
        "captures"
    }

    fn serve(
        self: Box<Self>,
        peer: Peer,
        ending: Ending,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin((*self).run(peer, ending))
    }
}

#[cfg(test)]
mod tests;
