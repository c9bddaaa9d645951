//! One pod's session: its connections, whose turn it is to send, and why it has ended.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use pod_protocol::dial::{TUNNELS_MAX, ToPod};
use serde_json::{Map, Value};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Lease;
use super::channel::{Channel, Offered, request_number, tunnel_number};
use super::pace::{Pace, Turn};
use super::stream::DialStream;

/// Connections for single commands at once: a pod's owner has one, and perhaps an older one that is not dropped yet.
const COMMANDS_MAX: usize = 4;

/// Frames about the session itself that may wait; one more replaces the oldest.
const NOTICES_MAX: usize = 16;

/// The pod's word for taking [`ToPod::Lease`].
const LEASE_STATE: &str = "lease_state";

/// See the module's documentation.
pub(super) struct Session {
    state: Mutex<State>,
    /// Something may be sent, or it is over.
    pub(super) work: Notify,
    /// There is room again where there was none.
    pub(super) room: Notify,
    /// A tunnel has ended.
    freed: Notify,
    /// It is over.
    pub(super) over: Notify,
}

struct State {
    channels: BTreeMap<u64, Channel>,
    /// Those with something to send, the next one first.
    ready: VecDeque<u64>,
    /// Frames that belong to no connection.
    notices: VecDeque<String>,
    last_number: u64,
    pace: Pace,
    /// The connection whose reader is waited for.
    full: Option<u64>,
    takes_leases: bool,
    /// The last lease, for a pod that says only later that it wants to know.
    lease: Option<ToPod<'static>>,
    ended: Option<Arc<str>>,
}

/// What is to be done next to send.
pub(super) enum Next {
    Send(String),
    Wait(Turn),
    Idle,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                channels: BTreeMap::new(),
                ready: VecDeque::new(),
                notices: VecDeque::new(),
                last_number: 0,
                pace: Pace::new(),
                full: None,
                takes_leases: false,
                lease: None,
                ended: None,
            }),
            work: Notify::new(),
            room: Notify::new(),
            freed: Notify::new(),
            over: Notify::new(),
        }
    }
}

impl Session {
    /// Opens a tunnel, once the pod has one free.
    pub(super) async fn tunnel(self: Arc<Self>) -> io::Result<DialStream> {
        loop {
            let freed = self.freed.notified();
            if let Some(stream) = self.begin(TUNNELS_MAX, Channel::is_tunnel, Channel::tunnel)? {
                return Ok(stream);
            }
            freed.await;
        }
    }

    /// Opens a connection for single commands.
    pub(super) fn commands(self: Arc<Self>) -> io::Result<DialStream> {
        let begun = self.begin(COMMANDS_MAX, Channel::is_for_commands, Channel::commands)?;
        begun.ok_or_else(|| io::ErrorKind::QuotaExceeded.into())
    }

    fn begin(
        self: &Arc<Self>,
        most: usize,
        counts: impl Fn(&Channel) -> bool,
        make: impl Fn(u64) -> Channel,
    ) -> io::Result<Option<DialStream>> {
        let mut state = self.state();
        if let Some(reason) = &state.ended {
            let reason = reason.to_string();
            return Err(io::Error::new(io::ErrorKind::NotConnected, reason));
        }
        if state
            .channels
            .values()
            .filter(|channel| counts(channel))
            .count()
            >= most
        {
            return Ok(None);
        }
        state.last_number += 1;
        let number = state.last_number;
        state.channels.insert(number, make(number));
        state.queue(number);
        drop(state);
        self.work.notify_one();
        Ok(Some(DialStream::new(self.clone(), number)))
    }

    pub(super) fn read(
        &self,
        number: u64,
        read: impl FnOnce(&mut Channel) -> Poll<io::Result<()>>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.state();
        let done = read(state.held(number));
        if done.is_ready() && state.full.take_if(|full| *full == number).is_some() {
            self.room.notify_one();
        }
        done
    }

    pub(super) fn write<T>(
        &self,
        number: u64,
        write: impl FnOnce(&mut Channel) -> Poll<T>,
    ) -> Poll<T> {
        let mut state = self.state();
        let done = write(state.held(number));
        state.queue(number);
        drop(state);
        self.work.notify_one();
        done
    }

    pub(super) fn drop_stream(&self, number: u64) {
        let mut state = self.state();
        state.held(number).drop_stream();
        if state.ended.is_some() || state.held(number).is_over() {
            state.channels.remove(&number);
        }
        state.queue(number);
        if state.full.take_if(|full| *full == number).is_some() {
            self.room.notify_one();
        }
        drop(state);
        self.work.notify_one();
    }

