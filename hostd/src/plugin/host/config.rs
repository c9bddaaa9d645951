//! `hostd:plugin/config`: what the operator has set.

use wasmtime::component::HasData;

use super::{PluginLinker, offers};
use offers::config::Host;

/// What this interface gets of a call.
pub(super) struct View<'a>(&'a str);

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut PluginLinker) -> wasmtime::Result<()> {
    offers::config::add_to_linker::<_, View<'static>>(linker, |state| View(&state.data.config))
}

impl Host for View<'_> {
    async fn get(&mut self) -> wasmtime::Result<String> {
        Ok(self.0.to_owned())
    }
}
