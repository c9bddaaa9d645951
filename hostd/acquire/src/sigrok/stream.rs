//! The samples that `sigrok-cli` writes.

use std::time::Duration;

use pod_protocol::capture::Trigger;

use super::child::Child;
use super::driver::Driver;
use super::said;
use super::wav::Header;
use crate::capture::Source;
use crate::error::AcquireError;
use crate::intake::{Intake, Piece};

/// The standard output of a capture.
pub(super) struct Stream {
    child: Child,
    driver: Driver,
    /// What the instrument waits for by itself.
    waits: Option<Trigger>,
    /// Bytes that were read already.
    ahead: Vec<u8>,
}

impl Stream {
    pub(super) fn new(child: Child, driver: Driver, waits: Option<Trigger>) -> Self {
        Self {
            child,
            driver,
            waits,
            ahead: Vec::new(),
        }
    }

    /// The same behind the header of analog samples.
    pub(super) async fn behind_header(mut self) -> Result<(Self, Header), AcquireError> {
        loop {
            if let Some(header) = Header::parse(&self.ahead)? {
                self.ahead.drain(..header.bytes);
                return Ok((self, header));
            }
            match self.child.read().await? {
                Some(bytes) => self.ahead.extend(bytes),
                None => return Err(self.why(0, 0).await),
            }
        }
    }

    /// The next bytes. `None` at the end.
    pub(super) async fn bytes(&mut self) -> Result<Option<Vec<u8>>, AcquireError> {
        match self.ahead.is_empty() {
            true => self.child.read().await,
            false => Ok(Some(std::mem::take(&mut self.ahead))),
        }
    }

    /// Why there are no more samples.
    pub(super) async fn why(&mut self, found: u64, asked: u64) -> AcquireError {
        let (status, said) = self.child.ended().await;
        if found == 0 && status.is_some_and(|status| !status.success()) {
            return said::why(&self.driver, &said);
        }
        AcquireError::Ended {
            found,
            asked,
            said: said::told(&said),
        }
    }
}

impl Source for Stream {
    async fn read(&mut self) -> Result<Option<Piece>, AcquireError> {
        Ok(self.bytes().await?.map(Piece::from))
    }

    async fn ended(&mut self, intake: &Intake) -> AcquireError {
        self.why(intake.found(), intake.asked()).await
    }

    fn late(&self, intake: &Intake, waited: Duration) -> AcquireError {
        match self.waits {
            Some(trigger) if intake.found() == 0 => AcquireError::TriggerTimeout { trigger },
            _ => AcquireError::Silent { waited },
        }
    }
}
