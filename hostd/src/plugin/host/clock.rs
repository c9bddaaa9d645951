//! `hostd:plugin/clock`.

use std::time::Instant;

use base::clock::Clock;
use wasmtime::component::HasData;

use super::{PluginLinker, offers};
use offers::clock::Host;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    clock: &'a Clock,
    began: Instant,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut PluginLinker) -> wasmtime::Result<()> {
    offers::clock::add_to_linker::<_, View<'static>>(linker, |state| View {
        clock: &state.data.services.clock,
        began: state.data.facts.loaded,
    })
}

impl Host for View<'_> {
    async fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(self.clock.now_ms())
    }

    async fn monotonic(&mut self) -> wasmtime::Result<u64> {
        Ok(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}
