//! Why something about boards cannot be done.

use std::io;
use std::path::PathBuf;

use store::StoreError;
use store::emi::EmiError;

/// Why a request fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The organisation has no such project, board, run or artifact.
    #[error("there is no such project, board, run or file")]
    NotFound,
    /// A member of the request.
    #[error("{field} {message}")]
    Invalid {
        /// Its name.
        field: &'static str,
        /// A fragment that follows it: `must be …`.
        message: String,
    },
    /// This server does not offer runs of that kind.
    #[error("runs of the kind {kind} are not offered here")]
    NotOffered {
        /// The kind's word.
        kind: &'static str,
    },
    /// The run has ended.
    #[error("the run has ended")]
    Finished,
    /// The run neither failed nor timed out.
    #[error("the run neither failed nor timed out")]
    NotRetryable,
    /// The bytes of an upload have not come, or are not kept any more.
    #[error("nothing was uploaded under this key, or it is not kept any more")]
    NotReceived,
    /// The run has not come to its end, so that it has no results.
    #[error("the run is not done")]
    NotReady,
    /// The bytes are not those that were said.
    #[error("the bytes have another SHA-256 than was said")]
    WrongDigest,
    /// More bytes than may come.
    #[error("the upload is over {max} bytes")]
    TooLarge {
        /// How many may.
        max: u64,
    },
    /// The address was not made by this server for this, or its time is over.
    #[error("the signature of the address is wrong, or its time is over")]
    Signature,
    /// The organisation has as much as it may.
    #[error("{what}: {max} at most; delete what is not needed any more")]
    Full {
        /// Of what, with the key of the configuration.
        what: &'static str,
        /// How much.
        max: u64,
    },
    /// Too many runs wait.
    #[error("{what}: {max} at most; try again when some have ended")]
    Busy {
        /// Of what, with the key of the configuration.
        what: &'static str,
        /// How many may.
        max: u64,
    },
    /// The server is about to stop.
    #[error("the server is about to stop")]
    Stopping,
    /// A file.
    #[error("use the file {}", path.display())]
    Blob {
        /// Where.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Error {
    pub(crate) fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid {
            field,
            message: message.into(),
        }
    }

    /// A word for those who count refusals; none for what is no refusal.
    pub(crate) fn reason(&self) -> Option<&'static str> {
        Some(match self {
            Self::Full { .. } => "quota",
            Self::Busy { .. } => "busy",
            Self::WrongDigest => "digest",
            Self::TooLarge { .. } => "size",
            Self::Signature => "signature",
            Self::NotOffered { .. } => "not_offered",
            _ => return None,
        })
    }
}

impl From<EmiError> for Error {
    fn from(error: EmiError) -> Self {
        match error {
            EmiError::NotFound => Self::NotFound,
            EmiError::Bytes { max } => Self::Full {
                what: "MiB of boards and results of the organisation (emi.quota_mib)",
                max: max >> 20,
            },
            EmiError::TooMany { what, max } if what.passes() => Self::Busy {
                what: what.described(),
                max,
            },
            EmiError::TooMany { what, max } => Self::Full {
                what: what.described(),
                max,
            },
            EmiError::Store(error) => Self::Store(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use store::emi::Counted;

    use super::*;

    #[test]
    fn what_is_full_is_named_and_what_to_do_said() {
        for (what, reason, told) in [
            (
                Counted::Projects,
                "quota",
                "projects of the organisation (emi.projects_max): 3 at most; delete what is not needed any more",
            ),
            (
                Counted::Waiting,
                "busy",
                "runs that wait (emi.queued_max): 3 at most; try again when some have ended",
            ),
        ] {
            let error = Error::from(EmiError::TooMany { what, max: 3 });
            assert_eq!(error.reason(), Some(reason));
            assert_eq!(error.to_string(), told);
        }
    }
}
