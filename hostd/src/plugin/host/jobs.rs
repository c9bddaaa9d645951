//! `hostd:plugin/jobs`: jobs of the organisation, to read.

use plugins::interface::Interface;
use wasmtime::component::HasData;

use super::{PluginLinker, offers};
use crate::plugin::sight::Sight;
use offers::jobs::Host;
use offers::types::Error;

pub(in crate::plugin) mod shown;
mod tail;

/// What this interface gets of a call.
pub(super) struct View<'a>(Sight<'a>);

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut PluginLinker) -> wasmtime::Result<()> {
    offers::jobs::add_to_linker::<_, View<'static>>(linker, |state| View(state.data.sight()))
}

impl Host for View<'_> {
    async fn get(&mut self, id: String) -> wasmtime::Result<Result<String, Error>> {
        Ok(self.shown(&id).await)
    }

    async fn log_tail(
        &mut self,
        id: String,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<String>, Error>> {
        Ok(self.tail(&id, limit).await)
    }
}

impl View<'_> {
    async fn shown(&self, id: &str) -> Result<String, Error> {
        self.0.acting.interface(Interface::Jobs)?;
        let job = self.0.job(id).await?;
        let recorded = self.0.recorded(&job).await?;
        let measured = self.0.measured(&job).await?;
        Ok(shown::json(&job, &recorded, &measured).to_string())
    }

    async fn tail(&self, id: &str, limit: u32) -> Result<Vec<String>, Error> {
        self.0.acting.interface(Interface::Jobs)?;
        let job = self.0.job(id).await?;
        tail::of(&self.0, &job, limit).await
    }
}
