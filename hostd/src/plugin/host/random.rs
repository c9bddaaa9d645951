//! `hostd:plugin/random`.

use wasmtime::component::HasData;

use super::{PluginLinker, offers};
use offers::random::Host;

/// Most bytes of one call.
const BYTES_MAX: u32 = 64 << 10;

/// What this interface gets of a call: nothing.
pub(super) struct View;

impl HasData for View {
    type Data<'a> = View;
}

pub(super) fn link(linker: &mut PluginLinker) -> wasmtime::Result<()> {
    offers::random::add_to_linker::<_, View>(linker, |_| View)
}

impl Host for View {
    async fn bytes(&mut self, count: u32) -> wasmtime::Result<Vec<u8>> {
        if count > BYTES_MAX {
            wasmtime::bail!("random.bytes: {count} bytes asked for, the limit is {BYTES_MAX}");
        }
        let mut bytes = vec![0; count as usize];
        getrandom::fill(&mut bytes).map_err(|e| wasmtime::format_err!("random.bytes: {e}"))?;
        Ok(bytes)
    }
}
