//! One instance of a guest in a store of its own.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use wasmtime::{Store, UpdateDeadline};

use crate::engine::Share;
use crate::exports::{Exports, Invoke};
use crate::failure::{CallError, Failure};
use crate::meter::Meter;
use crate::metrics::Counters;
use crate::options::GuestOptions;
use crate::state::{CallData, State};

/// Host resources that one guest may hold at once.
const COMPONENT_HANDLES_MAX: usize = 4_096;

pub(crate) struct Instance<T: CallData, X> {
    store: Store<State<T>>,
    exports: X,
    meter: Arc<Meter>,
    counters: Arc<Counters>,
    calls: u32,
}

impl<T: CallData, X: Exports<T>> Instance<T, X> {
    /// Make an instance whose store holds `data`. A component may run code when it starts, so
    /// this has the same limits as a call.
    pub(crate) async fn new(
        pre: &X::Pre,
        engine: &crate::Engine,
        options: &GuestOptions,
        counters: &Arc<Counters>,
        deadline: Instant,
        data: T,
    ) -> Result<Self, Failure> {
        let Share { table_elements, .. } = engine.share();
        let state = State::new(data, options.memory_bytes_max, *table_elements);
        let mut store = Store::new(engine.inner(), state);
        store.limiter(|state| &mut state.limits);
        store.set_hostcall_fuel(options.transfer_bytes_max());
        store.set_max_component_handles(COMPONENT_HANDLES_MAX);
        let meter = Arc::new(Meter::new(options.compute_ms_max));
        let watching = meter.clone();
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(move |_| {
            watching.check()?;
            crate::threads::computes();
            // Yield the thread to other tasks, then continue for one more tick.
            Ok(UpdateDeadline::Yield(1))
        });
        meter.start(deadline);
        let exports = meter
            .watch(pin!(X::instantiate(pre, &mut store)))
            .await
            .map_err(|e| Failure {
                backtrace: crate::backtrace::render(&e),
                error: CallError::from_instantiation(e, options),
            })?;
        counters.created();
        Ok(Self {
            store,
            exports,
            meter,
            counters: counters.clone(),
            calls: 0,
        })
    }

    /// Make `call` with the data that the store holds.
    pub(crate) async fn call<I: Invoke<T, X>>(
        &mut self,
        call: I,
        options: &GuestOptions,
        deadline: Instant,
    ) -> Result<I::Answer, Failure> {
        self.meter.start(deadline);
        self.store.set_epoch_deadline(1);
        let answer = {
            let call = pin!(call.invoke(&self.exports, &mut self.store));
            self.meter.watch(call).await
        };
        answer.map_err(|e| Failure {
            backtrace: crate::backtrace::render(&e),
            error: CallError::from_guest(e, options),
        })
    }
}

impl<T: CallData, X> Instance<T, X> {
    pub(crate) fn data(&mut self) -> &mut T {
        &mut self.store.data_mut().data
    }

    /// Put `data` into the store and return what was there.
    pub(crate) fn swap(&mut self, mut data: T) -> T {
        let held = self.data();
        data.inherit(held);
        std::mem::replace(held, data)
    }

    /// Count a call, for the instance's retirement.
    pub(crate) fn used(&mut self) {
        self.calls += 1;
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
        let data = self.data();
        !data.table().is_empty() || data.keeps_handles()
    }
}

impl<T: CallData, X> fmt::Debug for Instance<T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("calls", &self.calls)
            .field("memory_bytes", &self.memory_bytes())
            .finish_non_exhaustive()
    }
}

impl<T: CallData, X> Drop for Instance<T, X> {
    fn drop(&mut self) {
        self.counters.retired();
    }
}
