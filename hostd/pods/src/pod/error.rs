//! What can go wrong with a pod.

use std::io;
use std::time::Duration;

use pod_protocol::capture::{AssemblyError, RequestError};
use pod_protocol::chunk::ChunkError;
use pod_protocol::connection::lines::LineError;
use pod_protocol::dap_frame::DapFrameError;
use pod_protocol::{Refusal, ReplyError};

use super::exclusion::{SessionEnd, SessionKind};

/// Why a command or a capture failed.
#[derive(Debug, thiserror::Error)]
pub enum PodError {
    /// The pod cannot be reached.
    #[error("the pod is offline: {reason}")]
    Offline {
        /// Why, as a fragment.
        reason: String,
    },
    /// No answer in time.
    #[error("`{command}` was not answered within {waited_ms} ms")]
    Timeout {
        /// The command.
        command: String,
        /// How long it was waited for.
        waited_ms: u64,
    },
    /// The pod refused.
    #[error("the pod refused: {0}")]
    Refused(Refusal),
    /// The pod's answer breaks the protocol.
    #[error("the pod's answer could not be understood")]
    Protocol(
        #[from]
        #[source]
        ProtocolError,
    ),
    /// The command answers in a stream, so it needs a connection of its own.
    #[error("`{command}` needs a tunnel: it does not answer in one line")]
    NeedsTunnel {
        /// The command.
        command: String,
    },
    /// The object has no `cmd`.
    #[error("a command needs a `cmd` string")]
    MissingCommand,
    /// The capture request is out of range.
    #[error("the capture cannot be asked for")]
    Request(
        #[from]
        #[source]
        RequestError,
    ),
    /// The request is longer than a pod accepts.
    #[error("the command is {bytes} bytes long, a pod takes {limit}")]
    LineTooLong {
        /// Its length as compact JSON.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Another session excludes this one.
    #[error("{} of this pod is open; {} cannot be open beside it", held.session(), wanted.session())]
    Busy {
        /// The requested kind.
        wanted: SessionKind,
        /// The kind that is open.
        held: SessionKind,
    },
    /// All connections of the pod are in use.
    #[error("all {limit} connections that sessions may have to this pod are in use")]
    NoPermit {
        /// The limit.
        limit: usize,
    },
    /// The session was ended from this side.
    #[error("the session has ended")]
    Ended(#[source] SessionEnd),
    /// The pod still holds the channels of a closed session.
    #[error("the pod still holds the channels of the closed {kind} session")]
    NotReleased {
        /// The session's kind.
        kind: SessionKind,
    },
    /// Too many commands wait for this pod.
    #[error("{limit} commands are waiting for this pod already")]
    QueueFull {
        /// The limit.
        limit: usize,
    },
}

/// How an answer departs from the protocol.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// A line is too long.
    #[error("an answer exceeds {limit} bytes")]
    LineTooLong {
        /// The limit.
        limit: usize,
    },
    /// A line is not a reply.
    #[error("a reply is malformed")]
    Reply(#[source] ReplyError),
    /// A line is not a capture packet.
    #[error("a capture packet is malformed")]
    Chunk(#[source] ChunkError),
    /// The packets do not make the capture.
    #[error("the capture is inconsistent")]
    Assembly(#[source] AssemblyError),
    /// The data of a reply is not what the command answers with.
    #[error("`{command}` answered with data of another shape")]
    Data {
        /// The command.
        command: &'static str,
        /// Where reading it stopped.
        #[source]
        source: serde_json::Error,
    },
    /// An answer is missing, so later ones could not be told apart.
    #[error("an earlier answer of this session is missing")]
    OutOfStep,
    /// A frame of a debug-probe session is malformed.
    #[error("a debug-probe packet is malformed")]
    DapFrame(#[source] DapFrameError),
    /// The pod's data lacks something that every pod reports about itself.
    #[error("`{command}` answered without `{field}`")]
    MissingField {
        /// The command.
        command: &'static str,
        /// The field.
        field: &'static str,
    },
}

impl PodError {
    pub(crate) fn timeout(command: &str, waited: Duration) -> Self {
        Self::Timeout {
            command: command.to_owned(),
            waited_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX),
        }
    }

    pub(crate) fn let_go() -> Self {
        Self::Offline {
            reason: "it was let go".to_owned(),
        }
    }

    pub(crate) fn closed() -> Self {
        Self::Offline {
            reason: "it closed the connection".to_owned(),
        }
    }

    /// A failed line, read while waiting for `command`.
    pub(crate) fn from_line(command: &str, error: LineError) -> Self {
        match error {
            LineError::TooLong { limit } => ProtocolError::LineTooLong { limit }.into(),
            LineError::Io(error) => Self::from_io(command, &error),
        }
    }

    /// A failed connection, while waiting for `command`.
    pub(crate) fn from_io(command: &str, error: &io::Error) -> Self {
        let inner = error.get_ref();
        match inner.and_then(|inner| inner.downcast_ref::<SessionEnd>()) {
            // The same news as from the connection itself: whichever comes first.
            Some(SessionEnd::Offline { reason }) => Self::Offline {
                reason: reason.clone(),
            },
            Some(end) => Self::Ended(end.clone()),
            None => Self::Offline {
                reason: format!("its connection failed during `{command}`: {error}"),
            },
        }
    }
}
