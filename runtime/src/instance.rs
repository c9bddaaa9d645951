//! One instance of a handler in a store of its own.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use wasmtime::{Store, UpdateDeadline};

use crate::bindings;
use crate::failure::CallError;
use crate::meter::Meter;
use crate::metrics::Counters;
use crate::options::HandlerOptions;
use crate::reply::{self, Reply};
use crate::state::{CallData, State};
use crate::{Request, Route};

/// Host resources that one guest may hold at once.
const COMPONENT_HANDLES_MAX: usize = 4_096;

/// Bytes a guest may hand to the host in one call beyond a response body: arguments, headers.
/// Without this limit a list of many pointers to one long string would grow without bound on our
/// side.
const TRANSFER_BYTES_EXTRA: usize = 2 << 20;

/// A failure and where in the guest it happened.
pub(crate) struct Failure {
    pub(crate) error: CallError,
    pub(crate) backtrace: Option<String>,
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self {
            error,
            backtrace: None,
        }
    }
}

pub(crate) struct Instance<T: CallData> {
    store: Store<State<T>>,
    guest: bindings::Handler,
    meter: Arc<Meter>,
    counters: Arc<Counters>,
    calls: u32,
}

impl<T: CallData> Instance<T> {
    /// Make an instance whose store holds `data`. A component may run code when it starts, so
    /// this has the same limits as a call.
    pub(crate) async fn new(
        pre: &bindings::HandlerPre<State<T>>,
        options: &HandlerOptions,
        counters: &Arc<Counters>,
        deadline: Instant,
        data: T,
    ) -> Result<Self, Failure> {
        let state = State::new(data, options.memory_bytes_max);
        let mut store = Store::new(pre.engine(), state);
        store.limiter(|state| &mut state.limits);
        store.set_hostcall_fuel(options.response_bytes_max + TRANSFER_BYTES_EXTRA);
        store.set_max_component_handles(COMPONENT_HANDLES_MAX);
        let meter = Arc::new(Meter::new(options.compute_ms_max));
        let watching = meter.clone();
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(move |_| {
            watching.check()?;
            // Yield the thread to other tasks, then continue for one more tick.
            Ok(UpdateDeadline::Yield(1))
        });
        meter.start(deadline);
        let guest = meter
            .watch(pin!(pre.instantiate_async(&mut store)))
            .await
            .map_err(|e| Failure {
                backtrace: crate::backtrace::render(&e),
                error: CallError::from_instantiation(e, options),
            })?;
        counters.created();
        Ok(Self {
            store,
            guest,
            meter,
            counters: counters.clone(),
            calls: 0,
        })
    }

    /// The handler's list of endpoints.
    pub(crate) async fn routes(&mut self, options: &HandlerOptions) -> Result<Vec<Route>, Failure> {
        let call = pin!(self.guest.bench_host_http().call_routes(&mut self.store));
        let routes = self.meter.watch(call).await;
        routes.map_err(|e| guest_failure(e, options))
    }

    /// Answer `request` with the data that the store holds.
    pub(crate) async fn handle(
        &mut self,
        request: &Request,
        options: &HandlerOptions,
        deadline: Instant,
    ) -> Result<Reply, Failure> {
        self.calls += 1;
        self.meter.start(deadline);
        self.store.set_epoch_deadline(1);
        let response = {
            let http = self.guest.bench_host_http();
            let call = pin!(http.call_handle(&mut self.store, request));
            self.meter.watch(call).await
        };
        let response = response.map_err(|e| guest_failure(e, options))?;
        let data = &mut self.store.data_mut().data;
        Ok(reply::check(response, data, options.response_bytes_max)?)
    }

    /// Put `data` into the store and return what was there.
    pub(crate) fn swap(&mut self, data: T) -> T {
        std::mem::replace(&mut self.store.data_mut().data, data)
    }

    pub(crate) fn calls(&self) -> u32 {
        self.calls
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.store.data().limits.bytes()
    }

    /// Whether the guest kept handles beyond the call. In a later call they would name resources
    /// of another request.
    pub(crate) fn leaked(&mut self) -> bool {
        !self.store.data_mut().data.table().is_empty()
    }
}

impl<T: CallData> fmt::Debug for Instance<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("calls", &self.calls)
            .field("memory_bytes", &self.memory_bytes())
            .finish_non_exhaustive()
    }
}

impl<T: CallData> Drop for Instance<T> {
    fn drop(&mut self) {
        self.counters.retired();
    }
}

fn guest_failure(error: wasmtime::Error, options: &HandlerOptions) -> Failure {
    Failure {
        backtrace: crate::backtrace::render(&error),
        error: CallError::from_guest(error, options),
    }
}
