//! The refusals of a bench, with the messages that clients classify.

use pod_protocol::{TWO_INSTRUMENTS, missing_part};

use crate::presence::{Lack, Part};

/// A refusal; its `Display` is the `message` of the reply.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Refuse {
    #[error("unknown cmd")]
    UnknownCommand,
    #[error("missing cmd")]
    MissingCommand,
    #[error("the request is not a JSON object")]
    NotObject,
    #[error("the request exceeds {limit} bytes")]
    RequestTooLong { limit: usize },
    #[error("missing {field}")]
    Missing { field: &'static str },
    #[error("bad {field}: want {want}")]
    Bad {
        field: &'static str,
        want: &'static str,
    },
    #[error("{field} out of range: want {min}..{max}")]
    OutOfRange {
        field: &'static str,
        min: i64,
        max: i64,
    },
    #[error("{}", missing_part(part.name(), away.as_deref()))]
    MissingPart {
        part: Part,
        /// Why it cannot be reached; none if the bench has no such part.
        away: Option<String>,
    },
    #[error("efuse 2: the bench has one supply, which is efuse 1")]
    OneRail,
    #[error("the inputs of the bench have one level: 3300 mV")]
    OneLevel,
    #[error("a capture needs samples")]
    NoSamples,
    #[error("{TWO_INSTRUMENTS}")]
    BothAtOnce,
    #[error("the instrument gave fewer samples than were asked for")]
    Short,
    #[error("the bench has one analog path: adc_ext")]
    OnePath,
    #[error("uart busy")]
    UartBusy,
    #[error("no uart session is open")]
    NoUart,
    #[error("busy: a debug session is open")]
    ProbeBusy,
    #[error("{0}")]
    Part(String),
}

impl Refuse {
    pub(crate) fn lack(part: Part, lack: Lack) -> Self {
        let away = match lack {
            Lack::None => None,
            Lack::Away(reason) => Some(reason),
        };
        Self::MissingPart { part, away }
    }

    pub(crate) fn away(part: Part, reason: String) -> Self {
        Self::lack(part, Lack::Away(reason))
    }
}
