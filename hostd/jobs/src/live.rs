//! What happens in a job, told while it happens. Telling never waits: whoever listens too slowly misses output, is
//! told how much, and finds all of it in the log.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};

use evidence::log::Stream;

/// Bytes of output that wait for a listener at most.
const WAITING_BYTES_MAX: u64 = 4 << 20;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A run begins: its id.
    RunStarted(String),
    /// A step begins: what it is called.
    StepStarted(String),
    /// A step wrote something, secrets blotted out.
    Output(Stream, Vec<u8>),
    /// So many bytes of output were not told, for the listener was too slow or the log has reached its limit.
    Missed(u64),
    /// A line of the runner's own.
    Note(String),
    /// A step ended: what it is called, a word for how it went, and a sentence.
    StepEnded(String, &'static str, String),
    /// A run ended: its id, a word for how it went, and a sentence.
    RunEnded(String, &'static str, String),
}

/// The end that tells. Cloning shares it.
#[derive(Clone)]
pub struct Live {
    to: To,
    missed: Arc<AtomicU64>,
}

/// Where events go.
#[derive(Clone)]
enum To {
    Queue {
        events: Sender<Event>,
        waiting_bytes: Arc<AtomicU64>,
    },
    Listener(Arc<dyn Fn(&Event) + Send + Sync>),
}

/// The end that listens.
#[derive(Debug)]
pub struct Events {
    events: Receiver<Event>,
    waiting_bytes: Arc<AtomicU64>,
}

impl Live {
    /// Both ends. The number of events that are no output is bounded by the plan.
    #[must_use]
    pub fn new() -> (Self, Events) {
        let (sender, receiver) = mpsc::channel();
        let waiting_bytes = Arc::<AtomicU64>::default();
        let live = Self {
            to: To::Queue {
                events: sender,
                waiting_bytes: Arc::clone(&waiting_bytes),
            },
            missed: Arc::default(),
        };
        let events = Events {
            events: receiver,
            waiting_bytes,
        };
        (live, events)
    }

    /// Tells `listener` on the threads that carry the job out, which wait for it: it must be quick, and two may call
    /// it at once.
    pub fn listening(listener: Arc<dyn Fn(&Event) + Send + Sync>) -> Self {
        Self {
            to: To::Listener(listener),
            missed: Arc::default(),
        }
    }

    /// Tells something that is no output.
    pub(crate) fn tell(&self, event: Event) {
        self.tell_missed();
        self.send(event);
    }

    fn send(&self, event: Event) -> bool {
        match &self.to {
            // Nobody need listen.
            To::Queue { events, .. } => events.send(event).is_ok(),
            To::Listener(listener) => {
                listener(&event);
                true
            }
        }
    }

    /// Tells output, if there is room for it.
    pub(crate) fn output(&self, stream: Stream, bytes: &[u8]) {
        let len = bytes.len() as u64;
        if !self.reserve(len) {
            self.miss(len);
            return;
        }
        self.tell_missed();
        if !self.send(Event::Output(stream, bytes.to_vec())) {
            self.release(len);
        }
    }

    /// Takes room for bytes that wait. A listener that is called has none waiting.
    fn reserve(&self, len: u64) -> bool {
        let To::Queue { waiting_bytes, .. } = &self.to else {
            return true;
        };
        let waiting = waiting_bytes.fetch_add(len, Ordering::AcqRel);
        let has_room = waiting + len <= WAITING_BYTES_MAX;
        if !has_room {
            self.release(len);
        }
        has_room
    }

    fn release(&self, len: u64) {
        if let To::Queue { waiting_bytes, .. } = &self.to {
            waiting_bytes.fetch_sub(len, Ordering::AcqRel);
        }
    }

    /// Counts output that is not told.
    pub(crate) fn miss(&self, bytes: u64) {
        self.missed.fetch_add(bytes, Ordering::AcqRel);
    }

    fn tell_missed(&self) {
        let missed = self.missed.swap(0, Ordering::AcqRel);
        if missed > 0 {
            self.send(Event::Missed(missed));
        }
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").finish_non_exhaustive()
    }
}

impl Iterator for Events {
    type Item = Event;

    /// Waits for the next event; none when the job has ended and everybody who tells is gone.
    fn next(&mut self) -> Option<Event> {
        let event = self.events.recv().ok()?;
        if let Event::Output(_, bytes) = &event {
            self.waiting_bytes
                .fetch_sub(bytes.len() as u64, Ordering::AcqRel);
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_listen_is_told_how_much_was_missed() {
        let (live, mut events) = Live::new();
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..6 {
            live.output(Stream::Output, &piece);
        }
        live.tell(Event::Note("end".to_owned()));
        let told: Vec<Event> = events.by_ref().take(6).collect();
        assert!(
            told[..4]
                .iter()
                .all(|event| matches!(event, Event::Output(..)))
        );
        assert_eq!(
            told[4..],
            [Event::Missed(2 << 20), Event::Note("end".to_owned())]
        );
        live.output(Stream::Output, &piece);
        assert!(matches!(events.next(), Some(Event::Output(..))));
    }

    #[test]
    fn a_listener_hears_everything_in_order() {
        let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
        let to = Arc::clone(&heard);
        let live = Live::listening(Arc::new(move |event: &Event| {
            to.lock().unwrap().push(event.clone());
        }));
        let piece = vec![b'x'; 3 << 20];
        live.output(Stream::Uart, &piece);
        live.output(Stream::Uart, &piece);
        live.miss(7);
        live.tell(Event::Note("end".to_owned()));
        let output = Event::Output(Stream::Uart, piece);
        let note = Event::Note("end".to_owned());
        let heard = heard.lock().unwrap();
        assert!(*heard == [output.clone(), output, Event::Missed(7), note]);
    }
}
