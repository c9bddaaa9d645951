//! What a receiver answers, and why there is no answer.

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base::reach::Refused;

/// The head of an answer. Its body is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// What the receiver asks for before the next attempt.
    pub(crate) wish: Option<Pause>,
}

/// The header `Retry-After`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// So many seconds.
    For(u64),
    /// Until this moment.
    Until(SystemTime),
}

impl Pause {
    /// What the header says; none if that is neither a number of seconds nor a date of HTTP.
    pub(crate) fn parse(header: &str) -> Option<Self> {
        let header = header.trim();
        let seconds = header.parse().map(Self::For).ok();
        seconds.or_else(|| httpdate::parse_http_date(header).map(Self::Until).ok())
    }

    /// Seconds from now on, at least as long as it asks for. None for a moment that is over.
    pub(crate) fn seconds(self, now_ms: u64) -> u64 {
        match self {
            Self::For(seconds) => seconds,
            Self::Until(moment) => {
                let now = UNIX_EPOCH + Duration::from_millis(now_ms);
                let left = moment.duration_since(now).unwrap_or_default();
                left.as_secs() + u64::from(left.subsec_nanos() > 0)
            }
        }
    }
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
    /// It was not sent, since it cannot be signed; a sentence.
    #[error("{0}")]
    Unsigned(String),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// 6 November 1994, 08:49:37 UTC.
    const MOMENT_MS: u64 = 784_111_777_000;

    #[test]
    fn a_pause_is_a_number_of_seconds_or_a_date() {
        let seconds = |header: &str| {
            let pause = Pause::parse(header);
            pause.map(|pause| pause.seconds(MOMENT_MS - 90_500))
        };
        assert_eq!(seconds(" 120 "), Some(120));
        for date in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(seconds(date), Some(91), "{date}");
        }
        // Over, and so far away that only the bound of pauses counts.
        assert_eq!(seconds("Sun, 06 Nov 1983 08:49:37 GMT"), Some(0));
        assert!(seconds("Fri, 31 Dec 9999 23:59:59 GMT") > Some(200_000_000_000));
        for bad in ["", "-1", "soon", "1.5", "Sun, 99 Nov 1994 08:49:37 GMT"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }
}
