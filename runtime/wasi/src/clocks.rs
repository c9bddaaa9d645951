//! `wasi:clocks`: the time of day, and a clock that counts from the first look at it.

use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};

use wasmtime::component::Resource;

use crate::bindings::wasi::clocks::{monotonic_clock, wall_clock};
use crate::poll::Pollable;
use crate::{View, WasiData};

/// What both clocks say of their resolution.
const RESOLUTION_NS: u32 = 1;

/// Common to all instances, so that the clock never goes back for one that changes hands.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl<W: WasiData> wall_clock::Host for View<'_, W> {
    async fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        Ok(wall_clock::Datetime {
            seconds: since.as_secs(),
            nanoseconds: since.subsec_nanos(),
        })
    }

    async fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        Ok(wall_clock::Datetime {
            seconds: 0,
            nanoseconds: RESOLUTION_NS,
        })
    }
}

impl<W: WasiData> monotonic_clock::Host for View<'_, W> {
    async fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(u64::try_from(START.elapsed().as_nanos())?)
    }

    async fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(RESOLUTION_NS.into())
    }

    async fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<Pollable>> {
        let when = START.checked_add(Duration::from_nanos(when));
        self.0.wasi().pollables.at(when)
    }

    async fn subscribe_duration(&mut self, after: u64) -> wasmtime::Result<Resource<Pollable>> {
        let when = Instant::now().checked_add(Duration::from_nanos(after));
        self.0.wasi().pollables.at(when)
    }
}
