//! What a store holds: the embedder's data for one call, and the limits of the instance.

use wasmtime::ResourceLimiter;
use wasmtime::component::{Resource, ResourceTable};

use crate::bindings::bench::host::http_types;
use crate::stream::BodyStream;
use crate::upgrade::Upgrade;
use admission::Requester;

/// Table elements (function references) one instance may hold; toolchains make a few hundred.
const TABLE_ELEMENTS_MAX: usize = 16 << 10;

/// The embedder's data for one call.
pub trait CallData: Send + 'static {
    /// Holds the host resources to which the guest has handles. Whatever is still in it when the
    /// call ends was leaked: it is dropped, and the instance with it.
    fn table(&mut self) -> &mut ResourceTable;

    /// The requester in whose share of the handler's places the call counts. None = nobody's.
    fn requester(&self) -> Option<Requester> {
        None
    }
}

/// Data of a store. Host interfaces are linked with `|state| &mut state.data`.
#[derive(Debug)]
pub struct State<T> {
    /// Belongs to the call in progress.
    pub data: T,
    pub(crate) limits: Limits,
}

/// Counts and bounds the linear memory of one instance.
#[derive(Debug)]
pub(crate) struct Limits {
    bytes_max: usize,
    bytes: usize,
}

/// Raised inside the guest when it requests more memory than allowed.
#[derive(Debug, thiserror::Error)]
#[error("grow memory to {asked_bytes} bytes: the limit is {bytes_max}")]
pub(crate) struct MemoryExceeded {
    pub(crate) asked_bytes: usize,
    pub(crate) bytes_max: usize,
}

#[derive(Debug, thiserror::Error)]
#[error("grow a table to {asked} elements: the limit is {TABLE_ELEMENTS_MAX}")]
struct TableExceeded {
    asked: usize,
}

impl<T> State<T> {
    pub(crate) fn new(data: T, memory_bytes_max: usize) -> Self {
        Self {
            data,
            limits: Limits {
                bytes_max: memory_bytes_max,
                bytes: 0,
            },
        }
    }
}

impl Limits {
    /// Current linear memory of the instance.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl ResourceLimiter for Limits {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // Summed over all memories of the instance, so that a second one gains nothing.
        let asked_bytes = self.bytes.saturating_add(desired.saturating_sub(current));
        if asked_bytes > self.bytes_max {
            return Err(MemoryExceeded {
                asked_bytes,
                bytes_max: self.bytes_max,
            }
            .into());
        }
        self.bytes = asked_bytes;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > TABLE_ELEMENTS_MAX {
            return Err(TableExceeded { asked: desired }.into());
        }
        Ok(true)
    }
}

impl<T: CallData> http_types::Host for State<T> {}

impl<T: CallData> http_types::HostBodyStream for State<T> {
    async fn drop(&mut self, stream: Resource<BodyStream>) -> wasmtime::Result<()> {
        self.data.table().delete(stream)?;
        Ok(())
    }
}

impl<T: CallData> http_types::HostUpgrade for State<T> {
    async fn drop(&mut self, upgrade: Resource<Upgrade>) -> wasmtime::Result<()> {
        self.data.table().delete(upgrade)?;
        Ok(())
    }
}
