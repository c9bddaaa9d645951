//! Why everything is over, told once and obeyed by all.

use std::process::ExitCode;
use std::sync::Arc;

use tokio::sync::watch;

use super::super::check::DEFINITION;
use super::super::patience::tell;
use super::super::trouble::{CANCELLED, INFRASTRUCTURE};

/// The exit code when the lease is over, or was not to be had.
const LEASE: u8 = 5;

/// The exit code when the device is away.
const DEVICE: u8 = 6;

/// Why everything is over. The texts of the first are fragments that fit "failed to …".
#[derive(Debug, Clone)]
pub(super) enum Over {
    /// What was asked for cannot be.
    Asked(Arc<anyhow::Error>),
    /// The server or the way to it is at fault.
    Server(String),
    /// Somebody else has the device.
    Lease(String),
    /// The lease is over; why, as a sentence.
    LeaseEnded(String),
    /// The device is away; why, as a fragment.
    Device(String),
    /// Ctrl-C or SIGTERM.
    Stopped,
    /// The command of `--exec` has ended with this code.
    Command(u8),
}

impl Over {
    /// What was asked for cannot be.
    pub(super) fn asked(error: anyhow::Error) -> Self {
        Self::Asked(Arc::new(error))
    }

    /// Tells a person, and gives the code.
    pub(super) fn tell(&self) -> ExitCode {
        match self {
            Self::Asked(error) => tell(&format!("failed to {error:#}")),
            Self::Server(why) | Self::Lease(why) | Self::Device(why) => {
                tell(&format!("failed to {why}"));
            }
            Self::LeaseEnded(why) => tell(why),
            Self::Stopped | Self::Command(_) => {}
        }
        ExitCode::from(self.code())
    }

    /// The exit code.
    pub(super) fn code(&self) -> u8 {
        match self {
            Self::Asked(_) => DEFINITION,
            Self::Server(_) => INFRASTRUCTURE,
            Self::Lease(_) | Self::LeaseEnded(_) => LEASE,
            Self::Device(_) => DEVICE,
            Self::Stopped => CANCELLED,
            Self::Command(code) => *code,
        }
    }
}

/// What everybody looks at; the first reason counts.
#[derive(Debug, Clone)]
pub(super) struct Ending(Arc<watch::Sender<Option<Over>>>);

impl Default for Ending {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }
}

impl Ending {
    pub(super) fn end(&self, over: Over) {
        self.0.send_if_modified(|told| {
            let is_first = told.is_none();
            told.get_or_insert(over);
            is_first
        });
    }

    /// Resolves when everything is over.
    pub(super) async fn over(&self) -> Over {
        let mut told = self.0.subscribe();
        match told.wait_for(Option::is_some).await {
            Ok(over) => over.clone().unwrap_or(Over::Stopped),
            // The sender is this.
            Err(_) => Over::Stopped,
        }
    }

    /// Does something, unless everything is over before.
    ///
    /// # Errors
    /// It is over.
    pub(super) async fn unless<T>(&self, act: impl Future<Output = T>) -> Result<T, Over> {
        tokio::select! {
            biased;
            over = self.over() => Err(over),
            done = act => Ok(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_counts() {
        let ending = Ending::default();
        assert_eq!(ending.unless(async { 7 }).await.ok(), Some(7));
        ending.end(Over::LeaseEnded("it was taken away".into()));
        ending.clone().end(Over::Stopped);
        assert_eq!(ending.over().await.code(), LEASE);
        assert!(ending.unless(async { 7 }).await.is_err());
    }
}
