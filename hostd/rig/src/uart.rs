//! The target's serial line.

use std::sync::Arc;
use std::time::Duration;

use jobs::{BenchError, Cancel, Link, Until};
use lab::leases::Entered;
use lab::uart::{Parity, Setting, Tap, UartError, Uarts, Wish};
use pipeline::plan::Uart;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::device::{Rig, check, within};
use crate::errors::{of_tap, of_uart};

/// A line that is open.
struct Line {
    /// Where it listens and how, for people.
    what: String,
    handle: Handle,
    uarts: Arc<Uarts>,
    device: String,
    /// None once it is being dropped.
    tap: Option<Tap>,
}

impl Rig {
    pub(crate) fn open(&self, uart: &Uart, until: &Until<'_>) -> Result<Box<dyn Link>, BenchError> {
        let wish = self.wish(uart)?;
        let what = format!("LA{}, {} baud", wish.default.rx, wish.default.baud);
        let mut opened = self.try_open(&wish, until)?;
        if matches!(opened, Err(UartError::Conflict(_))) {
            // Nobody may have it any more, and the line be about to end.
            let uarts = &self.lab.uarts;
            within(&self.lab.handle, until, async {
                uarts.give_way(&self.hold.device).await;
                Ok(())
            })?;
            opened = self.try_open(&wish, until)?;
        }
        let tap = opened.map_err(|error| of_uart(&error))?;
        Ok(Box::new(Line {
            what,
            handle: self.lab.handle.clone(),
            uarts: Arc::clone(&self.lab.uarts),
            device: self.hold.device.clone(),
            tap: Some(tap),
        }))
    }

    fn try_open(
        &self,
        wish: &Wish,
        until: &Until<'_>,
    ) -> Result<Result<Tap, UartError>, BenchError> {
        let Entered {
            device, pod, visit, ..
        } = self.enter()?;
        let uarts = &self.lab.uarts;
        within(&self.lab.handle, until, async {
            let opened = uarts.open(&device.record.id, &pod, Ok(visit), wish).await;
            Ok(opened.map(lab::uart::Client::tap))
        })
    }

    fn wish(&self, uart: &Uart) -> Result<Wish, BenchError> {
        let wiring = &self.hold.wiring;
        let channel = |asked: Option<u64>, wired: Option<u8>, role: &str| {
            let asked = asked.and_then(|channel| u8::try_from(channel).ok());
            asked.or(wired).ok_or_else(|| {
                BenchError::Refused(format!("its wiring has no {role}; name `channels`"))
            })
        };
        let rx = channel(uart.channels.map(|c| c.rx), wiring.uart_rx, "uart_rx")?;
        let tx = channel(uart.channels.map(|c| c.tx), wiring.uart_tx, "uart_tx")?;
        let baud = u32::try_from(uart.baud).unwrap_or(u32::MAX);
        Ok(Wish {
            rx: Some(rx),
            tx: Some(tx),
            baud: Some(baud),
            parity: uart.parity.map(|parity| match parity {
                pipeline::Parity::None => Parity::None,
                pipeline::Parity::Even => Parity::Even,
                pipeline::Parity::Odd => Parity::Odd,
            }),
            default: Setting {
                rx,
                tx,
                baud,
                parity: None,
            },
            bank_mv: wiring.la_mv,
            after: None,
        })
    }
}

impl Line {
    fn tap(&self) -> Result<&Tap, BenchError> {
        let closed = || BenchError::Lost("the line is closed".to_owned());
        self.tap.as_ref().ok_or_else(closed)
    }
}

impl Link for Line {
    fn what(&self) -> String {
        self.what.clone()
    }

    fn write(&self, bytes: &[u8], until: &Until<'_>) -> Result<(), BenchError> {
        let tap = self.tap()?;
        within(&self.handle, until, async {
            tap.write(bytes).await.map_err(|end| of_tap(&end))
        })
    }

    fn read(&self, wait: Duration, cancel: &Cancel) -> Result<Vec<u8>, BenchError> {
        check(cancel)?;
        let tap = self.tap()?;
        let read = self
            .handle
            .block_on(async { timeout(wait, tap.read()).await });
        match read {
            Ok(read) => read.map_err(|end| of_tap(&end)),
            Err(_) => Ok(Vec::new()),
        }
    }
}

impl Drop for Line {
    /// The pod is free for whoever comes next, and does not wait for somebody to come back.
    fn drop(&mut self) {
        self.tap = None;
        let (uarts, device) = (Arc::clone(&self.uarts), self.device.clone());
        self.handle
            .block_on(async move { uarts.give_way(&device).await });
    }
}
