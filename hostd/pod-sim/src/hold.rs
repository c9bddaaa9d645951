//! The capture hardware, which only one task at a time may use.

use std::sync::Arc;

use super::refuse::Refuse;
use super::shared::Shared;

/// The capture hardware while it is held; released when dropped.
pub(crate) struct Hold {
    shared: Arc<Shared>,
    since_ns: u64,
}

impl Hold {
    pub(crate) fn take(shared: &Arc<Shared>) -> Result<Self, Refuse> {
        let since_ns = shared.with(|world, now_ns| world.take_capture(now_ns).map(|()| now_ns))?;
        Ok(Self {
            shared: shared.clone(),
            since_ns,
        })
    }

    pub(crate) fn since_ns(&self) -> u64 {
        self.since_ns
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.shared.with(|world, _| world.release_capture());
    }
}
