//! What the two directions of a link and its connections share: the connections, and whose turn it is.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

use super::channel::Channel;
use super::frame::{Header, Kind};
use super::greeting::Terms;
use super::link::LinkError;
use super::wires::{Outgoing, Transfer};

/// Numbers of connections: 0 is the link itself.
const NUMBER_MAX: u16 = u16::MAX;

/// Free rooms that are kept at hand for connections.
const ROOMS_MAX: usize = 4;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) is_host: bool,
    pub(super) ours: Terms,
    pub(super) theirs: Terms,
    pub(super) state: Mutex<State>,
    pub(super) free: Mutex<Free>,
    /// Something is to be sent.
    pub(super) work: Notify,
    /// A connection was opened by the other side, or the link ended.
    pub(super) arrived: Notify,
}

/// Room from which transfers are sent, and which nobody writes.
#[derive(Debug, Default)]
pub(super) struct Free {
    rooms: Vec<Transfer>,
    /// Somebody has large frames, so there should be some.
    is_wanted: bool,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) channels: BTreeMap<u16, Arc<Mutex<Channel>>>,
    /// Connections with something to send, the next one first.
    ready: VecDeque<Arc<Mutex<Channel>>>,
    /// Connections that were opened and not yet taken.
    pub(super) arrived: VecDeque<Arc<Mutex<Channel>>>,
    last_number: u16,
    /// Why there will be no more.
    pub(super) ended: Option<Arc<str>>,
}

impl State {
    pub(super) fn free_number(&mut self) -> Option<u16> {
        for _ in 0..NUMBER_MAX {
            self.last_number = match self.last_number {
                NUMBER_MAX => 1,
                number => number + 1,
            };
            if !self.channels.contains_key(&self.last_number) {
                return Some(self.last_number);
            }
        }
        None
    }
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // Each change leaves a valid state, so a panic elsewhere does no harm.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes a connection, and lets it send what it has then, if it has something.
    pub(super) fn with<T>(
        &self,
        channel: &Arc<Mutex<Channel>>,
        change: impl FnOnce(&mut Channel) -> T,
    ) -> T {
        let changed = {
            let mut locked = lock(channel);
            let changed = change(&mut locked);
            if locked.is_waiting || !locked.has_news() {
                return changed;
            }
            locked.is_waiting = true;
            changed
        };
        self.state().ready.push_back(channel.clone());
        self.work.notify_one();
        changed
    }

    /// Lets a connection send what it has, if it has something.
    pub(super) fn sends(&self, channel: &Arc<Mutex<Channel>>) {
        self.with(channel, |_| ());
    }

    /// Takes a frame.
    pub(super) fn take(&self, header: Header, bytes: Bytes) -> Result<(), LinkError> {
        let Header {
            channel: number,
            kind,
            ..
        } = header;
        match (number, kind) {
            (0, Kind::Alive) => return Ok(()),
            (0, _) | (_, Kind::Alive | Kind::Greeting) => {
                return Err(LinkError::Misused("a frame came on the wrong channel"));
            }
            (_, Kind::Open) if self.is_host => {
                return Err(LinkError::Misused("the pod opened a connection"));
            }
            (_, Kind::Open) => return self.opened(number),
            _ => {}
        }
        let known = self.state().channels.get(&number).cloned();
        let Some(channel) = known else {
            // Grants and resets may cross with the end of a connection; data cannot.
            return match kind {
                Kind::Credit | Kind::Reset => Ok(()),
                _ => Err(LinkError::Misused(
                    "a frame came on a channel that is closed",
                )),
            };
        };
        let is_over = self.with(&channel, |channel| {
            channel.take(kind, bytes)?;
            Ok::<_, LinkError>(channel.is_over())
        })?;
        if is_over {
            self.state().channels.remove(&number);
        }
        Ok(())
    }

    fn opened(&self, number: u16) -> Result<(), LinkError> {
        let channel = {
            let mut state = self.state();
            if state.channels.contains_key(&number) {
                return Err(LinkError::Misused("a channel was opened twice"));
            }
            let is_full = usize::from(self.ours.channels) <= state.channels.len();
            let channel = if is_full {
                Channel::refused(
                    number,
                    self.terms(),
                    "it serves no more connections at once",
                )
            } else {
                Channel::opened(number, self.terms())
            };
            let channel = Arc::new(Mutex::new(channel));
            state.channels.insert(number, channel.clone());
            if !is_full {
                state.arrived.push_back(channel.clone());
            }
            channel
        };
        self.sends(&channel);
        self.arrived.notify_one();
        Ok(())
    }

    /// What this side takes, and what the other one does.
    pub(super) fn terms(&self) -> (Terms, Terms) {
        (self.ours, self.theirs)
    }

    /// The next turn: frames of a connection go to `head`, and a frame of data may come after them. `None` when none has
    /// anything to send.
    pub(super) fn turn(&self, head: &mut Vec<u8>) -> Option<Option<Transfer>> {
        let channel = self.state().ready.pop_front()?;
        let (number, data, is_over, has_more) = {
            let mut locked = lock(&channel);
            let data = locked.write(head);
            let has_more = locked.has_news();
            locked.is_waiting = has_more;
            (locked.number, data, locked.is_over(), has_more)
        };
        let mut state = self.state();
        if is_over {
            state.channels.remove(&number);
        } else if has_more {
            state.ready.push_back(channel);
        }
        Some(data)
    }

    /// Room for a large frame, if there is some free.
    pub(super) fn room(&self) -> Option<Transfer> {
        let mut free = self.free();
        free.is_wanted = true;
        free.rooms.pop()
    }

    /// Takes room back from which nothing was sent.
    pub(super) fn give_back(&self, mut room: Transfer) {
        let mut free = self.free();
        if free.rooms.len() < ROOMS_MAX && room.clear() {
            free.rooms.push(room);
        }
    }

    /// Gets some from where transfers go, once it was wanted.
    pub(super) fn supply(&self, writer: &mut impl Outgoing) {
        let mut free = self.free();
        while free.is_wanted
            && free.rooms.len() < ROOMS_MAX
            && let Some(room) = writer.free()
        {
            free.rooms.push(room);
        }
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a connection waits for its turn.
    pub(super) fn has_turns(&self) -> bool {
        !self.state().ready.is_empty()
    }

    /// Nothing more will come or go.
    pub(super) fn end(&self, reason: &str) {
        let channels: Vec<_> = {
            let mut state = self.state();
            state.ended = Some(reason.into());
            state.arrived.clear();
            state.ready.clear();
            std::mem::take(&mut state.channels).into_values().collect()
        };
        for channel in channels {
            lock(&channel).break_off(reason);
        }
        self.arrived.notify_waiters();
    }
}

pub(super) fn lock(channel: &Mutex<Channel>) -> MutexGuard<'_, Channel> {
    channel.lock().unwrap_or_else(PoisonError::into_inner)
}
