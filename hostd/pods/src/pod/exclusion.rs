//! Which sessions may be open together, and the table of open sessions.
//!
//! One `uart`, one `capture` and one `dac` may be open together; `flash` and sessions without a kind
//! exclude all other sessions that outside programs open. A `console` is the UART that this side
//! keeps open and reopens after the pod was away, so it may stay open even beside exclusive
//! sessions. A pod excludes only by ownership: one UART, one debug probe, one user of the capture
//! memory, and its pins. A session that it cannot serve now would only be refused later.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::PodError;

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionKind {
    /// Bytes of a UART.
    Uart,
    /// A capture.
    Capture,
    /// An upload and its replay.
    Dac,
    /// A debug probe.
    Flash,
    /// A UART that this side keeps open for others.
    Console,
    /// An update of the pod's firmware; its image is in the capture memory.
    Update,
    /// Anything else; excludes all others.
    Exclusive,
}

impl SessionKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Uart,
        Self::Capture,
        Self::Dac,
        Self::Flash,
        Self::Console,
        Self::Update,
        Self::Exclusive,
    ];

    /// Its name, as tunnels use it; `exclusive` for a session without a kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uart => "uart",
            Self::Capture => "capture",
            Self::Dac => "dac",
            Self::Flash => "flash",
            Self::Console => "console",
            Self::Update => "update",
            Self::Exclusive => "exclusive",
        }
    }

    /// A session of this kind, as a phrase for a sentence.
    pub fn session(self) -> String {
        let article = match self {
            Self::Update | Self::Exclusive => "an",
            Self::Uart | Self::Capture | Self::Dac | Self::Flash | Self::Console => "a",
        };
        format!("{article} {self} session")
    }

    /// Whether the two cannot be open together.
    pub fn excludes(self, other: Self) -> bool {
        use SessionKind::{Capture, Console, Dac, Flash, Uart, Update};
        let goes_with = |one, other| match one {
            Console => matches!(other, Capture | Dac | Flash | Update),
            Capture => matches!(other, Uart | Dac),
            Dac => matches!(other, Uart),
            _ => false,
        };
        !goes_with(self, other) && !goes_with(other, self)
    }
}

impl fmt::Display for SessionKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Why a session was ended by this side.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionEnd {
    /// The pod went offline.
    #[error("the pod went offline: {reason}")]
    Offline {
        /// Why, as a fragment.
        reason: String,
    },
    /// The pod has restarted.
    #[error("the pod has restarted")]
    Rebooted,
    /// Somebody revoked the session.
    #[error("the session was taken away: {reason}")]
    Revoked {
        /// Why, as a fragment.
        reason: String,
    },
    /// Nobody drives the pod any more.
    #[error("the pod was let go")]
    LetGo,
}

/// The open sessions of one pod.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next_id: u64,
    open: Vec<Entry>,
    /// A session ended without waiting for the pod, which may still hold its channels.
    unsettled: bool,
}

#[derive(Debug)]
struct Entry {
    id: u64,
    kind: SessionKind,
    end: Arc<watch::Sender<Option<SessionEnd>>>,
}

/// A session's entry in the table, until it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    sessions: Arc<Sessions>,
    id: u64,
    pub(super) kind: SessionKind,
    pub(super) end: Arc<watch::Sender<Option<SessionEnd>>>,
    /// The pod may still be releasing what an earlier session held.
    pub(super) follows_unsettled: bool,
    settled: bool,
}

impl Sessions {
    /// Enters a session, unless an open one excludes it.
    pub(super) fn enter(self: &Arc<Self>, kind: SessionKind) -> Result<Share, PodError> {
        let mut table = self.table();
        if let Some(held) = table.open.iter().find(|open| open.kind.excludes(kind)) {
            let held = held.kind;
            return Err(PodError::Busy { wanted: kind, held });
        }
        let id = table.next_id;
        table.next_id += 1;
        let end = Arc::new(watch::Sender::new(None));
        table.open.push(Entry {
            id,
            kind,
            end: end.clone(),
        });
        Ok(Share {
            sessions: self.clone(),
            id,
            kind,
            end,
            follows_unsettled: std::mem::take(&mut table.unsettled),
            settled: false,
        })
    }

    /// Ends all sessions; each keeps the first reason it was given.
    pub(super) fn end_all(&self, reason: &SessionEnd) {
        for entry in &self.table().open {
            end(&entry.end, reason.clone());
        }
    }

    /// Kinds of the open sessions.
    pub(super) fn open_kinds(&self) -> Vec<SessionKind> {
        self.table().open.iter().map(|entry| entry.kind).collect()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Every change leaves the table consistent, so a panic elsewhere does not spoil it.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends one session, unless it has ended already.
pub(super) fn end(session: &watch::Sender<Option<SessionEnd>>, reason: SessionEnd) {
    session.send_if_modified(|ended| {
        let first = ended.is_none();
        if first {
            *ended = Some(reason);
        }
        first
    });
}

impl Share {
    /// The pod has released everything that the session held.
    pub(super) fn settle(&mut self) {
        self.settled = true;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut table = self.sessions.table();
        table.open.retain(|entry| entry.id != self.id);
        table.unsettled |= !self.settled;
    }
}
