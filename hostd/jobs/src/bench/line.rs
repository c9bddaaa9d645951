//! The target's serial line while a run goes on: one thread reads it, from the step that may make the target speak to
//! the next one that runs a program, so that nothing is missed between steps.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use evidence::log::Stream;
use evidence::redact::{Redactor, Secrets};
use pipeline::Parity;
use pipeline::plan::{Uart, UartChannels};

use super::{Bench, BenchError, Link, Until};
use crate::cancel::Cancel;
use crate::log::{RunLog, Search};

/// Bytes that are kept for a step that is still to read them. Older ones are in the log alone.
const UNREAD_BYTES_MAX: usize = 1 << 20;

/// Bytes of the end of what a step read that are told of it.
const TAIL_BYTES: usize = 8 << 10;

/// How long a read waits before it looks whether the line is still wanted.
const READ_WAIT: Duration = Duration::from_millis(100);

/// How long a step waits before it looks whether it was cancelled.
const TICK: Duration = Duration::from_millis(50);

/// What is read of a line for one step.
pub(super) struct Hearing<'p> {
    /// Ends it.
    wanted: Option<(&'p str, Search<'p>)>,
    texts: Vec<(&'p str, Search<'p>)>,
    /// What was found, and when.
    found: Vec<(&'p str, Instant)>,
    /// When it ends in any case.
    ends: Instant,
    redactor: Redactor,
    /// The end of what came, secrets blotted out before anything of it is cut off.
    tail: Vec<u8>,
}

/// Why nothing more is read for a step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// What was wanted has come.
    Found,
    /// Its time is over, or the line was closed.
    Time,
    /// The line has ended.
    Failed(BenchError),
}

/// A line that is open.
pub(super) struct Line<'s> {
    setting: Setting,
    link: Arc<dyn Link>,
    shared: Arc<Shared<'s>>,
    reader: ScopedJoinHandle<'s, ()>,
    secrets: &'s Secrets,
}

/// What two steps must have in common to share a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    baud: u64,
    parity: Option<Parity>,
    channels: Option<UartChannels>,
}

/// What the reader and the steps share.
struct Shared<'p> {
    state: Mutex<State<'p>>,
    has_changed: Condvar,
}

#[derive(Default)]
struct State<'p> {
    /// What no step has read yet.
    unread: VecDeque<u8>,
    /// The step that waits.
    present: Option<Hearing<'p>>,
    /// Steps in the background, by their index.
    others: BTreeMap<usize, Hearing<'p>>,
    error: Option<BenchError>,
    is_closed: bool,
}

impl Setting {
    pub(super) fn of(uart: &Uart) -> Self {
        Self {
            baud: uart.baud,
            parity: uart.parity,
            channels: uart.channels,
        }
    }
}

impl<'p> Hearing<'p> {
    /// Reads until `wanted` has come, or `ends`, and looks for `texts` on the way.
    pub(super) fn new(
        wanted: Option<&'p str>,
        texts: &[&'p str],
        ends: Instant,
        secrets: &Secrets,
    ) -> Self {
        Self {
            wanted: wanted.map(|text| (text, Search::new(text))),
            texts: texts
                .iter()
                .map(|text| (*text, Search::new(text)))
                .collect(),
            found: Vec::new(),
            ends,
            redactor: secrets.redactor(),
            tail: Vec::new(),
        }
    }

    /// Takes what has come, as far as it is the step's. Returns how much that is.
    fn take(&mut self, bytes: &[u8]) -> usize {
        if self.is_over() {
            return 0;
        }
        let now = Instant::now();
        let mut end = None;
        if let Some((text, search)) = &mut self.wanted {
            end = search.push(bytes);
            self.found.extend(end.map(|_| (*text, now)));
        }
        let own = &bytes[..end.unwrap_or(bytes.len())];
        for (text, search) in &mut self.texts {
            let is_new = search.push(own).is_some();
            if is_new && !self.found.iter().any(|(found, _)| found == text) {
                self.found.push((*text, now));
            }
        }
        self.redactor.push(own, &mut self.tail);
        let gone = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..gone);
        own.len()
    }

    fn has_found(&self) -> bool {
        let wanted = self.wanted.as_ref();
        wanted.is_some_and(|(_, search)| search.is_found)
    }

    fn is_over(&self) -> bool {
        self.has_found() || self.ends <= Instant::now()
    }

    /// Which of the texts have come.
    pub(super) fn texts(&self) -> Vec<(&'p str, bool)> {
        let texts = self.texts.iter();
        texts
            .map(|(text, search)| (*text, search.is_found))
            .collect()
    }

