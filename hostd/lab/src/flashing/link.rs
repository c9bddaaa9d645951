//! A pod's debug probe as the link that [`flash`] needs.

use std::sync::{Arc, Mutex, PoisonError};

use ::flash::{DapLink, LinkError};
use pods::pod::{BlockingDap, DapError};

/// Where a link leaves its session, so that it can be closed cleanly.
#[derive(Clone, Default)]
pub(super) struct Left(Arc<Mutex<Option<BlockingDap>>>);

impl Left {
    /// The session, once its link is gone.
    pub(super) fn take(&self) -> Option<BlockingDap> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A debug-probe session, until it is dropped.
pub(super) struct Link {
    dap: Option<BlockingDap>,
    left: Left,
}

impl Link {
    pub(super) fn new(dap: BlockingDap, left: Left) -> Self {
        let dap = Some(dap);
        Self { dap, left }
    }

    fn dap(&mut self) -> &mut BlockingDap {
        self.dap.as_mut().expect("left only when it is dropped")
    }
}

impl DapLink for Link {
    fn exchange(&mut self, packet: &[u8]) -> Result<Vec<u8>, LinkError> {
        self.dap().exchange(packet).map_err(told)
    }

    fn exchange_all(&mut self, packets: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, LinkError> {
        self.dap().exchange_all(packets).map_err(told)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        *self.left.0.lock().unwrap_or_else(PoisonError::into_inner) = self.dap.take();
    }
}

fn told(error: DapError) -> LinkError {
    match error {
        DapError::Cancelled => LinkError::Cancelled,
        DapError::Deadline => LinkError::Deadline,
        DapError::Pod(error) => LinkError::lost(error),
    }
}
