//! The samples of an analyzer: several transfers under way, each filled after the other.

use std::time::Duration;

use nusb::transfer::{Bulk, Completion, ControlOut, ControlType, In, Recipient, TransferError};
use nusb::{Endpoint, Interface};
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout};

use super::Usage;
use super::boot::REQUEST_WITHIN;
use super::plugged::Plugged;
use super::timing::{self, Transfers};
use crate::capture::Source;
use crate::error::AcquireError;
use crate::intake::{Intake, Piece};

/// Starts to sample.
const REQUEST_START: u8 = 0xB1;

/// The endpoint of the samples.
const ENDPOINT: u8 = 0x82;

/// How long after its time a transfer may be filled. A host that is slower has lost samples already.
const SILENCE: Duration = Duration::from_secs(1);

/// An analyzer that samples. Dropping it stops it, which takes the analyzer a moment.
pub(super) struct Stream {
    endpoint: Endpoint<Bulk, In>,
    transfers: Transfers,
    rate_hz: u64,
    bytes_per_s: u64,
    plugged: Plugged,
    has_ended: bool,
    has_sent: bool,
    usage: OwnedMutexGuard<Usage>,
}

impl Stream {
    /// Starts an analyzer with its request to start.
    pub(super) async fn start(
        found: &Plugged,
        interface: &Interface,
        request: [u8; 3],
        rate_hz: u64,
        unit: u64,
        usage: OwnedMutexGuard<Usage>,
    ) -> Result<Self, AcquireError> {
        let endpoint = interface
            .endpoint::<Bulk, In>(ENDPOINT)
            .map_err(|error| found.explained("open", error))?;
        let bytes_per_s = rate_hz * unit;
        let mut stream = Self {
            endpoint,
            transfers: Transfers::of(bytes_per_s),
            rate_hz,
            bytes_per_s,
            plugged: found.clone(),
            has_ended: false,
            has_sent: false,
            usage,
        };
        // First somewhere to put the samples, then the samples.
        for _ in 0..stream.transfers.count {
            let buffer = stream.endpoint.allocate(stream.transfers.bytes);
            stream.endpoint.submit(buffer);
        }
        let start = ControlOut {
            control_type: ControlType::Vendor,
            recipient: Recipient::Device,
            request: REQUEST_START,
            value: 0,
            index: 0,
            data: &request,
        };
        match interface.control_out(start, REQUEST_WITHIN).await {
            Ok(()) => Ok(stream),
            Err(error) => Err(found.broken("start", error).await),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.endpoint.cancel_all();
        let dry = timing::running_dry(self.bytes_per_s);
        self.usage.idle_from = Some(Instant::now() + dry);
    }
}

/// What comes after a transfer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum After {
    /// More samples.
    More,
    /// Nothing: these were the last.
    End,
    /// Nothing ever again.
    Unplugged,
    /// Nothing, for a reason of its own.
    Failed(TransferError),
}

/// What a transfer of `asked` bytes tells that ended with `found` of them. The chip sends full packets only; whatever is
/// short is the end of its samples, and what follows does not follow at once.
pub(super) fn after(asked: usize, found: usize, status: Result<(), TransferError>) -> After {
    match status {
        Ok(()) if asked <= found => After::More,
        Ok(()) => After::End,
        Err(TransferError::Disconnected) => After::Unplugged,
        Err(error) => After::Failed(error),
    }
}

impl Source for Stream {
    async fn read(&mut self) -> Result<Option<Piece>, AcquireError> {
        if self.has_ended {
            return Ok(None);
        }
        let patience = 2 * self.transfers.each + SILENCE;
        let Ok(completion) = timeout(patience, self.endpoint.next_complete()).await else {
            self.has_ended = true;
            return Ok(None);
        };
        let Completion {
            mut buffer,
            actual_len,
            status,
        } = completion;
        let samples = buffer.get(..actual_len).unwrap_or_default().to_vec();
        self.has_sent |= !samples.is_empty();
        match after(self.transfers.bytes, actual_len, status) {
            After::More => {
                buffer.clear();
                buffer.set_requested_len(self.transfers.bytes);
                self.endpoint.submit(buffer);
            }
            After::End => self.has_ended = true,
            After::Unplugged => return Err(self.plugged.unplugged()),
            After::Failed(error) => return Err(self.plugged.broken("read from", error).await),
        }
        Ok(Some(samples.into()))
    }

    async fn ended(&mut self, intake: &Intake) -> AcquireError {
        if self.plugged.has_left().await {
            return self.plugged.unplugged();
        }
        if !self.has_sent {
            return self.late(intake, SILENCE);
        }
        AcquireError::Overflow {
            found: intake.found(),
            asked: intake.asked(),
            rate_hz: self.rate_hz,
        }
    }

    fn late(&self, _: &Intake, waited: Duration) -> AcquireError {
        AcquireError::Silent { waited }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_transfers_are_followed_by_more() {
        assert_eq!(after(1024, 1024, Ok(())), After::More);
        for found in [0, 1, 512, 1023] {
            assert_eq!(after(1024, found, Ok(())), After::End, "{found}");
        }
        let status = |error| after(1024, 1024, Err(error));
        assert_eq!(status(TransferError::Disconnected), After::Unplugged);
        let failed = After::Failed(TransferError::Stall);
        assert_eq!(status(TransferError::Stall), failed);
    }
}
