//! `hostd:plugin/log`: a plugin's lines, for who runs it.

use evidence::redact::Secrets;
use wasmtime::component::HasData;

use super::{PluginLinker, offers};
use crate::plugin::facts::Facts;
use crate::plugin::logs::Level as Kept;
use offers::log::{Host, Level};

/// Lines that one call may write.
const LINES_MAX: u32 = 100;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    facts: &'a Facts,
    request_id: &'a str,
    lines: &'a mut u32,
    secrets: Option<&'a Secrets>,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut PluginLinker) -> wasmtime::Result<()> {
    offers::log::add_to_linker::<_, View<'static>>(linker, |state| View {
        facts: &state.data.facts,
        request_id: &state.data.context.request_id,
        lines: &mut state.data.log_lines,
        secrets: state.data.secrets.as_ref(),
    })
}

impl Host for View<'_> {
    async fn write(&mut self, level: Level, mut message: String) -> wasmtime::Result<()> {
        *self.lines = self.lines.saturating_add(1);
        if *self.lines > LINES_MAX {
            return Ok(());
        }
        if let Some(secrets) = self.secrets {
            secrets.redact(&mut message);
        }
        let level = match level {
            Level::Debug => Kept::Debug,
            Level::Info => Kept::Info,
            Level::Warn => Kept::Warn,
            Level::Error => Kept::Error,
        };
        self.facts.logs.write(level, self.request_id, message);
        Ok(())
    }
}