    /// Tells the pod who holds it, if it wants to know.
    pub(super) fn tell_lease(&self, lease: Option<&Lease>) {
        let mut state = self.state();
        let held = lease.map(|lease| {
            let left = lease.until.saturating_duration_since(Instant::now());
            let left_s = left.as_secs_f64().ceil();
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a lease is at most minutes"
            )]
            (lease.holder.clone(), left_s as u32)
        });
        let lease = ToPod::Lease { held };
        if state.takes_leases {
            state.notice(lease.write());
        }
        state.lease = Some(lease);
        drop(state);
        self.work.notify_one();
    }

    /// The pod has said what it can.
    pub(super) fn described(&self, fields: &Map<String, Value>) {
        let mut state = self.state();
        let takes_leases = fields.get(LEASE_STATE) == Some(&Value::Bool(true));
        let is_new = takes_leases && !std::mem::replace(&mut state.takes_leases, takes_leases);
        if let Some(lease) = state.lease.as_ref().filter(|_| is_new).map(ToPod::write) {
            state.notice(lease);
        }
        drop(state);
        self.work.notify_one();
    }

    /// The data of a tunnel has come.
    pub(super) fn offer(&self, tunnel_id: &str, data: &str) -> Offered {
        let mut state = self.state();
        let Some(number) = tunnel_number(tunnel_id) else {
            return Offered::Taken;
        };
        // One that has ended on this side may still have had something on its way.
        let Some(channel) = state.channels.get_mut(&number) else {
            return Offered::Taken;
        };
        let offered = channel.offer(data);
        state.full = (offered == Offered::Full).then_some(number);
        // Only what is wrong with the data makes it say something.
        state.queue(number);
        let has_news = !state.ready.is_empty();
        drop(state);
        if has_news {
            self.work.notify_one();
        }
        offered
    }

    /// Gives up a tunnel whose reader was waited for.
    pub(super) fn overflow(&self, tunnel_id: &str, reason: &str) {
        let mut state = self.state();
        state.full = None;
        if let Some(number) = tunnel_number(tunnel_id)
            && let Some(channel) = state.channels.get_mut(&number)
        {
            channel.fail(reason);
            state.queue(number);
        }
        drop(state);
        self.work.notify_one();
    }

    /// The answer to a command has come.
    pub(super) fn answer(&self, request_id: &str, answer: Result<Value, String>) {
        let mut state = self.state();
        if let Some((number, command)) = request_number(request_id)
            && let Some(channel) = state.channels.get_mut(&number)
        {
            channel.answer(command, answer);
            state.queue(number);
        }
        drop(state);
        self.work.notify_one();
    }

    /// The pod has read more.
    pub(super) fn signed(&self) {
        self.state().pace.signed();
        self.work.notify_one();
    }

    /// What is to be sent next, taking turns.
    pub(super) fn next(&self) -> Next {
        let mut state = self.state();
        let turn = state.pace.turn();
        if turn != Turn::Now {
            let has_news = !state.notices.is_empty() || !state.ready.is_empty();
            return if has_news {
                Next::Wait(turn)
            } else {
                Next::Idle
            };
        }
        let Some(frame) = state.next_frame() else {
            return Next::Idle;
        };
        if state.pace.sent(frame.len()) {
            state.notices.push_front(ToPod::Ping.write());
        }
        drop(state);
        self.freed.notify_waiters();
        Next::Send(frame)
    }

    /// Ends it, for everyone, unless it has ended. Returns the reason for which it has.
    pub(super) fn end(&self, reason: &str) -> Arc<str> {
        let mut state = self.state();
        if let Some(earlier) = &state.ended {
            return earlier.clone();
        }
        let reason: Arc<str> = reason.into();
        state.ended = Some(reason.clone());
        state.ready.clear();
        state.notices.clear();
        for channel in state.channels.values_mut() {
            channel.break_off(&reason);
        }
        drop(state);
        self.freed.notify_waiters();
        self.over.notify_one();
        reason
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change leaves a valid state, so a panic elsewhere does no harm.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A connection whose stream somebody holds.
    fn held(&mut self, number: u64) -> &mut Channel {
        let channel = self.channels.get_mut(&number);
        channel.expect("a connection stays as long as its stream")
    }

    /// Lets a connection wait for its turn, if it has something to send.
    fn queue(&mut self, number: u64) {
        if self.ended.is_some() {
            return;
        }
        if let Some(channel) = self.channels.get_mut(&number)
            && channel.has_news()
            && !std::mem::replace(&mut channel.is_queued, true)
        {
            self.ready.push_back(number);
        }
    }

    fn notice(&mut self, frame: String) {
        if self.notices.len() >= NOTICES_MAX {
            self.notices.pop_front();
        }
        self.notices.push_back(frame);
    }

    fn next_frame(&mut self) -> Option<String> {
        if let Some(notice) = self.notices.pop_front() {
            return Some(notice);
        }
        while let Some(number) = self.ready.pop_front() {
            let Some(channel) = self.channels.get_mut(&number) else {
                continue;
            };
            channel.is_queued = false;
            let frame = channel.next_frame();
            if channel.is_over() {
                self.channels.remove(&number);
            }
            self.queue(number);
            if frame.is_some() {
                return frame;
            }
        }
        None
    }
}