    /// What was found, and when.
    pub(super) fn found(&self) -> &[(&'p str, Instant)] {
        &self.found
    }

    /// The end of what came, for people. Nothing more comes.
    pub(super) fn tail(mut self) -> String {
        self.redactor.finish(&mut self.tail);
        String::from_utf8_lossy(&self.tail).into_owned()
    }
}

impl<'s> Line<'s> {
    /// Opens a line, and reads it from now on. What comes is in the log.
    pub(super) fn open(
        scope: &'s Scope<'s, '_>,
        bench: &dyn Bench,
        uart: &Uart,
        until: &Until<'_>,
        log: &'s RunLog<'s>,
        secrets: &'s Secrets,
    ) -> Result<Self, BenchError> {
        let link: Arc<dyn Link> = Arc::from(bench.uart(uart, until)?);
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            has_changed: Condvar::new(),
        });
        let (from, to, cancel) = (Arc::clone(&link), Arc::clone(&shared), until.cancel.clone());
        let reader = scope.spawn(move || read(&*from, &to, log, secrets, &cancel));
        Ok(Self {
            setting: Setting::of(uart),
            link,
            shared,
            reader,
            secrets,
        })
    }

    pub(super) fn setting(&self) -> Setting {
        self.setting
    }

    /// Where it listens, for people.
    pub(super) fn what(&self) -> String {
        self.link.what()
    }

    /// Whether steps in the background still read it.
    pub(super) fn is_heard(&self) -> bool {
        !self.shared.lock().others.is_empty()
    }

    /// Why it has ended, if it has.
    pub(super) fn error(&self) -> Option<BenchError> {
        self.shared.lock().error.clone()
    }

    /// What the target said so far is old.
    pub(super) fn forget(&self) {
        self.shared.lock().unread.clear();
    }

    /// Sends something. What the target said before is no answer to it.
    pub(super) fn send(&self, text: &str, until: &Until<'_>) -> Result<(), BenchError> {
        self.forget();
        self.link.write(text.as_bytes(), until)
    }

    /// Reads for a step, which waits.
    pub(super) fn hear(&self, mut hearing: Hearing<'s>, until: &Until<'_>) -> (Hearing<'s>, Over) {
        let mut state = self.shared.lock();
        let unread = state.unread.make_contiguous();
        let taken = hearing.take(unread);
        state.unread.drain(..taken);
        state.present = Some(hearing);
        drop(state);
        let over = self
            .shared
            .wait(until, |state| state.present.as_ref()?.over());
        let hearing = self.shared.lock().present.take();
        // Nobody else takes it.
        (
            hearing.unwrap_or_else(|| Hearing::new(None, &[], until.at, self.secrets)),
            over,
        )
    }

    /// Reads for the step with this index from now on, which does not wait.
    pub(super) fn hear_beside(&self, index: usize, mut hearing: Hearing<'s>) {
        let mut state = self.shared.lock();
        hearing.take(state.unread.make_contiguous());
        state.others.insert(index, hearing);
    }

    /// Waits until a step in the background has read this text, or reads no more. True if the text has come.
    pub(super) fn wait_for_text(&self, index: usize, text: &str, until: &Until<'_>) -> bool {
        let has_come = |state: &State<'s>| {
            let texts = state.others.get(&index)?.texts();
            texts
                .iter()
                .any(|(of, is_found)| *of == text && *is_found)
                .then_some(())
        };
        self.shared.wait(until, |state| {
            let hearing = state.others.get(&index)?;
            has_come(state)
                .map(|()| Over::Found)
                .or_else(|| hearing.over())
        });
        has_come(&self.shared.lock()).is_some()
    }

    /// Waits until what a step in the background wanted has come or its time is over, and ends it.
    pub(super) fn finish(&self, index: usize, until: &Until<'_>) -> Option<(Hearing<'s>, Over)> {
        let over = self
            .shared
            .wait(until, |state| state.others.get(&index)?.over());
        let hearing = self.shared.lock().others.remove(&index)?;
        Some((hearing, over))
    }

    /// Ends the line, and waits until the device has it no more.
    pub(super) fn close(self) {
        self.shared.lock().is_closed = true;
        // A reader that panicked has closed it too.
        let _ = self.reader.join();
    }
}

impl Hearing<'_> {
    fn over(&self) -> Option<Over> {
        if self.has_found() {
            return Some(Over::Found);
        }
        (self.ends <= Instant::now()).then_some(Over::Time)
    }
}

impl<'p> Shared<'p> {
    /// Waits until something is over. A line that ended is over for everybody who is still waiting.
    fn wait(&self, until: &Until<'_>, over: impl Fn(&State<'p>) -> Option<Over>) -> Over {
        let mut state = self.lock();
        loop {
            if let Some(over) = over(&state) {
                return over;
            }
            if let Some(error) = &state.error {
                return Over::Failed(error.clone());
            }
            if until.cancel.is_set() {
                return Over::Failed(BenchError::Cancelled);
            }
            let left = until.left();
            if left.is_zero() || state.is_closed {
                return Over::Time;
            }
            let waited = self.has_changed.wait_timeout(state, left.min(TICK));
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn push(&self, bytes: &[u8]) {
        let mut state = self.lock();
        for hearing in state.others.values_mut() {
            hearing.take(bytes);
        }
        let taken = state
            .present
            .as_mut()
            .map_or(0, |hearing| hearing.take(bytes));
        state.unread.extend(&bytes[taken..]);
        let gone = state.unread.len().saturating_sub(UNREAD_BYTES_MAX);
        state.unread.drain(..gone);
        drop(state);
        self.has_changed.notify_all();
    }

    fn fail(&self, error: BenchError) {
        self.lock().error = Some(error);
        self.has_changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<'p>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a line until nobody wants it, or it ends.
fn read(link: &dyn Link, to: &Shared<'_>, log: &RunLog<'_>, secrets: &Secrets, cancel: &Cancel) {
    let mut redactor = secrets.redactor();
    let mut seen = Vec::new();
    while !to.lock().is_closed {
        seen.clear();
        match link.read(READ_WAIT, cancel) {
            Ok(bytes) => {
                redactor.push(&bytes, &mut seen);
                log.output(Stream::Uart, &seen);
                log.flush();
                to.push(&bytes);
            }
            Err(error) => {
                to.fail(error);
                break;
            }
        }
    }
    seen.clear();
    redactor.finish(&mut seen);
    log.output(Stream::Uart, &seen);
}
