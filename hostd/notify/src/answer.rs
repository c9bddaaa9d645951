//! What a receiver answers, and why there is no answer.

use std::io;

use crate::reach::Refused;

/// The head of an answer. Its body is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Seconds that the receiver asks to wait.
    pub(crate) retry_after_s: Option<u64>,
}

impl Answer {
    pub(crate) fn is_success(self) -> bool {
        (200..300).contains(&self.status)
    }

    /// What is told of a refusal.
    pub(crate) fn sentence(self) -> String {
        match self.status {
            300..400 => format!(
                "The receiver answered {}; redirects are not followed.",
                self.status
            ),
            status => format!("The receiver answered {status}."),
        }
    }
}

/// Why there is no answer. Nothing of the URL is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Silence {
    #[error("The receiver may not be reached: {0}.")]
    Refused(Refused),
    #[error("The receiver did not answer in time.")]
    Timeout,
    #[error("The receiver's name is not known.")]
    NoHost,
    #[error("The receiver does not accept connections.")]
    NoConnection,
    #[error("The receiver's certificate is not accepted, or TLS failed.")]
    Tls,
    #[error("The receiver broke the connection off, or does not speak HTTP.")]
    Broken,
    #[error("The server could not begin to send.")]
    NotBegun,
}

impl From<ureq::Error> for Silence {
    fn from(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(_) => Self::Timeout,
            ureq::Error::HostNotFound => Self::NoHost,
            ureq::Error::ConnectionFailed => Self::NoConnection,
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => Self::Tls,
            ureq::Error::Io(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused
                | io::ErrorKind::HostUnreachable
                | io::ErrorKind::NetworkUnreachable => Self::NoConnection,
                io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Self::Timeout,
                io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof => Self::Broken,
                // Failed look-ups have no kind of their own.
                _ => Self::NoHost,
            },
            ureq::Error::Other(error) => {
                let refused = error.downcast_ref::<Refused>().copied();
                refused.map_or(Self::Broken, Self::Refused)
            }
            _ => Self::Broken,
        }
    }
}
