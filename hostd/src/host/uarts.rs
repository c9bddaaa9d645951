//! `hostd:host/uarts`: UART lines, over the WebSocket that a response becomes.

use std::sync::Arc;

use runtime::Upgrade;
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::uarts::{Error, Host, Setting as WitSetting, Wish};
use super::door::Door;
use super::{CallLinker, Context, internal, wit};
use base::live::BoxedLive;
use lab::uart::{self, Setting, UartError, Uarts};

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    door: Door<'a>,
    uarts: &'a Arc<Uarts>,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::uarts::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        door: Door::new(&state.data.context, &state.data.services),
        uarts: &state.data.services.uarts,
    })
}

impl Host for View<'_> {
    async fn open(&mut self, device: String, wish: Wish) -> Result<Resource<Upgrade>, Error> {
        let (beside, admitted) = self.door.join(&device)?;
        let device = &beside.device.record.id;
        let wish = uart::Wish {
            rx: wish.rx,
            tx: wish.tx,
            baud: wish.baud,
            parity: None,
            default: setting(wish.default),
            bank_mv: wish.bank_mv,
            after: wish.after,
        };
        let opened = self.uarts.open(device, &beside.pod, admitted, &wish);
        let client: BoxedLive = match opened.await {
            Ok(client) => Box::new(client),
            Err(error) => return Err(self.uart_error(error)),
        };
        let pushed = self.table.push(Upgrade::new(client));
        pushed.map_err(|e| Error::Other(internal(self.context, "uarts", &e)))
    }
}

impl View<'_> {
    fn uart_error(&self, error: UartError) -> Error {
        match error {
            UartError::Offline => Error::Offline,
            UartError::Held(busy) => Error::Held(self.door.told(&busy)),
            UartError::InUse(text) => Error::InUse(text),
            UartError::Full => Error::InUse(error.to_string()),
            UartError::Conflict(Setting { rx, tx, baud, .. }) => {
                Error::Conflict(WitSetting { rx, tx, baud })
            }
            UartError::Refused(text) => Error::Refused(text),
            error @ UartError::Pod(_) => {
                tracing::warn!(request_id = self.context.request_id, %error, "a UART line did not open");
                Error::Offline
            }
        }
    }
}

fn setting(asked: WitSetting) -> Setting {
    let WitSetting { rx, tx, baud } = asked;
    let parity = None;
    Setting {
        rx,
        tx,
        baud,
        parity,
    }
}
