//! A relay behind a serial port: some bytes switch it on, others off.

use std::path::Path;

use pod_protocol::{Parity, UART_BAUD_MAX, UART_BAUD_MIN};
use tokio::time::{Duration, timeout};

use super::source::Trouble;
use crate::tty::{Setting, Tty};

/// Most bytes of a command.
const COMMAND_BYTES_MAX: usize = 64;

const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// Enough to see whether the port is still there.
const LOOK: Duration = Duration::from_millis(1);

/// Where the relay is and what it is told.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    path: String,
    baud: u32,
    on: Vec<u8>,
    off: Vec<u8>,
}

impl Plan {
    pub(super) fn new(path: &str, baud: u32, on: &str, off: &str) -> Result<Self, String> {
        if !(UART_BAUD_MIN..=UART_BAUD_MAX).contains(&baud) {
            return Err(format!(
                "power.baud must be {UART_BAUD_MIN} to {UART_BAUD_MAX}"
            ));
        }
        let bytes = |key: &str, digits: &str| {
            let bytes = hex::decode(digits).unwrap_or_default();
            match (1..=COMMAND_BYTES_MAX).contains(&bytes.len()) {
                true => Ok(bytes),
                false => Err(format!(
                    "{key} `{digits}` is not 1 to {COMMAND_BYTES_MAX} bytes of two hexadecimal digits each"
                )),
            }
        };
        Ok(Self {
            path: path.to_owned(),
            baud,
            on: bytes("power.on", on)?,
            off: bytes("power.off", off)?,
        })
    }
}

/// A relay whose port is open.
#[derive(Debug)]
pub(super) struct Relay {
    plan: Plan,
    port: Tty,
}

impl Relay {
    pub(super) async fn open(plan: &Plan) -> Result<Self, Trouble> {
        let setting = Setting {
            baud: plan.baud,
            parity: Parity::None,
        };
        let port = Tty::open(Path::new(&plan.path), setting).await?;
        Ok(Self {
            plan: plan.clone(),
            port,
        })
    }

    /// Forgets what it said, if it says anything.
    pub(super) async fn look(&mut self) -> Result<(), Trouble> {
        let mut said = [0; COMMAND_BYTES_MAX];
        match timeout(LOOK, self.port.read(&mut said)).await {
            Ok(Ok(0)) => Err(Trouble::Away(format!("{} was unplugged", self.plan.path))),
            Ok(Err(error)) => Err(error.into()),
            Ok(Ok(_)) | Err(_) => Ok(()),
        }
    }

    pub(super) async fn switch(&mut self, on: bool) -> Result<(), Trouble> {
        let mut bytes: &[u8] = if on { &self.plan.on } else { &self.plan.off };
        while !bytes.is_empty() {
            let wrote = timeout(WRITE_TIMEOUT, self.port.write(bytes)).await;
            let late = || Trouble::Away(format!("{} takes nothing", self.plan.path));
            bytes = &bytes[wrote.map_err(|_| late())??..];
        }
        Ok(())
    }
}
