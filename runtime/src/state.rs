//! What a store holds: the embedder's data for one call, and the limits of the instance.

use wasmtime::ResourceLimiter;
use wasmtime::component::{Resource, ResourceTable};

use crate::bindings::hostd::host::http_types;
use crate::stream::BodyStream;
use crate::upgrade::Upgrade;
use admission::Requester;

/// The embedder's data for one call.
pub trait CallData: Send + 'static {
    /// Holds the host resources to which the guest has handles. Whatever is still in it when the
    /// call ends was leaked: it is dropped, and the instance with it.
    fn table(&mut self) -> &mut ResourceTable;

    /// Whether the guest keeps handles from the call that is over whose things are in no [`CallData::table`]: they were
    /// leaked, too.
    fn keeps_handles(&self) -> bool {
        false
    }

    /// The requester in whose share of the guest's places the call counts. None = nobody's.
    fn requester(&self) -> Option<Requester> {
        None
    }

    /// The call has its place, however long it waited for that: what is measured from its beginning is measured from here.
    fn begin(&mut self) {}

    /// Take over from `previous`, in whose place this comes, what belongs to the instance and not to
    /// one call. Called when a call takes a used instance, and when it gives it back.
    fn inherit(&mut self, previous: &mut Self) {
        let _ = previous;
    }
}

/// Data of a store. Host interfaces are linked with `|state| &mut state.data`.
#[derive(Debug)]
pub struct State<T> {
    /// Belongs to the call in progress.
    pub data: T,
    pub(crate) limits: Limits,
}

/// Counts and bounds the linear memory and the tables of one instance.
#[derive(Debug)]
pub(crate) struct Limits {
    bytes_max: usize,
    bytes: usize,
    table_elements_max: usize,
    table_elements: usize,
}

/// Raised inside the guest when it requests more memory than allowed.
#[derive(Debug, thiserror::Error)]
#[error("grow memory to {asked_bytes} bytes: the limit is {bytes_max}")]
pub(crate) struct MemoryExceeded {
    pub(crate) asked_bytes: usize,
    pub(crate) bytes_max: usize,
}

#[derive(Debug, thiserror::Error)]
#[error("grow tables to {asked} elements: the limit is {elements_max}")]
struct TableExceeded {
    asked: usize,
    elements_max: usize,
}

impl<T> State<T> {
    pub(crate) fn new(data: T, memory_bytes_max: usize, table_elements_max: usize) -> Self {
        Self {
            data,
            limits: Limits {
                bytes_max: memory_bytes_max,
                bytes: 0,
                table_elements_max,
                table_elements: 0,
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
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let grown = desired.saturating_sub(current);
        let asked = self.table_elements.saturating_add(grown);
        let elements_max = self.table_elements_max;
        if asked > elements_max {
            return Err(TableExceeded {
                asked,
                elements_max,
            }
            .into());
        }
        self.table_elements = asked;
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
