//! Commands as functions, with their answers as types.
//!
//! Each may take [`DEFAULT_REPLY_TIMEOUT`], and what it waits for on purpose beyond it (see
//! [`verbs::deliberate_wait`](pod_protocol::verbs::deliberate_wait)): of these only a reset pulse
//! answers late, after the pulse.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
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
    /// Measured, in mV; 0 or less, or absent, when the board cannot tell.
    #[serde(default)]
    pub readback_mv: i32,
}

/// One channel of the pin table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Pin {
    /// Channel, from 1.
    pub la: u8,
    /// Its owner: `none`, `gpio`, `uart_rx`, …
    pub function: String,
    /// GPIO mode, when it is one.
    #[serde(default)]
    pub gpio: Option<String>,
    /// Commanded level, when it has one.
    #[serde(default)]
    pub level: Option<u8>,
}

/// Who owns which channel, and what is on the wires.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PinTable {
    /// The channels, ascending.
    pub pins: Vec<Pin>,
    /// Live levels, bit n−1 for LA n; `None` when the gateware cannot tell.
    #[serde(default)]
    pub levels: Option<u16>,
}

/// How a GPIO channel works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpioMode {
    /// Drives both levels.
    Output,
    /// Drives low only.
    OpenDrain,
    /// Drives nothing.
    Input,
}

impl GpioMode {
    fn name(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::OpenDrain => "open_drain",
            Self::Input => "input",
        }
    }
}

/// One target supply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct RailStatus {
    /// Switched on.
    #[serde(deserialize_with = "flag")]
    pub enabled: bool,
    /// Tripped.
    #[serde(deserialize_with = "flag")]
    pub fault: bool,
    /// Its output voltage is good.
    #[serde(deserialize_with = "flag")]
    pub valid: bool,
}

/// Both target supplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct TargetStatus {
    /// Internal 5 V.
    pub efuse1: RailStatus,
    /// External supply.
    pub efuse2: RailStatus,
}

/// One power monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct PowerReading {
    /// The monitor answers.
    #[serde(deserialize_with = "flag")]
    pub ok: bool,
    /// Bus voltage in mV.
    pub bus_mv: i64,
    /// Current in µA, signed.
    pub current_ua: i64,
}

/// The power monitors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct PowerStatus {
    /// Internal 5 V.
    pub internal: PowerReading,
    /// External supply.
    pub external: PowerReading,
    /// The pod itself, on boards that measure it.
    #[serde(default)]
    pub pod: Option<PowerReading>,
}

/// Pods say 0 and 1, or false and true.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Flag {
        Bool(bool),
        Number(u8),
    }
    Ok(match Flag::deserialize(deserializer)? {
        Flag::Bool(flag) => flag,
        Flag::Number(number) => number != 0,
    })
}

impl Pod {
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

    /// Whether it is there.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn ping(&self) -> Result<(), PodError> {
        self.ask("ping", []).await.map(drop)
    }

    /// Asks for its status anew; [`status`](Self::status) gives the new facts from then on.
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

    /// The pin table.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn la_pins(&self) -> Result<PinTable, PodError> {
        self.ask_typed("la_pins", []).await
    }

    /// Makes channels GPIO, all or none; `level` is the first one of an output.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn gpio_configure(
        &self,
        channels: &[u8],
        mode: GpioMode,
        level: Option<bool>,
    ) -> Result<(), PodError> {
        let mut command = request(
            "gpio",
            [("la", channels.into()), ("mode", mode.name().into())],
        );
        if let Some(level) = level {
            command.insert("level".to_owned(), u8::from(level).into());
        }
        self.command(command, DEFAULT_REPLY_TIMEOUT).await.map(drop)
    }

    /// Sets the level of GPIO outputs.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn gpio_set(&self, channels: &[u8], level: bool) -> Result<(), PodError> {
        let fields = [("la", channels.into()), ("level", u8::from(level).into())];
        self.ask("gpio", fields).await.map(drop)
    }

    /// Releases all GPIO channels; other owners keep theirs.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn gpio_release_all(&self) -> Result<(), PodError> {
        let fields = [("la", "all".into()), ("mode", "off".into())];
        self.ask("gpio", fields).await.map(drop)
    }

    /// Switches a target supply (1 or 2), after `delay` when there is one: the pod waits, the
    /// answer comes at once.
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

    /// The target supplies.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn target_status(&self) -> Result<TargetStatus, PodError> {
        self.ask_typed("target_status", []).await
    }

    /// The power monitors.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn power_status(&self) -> Result<PowerStatus, PodError> {
        self.ask_typed("power_status", []).await
    }

    /// Pulls the reset line low for `pulse` (1 to 1000 ms) and returns when it is high again.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn reset_pulse(&self, pulse: Duration) -> Result<(), PodError> {
        let pulse_ms = u32::try_from(pulse.as_millis()).unwrap_or(u32::MAX).max(1);
        let fields = [("pulse_ms", pulse_ms.into())];
        self.ask("nrst", fields).await.map(drop)
    }

    /// Pulls the reset line low, or lets it go.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn reset_assert(&self, asserted: bool) -> Result<(), PodError> {
        self.ask("nrst", [("assert", asserted.into())])
            .await
            .map(drop)
    }

    /// Stops generator, replay and control loop; the output holds its level.
    ///
    /// # Errors
    /// [`PodError`].
    pub async fn dac_stop(&self) -> Result<(), PodError> {
        self.ask("dac_stop", []).await.map(drop)
    }
}

fn read<T: DeserializeOwned>(command: &'static str, data: Value) -> Result<T, PodError> {
    serde_json::from_value(data).map_err(|source| ProtocolError::Data { command, source }.into())
}

/// Bytes as the protocol carries them in a field.
fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
