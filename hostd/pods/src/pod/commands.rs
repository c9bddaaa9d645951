//! Commands as functions, with their answers as types.
//!
//! Each may take [`DEFAULT_REPLY_TIMEOUT`].

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{DEFAULT_REPLY_TIMEOUT, Pod, PodError, PodFacts, ProtocolError};

mod update;

pub use update::{OTA_PART_BYTES_MAX, OTA_PART_TIMEOUT, OtaProgress, OtaTarget};

/// A request with its fields.
pub(super) fn request<const N: usize>(
    verb: &str,
    fields: [(&str, Value); N],
) -> Map<String, Value> {
    let mut request = Map::new();
    request.insert("cmd".to_owned(), verb.into());
    request.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    request
}

/// The voltage of the logic-analyzer bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct LaVoltage {
    /// Selected, in mV; 0 when none is.
    pub mv: u32,
    /// Measured, in mV; 0 or less, or absent, if the board cannot measure it.
    #[serde(default)]
    pub(crate) readback_mv: i32,
}

/// What a rail's monitor reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct RailReading {
    /// The monitor answered; without, the rest is 0.
    pub ok: bool,
    /// Voltage behind the switch, in mV.
    pub bus_mv: i64,
    /// Current, signed, in µA.
    pub current_ua: i64,
}

/// Voltage and current of both rails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct PowerStatus {
    /// The pod's own 5 V, rail 1.
    pub internal: RailReading,
    /// The supply that is plugged into the pod, rail 2.
    pub external: RailReading,
}

impl Pod {
    /// Has the pod hold the target's receive line low for so many milliseconds, 1 to
    /// [`UART_BREAK_MS_MAX`](pod_protocol::UART_BREAK_MS_MAX), while a UART session is open.
    ///
    /// # Errors
    /// As [`command`](Self::command); older firmware refuses it as unknown.
    pub async fn uart_break(&self, ms: u64) -> Result<(), PodError> {
        self.ask("uart_break", [("ms", ms.into())]).await.map(drop)
    }

    async fn ask<const N: usize>(
        &self,
        verb: &str,
        fields: [(&str, Value); N],
    ) -> Result<Value, PodError> {
        self.command(request(verb, fields), DEFAULT_REPLY_TIMEOUT)
            .await
    }

    async fn ask_typed<T: DeserializeOwned, const N: usize>(
        &self,
        verb: &'static str,
        fields: [(&str, Value); N],
    ) -> Result<T, PodError> {
        let data = self.ask(verb, fields).await?;
        read(verb, data)
    }

    /// Requests the status again; [`status`](Self::status) returns the new facts from then on.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn refresh(&self) -> Result<Arc<PodFacts>, PodError> {
        self.ask("status", []).await?;
        self.status().ok_or_else(PodError::closed)
    }

    /// The voltage of the LA bank.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn la_voltage(&self) -> Result<LaVoltage, PodError> {
        self.ask_typed("la_voltage", []).await
    }

    /// Selects the voltage of the LA bank: 1800 or 3300 mV.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn set_la_voltage(&self, mv: u32) -> Result<LaVoltage, PodError> {
        self.ask_typed("la_voltage", [("mv", mv.into())]).await
    }

    /// Voltage and current of both rails.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn power_status(&self) -> Result<PowerStatus, PodError> {
        self.ask_typed("power_status", []).await
    }

    /// Switches a target supply (1 or 2), after `delay` if given: the pod waits, but answers at
    /// once.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn target_power(
        &self,
        efuse: u8,
        on: bool,
        delay: Option<Duration>,
    ) -> Result<(), PodError> {
        let mut command = request(
            "target_power",
            [("efuse", efuse.into()), ("state", u8::from(on).into())],
        );
        if let Some(delay) = delay {
            let delay_ms = u32::try_from(delay.as_millis()).unwrap_or(u32::MAX).max(1);
            command.insert("delay_ms".to_owned(), delay_ms.into());
        }
        self.command(command, DEFAULT_REPLY_TIMEOUT).await.map(drop)
    }
}

fn read<T: DeserializeOwned>(command: &'static str, data: Value) -> Result<T, PodError> {
    serde_json::from_value(data).map_err(|source| ProtocolError::Data { command, source }.into())
}

/// Bytes as the protocol carries them in a field.
fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
