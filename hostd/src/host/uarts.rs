//! `bench:host/uarts`: UART lines, over the WebSocket that a response becomes.

use runtime::{CallData, Upgrade};
use wasmtime::component::Resource;

use super::bindings::bench::host::uarts::{Error, Host, Setting as WitSetting, Wish};
use super::{Call, Context, internal};
use base::live::BoxedLive;
use lab::uart::{self, Setting, UartError};

impl Host for Call {
    async fn open(&mut self, device: String, wish: Wish) -> Result<Resource<Upgrade>, Error> {
        let (beside, admitted) = self.join(&device)?;
        let device = &beside.device.record.id;
        let wish = uart::Wish {
            rx: wish.rx,
            tx: wish.tx,
            baud: wish.baud,
            default: setting(wish.default),
            bank_mv: wish.bank_mv,
            after: wish.after,
        };
        let opened = self
            .services
            .uarts
            .open(device, &beside.pod, admitted, &wish);
        let client: BoxedLive = match opened.await {
            Ok(client) => Box::new(client),
            Err(error) => return Err(self.uart_error(error)),
        };
        let pushed = self.table().push(Upgrade::new(client));
        pushed.map_err(|e| Error::Other(internal(self, "uarts", &e)))
    }
}

impl Context {
    fn uart_error(&self, error: UartError) -> Error {
        match error {
            UartError::Offline => Error::Offline,
            UartError::Held(busy) => Error::Held(self.told(&busy)),
            UartError::InUse(text) => Error::InUse(text),
            UartError::Full => Error::InUse(error.to_string()),
            UartError::Conflict(Setting { rx, tx, baud }) => {
                Error::Conflict(WitSetting { rx, tx, baud })
            }
            UartError::Refused(text) => Error::Refused(text),
            error @ UartError::Pod(_) => {
                tracing::warn!(request_id = self.request_id, %error, "a UART line did not open");
                Error::Offline
            }
        }
    }
}

fn setting(asked: WitSetting) -> Setting {
    let WitSetting { rx, tx, baud } = asked;
    Setting { rx, tx, baud }
}
