//! The target's reset line, which the probe drives: `DAP_SWJ_Pins`.

use std::io;

use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use super::DAP_DISCONNECT;
use super::link::Link;

const DAP_CONNECT: u8 = 0x02;
const SWD: u8 = 1;
const DAP_SWJ_PINS: u8 = 0x10;
const NRESET: u8 = 1 << 7;

/// Longest pulse.
const PULSE_MS_MAX: u64 = 1_000;

/// Whether this side holds the line.
#[derive(Debug, Default)]
pub(super) struct Reset {
    is_held: bool,
}

/// The data of `nrst`.
pub(super) fn report(is_held: bool) -> Value {
    json!({"supported": true, "asserted": is_held})
}

impl Reset {
    /// Pulses, holds, releases or only tells; whether the line is held afterwards.
    pub(super) async fn apply(
        &mut self,
        link: &mut Link,
        pulse_ms: Option<u64>,
        assert: Option<bool>,
    ) -> io::Result<bool> {
        match (pulse_ms, assert) {
            (Some(pulse_ms), _) => {
                self.set(link, true).await?;
                sleep(Duration::from_millis(pulse_ms.min(PULSE_MS_MAX))).await;
                self.set(link, false).await?;
            }
            (None, Some(hold)) if hold != self.is_held => self.set(link, hold).await?,
            (None, _) => {}
        }
        Ok(self.is_held)
    }

    async fn set(&mut self, link: &mut Link, hold: bool) -> io::Result<()> {
        link.exchange(&[DAP_CONNECT, SWD]).await?;
        let level = if hold { 0 } else { NRESET };
        // Without a wait for the pin.
        link.exchange(&[DAP_SWJ_PINS, level, NRESET, 0, 0, 0, 0])
            .await?;
        if !hold {
            link.exchange(&[DAP_DISCONNECT]).await?;
        }
        self.is_held = hold;
        Ok(())
    }
}
