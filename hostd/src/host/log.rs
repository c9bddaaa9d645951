//! `hostd:host/log`: handler lines in the operator's log, bounded.

use wasmtime::component::HasData;

use super::bindings::hostd::host::log::{Host, Level};
use super::{CallLinker, Context, wit};

/// Lines one request may write.
const LINES_MAX: u32 = 100;

/// Longest line in bytes.
const LINE_BYTES_MAX: usize = 4 << 10;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    lines: &'a mut u32,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::log::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        lines: &mut state.data.log_lines,
    })
}

impl Host for View<'_> {
    async fn write(&mut self, level: Level, mut message: String) {
        *self.lines += 1;
        if *self.lines > LINES_MAX {
            return;
        }
        if message.len() > LINE_BYTES_MAX {
            message.truncate(message.floor_char_boundary(LINE_BYTES_MAX));
        }
        let (request_id, handler) = (&self.context.request_id, &self.context.group);
        match level {
            Level::Debug => tracing::debug!(request_id, %handler, "{message}"),
            Level::Info => tracing::info!(request_id, %handler, "{message}"),
            Level::Warn => tracing::warn!(request_id, %handler, "{message}"),
            Level::Error => tracing::error!(request_id, %handler, "{message}"),
        }
    }
}
