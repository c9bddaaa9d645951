//! Devices that both the grant and the caller may use.

use serde_json::Value;

use crate::Error;
#[cfg(target_arch = "wasm32")]
use crate::bindings::handler::hostd::plugin::devices as wit;
#[cfg(not(target_arch = "wasm32"))]
use crate::testing::with;

/// A device as it was when it was asked for.
#[derive(Debug)]
pub struct Device {
    #[cfg(target_arch = "wasm32")]
    seen: wit::Device,
    #[cfg(not(target_arch = "wasm32"))]
    seen: crate::testing::Device,
}

impl Device {
    /// ULID.
    #[must_use]
    pub fn id(&self) -> String {
        on!(self.seen.id(), self.seen.id.clone())
    }

    #[must_use]
    pub fn name(&self) -> String {
        on!(self.seen.name(), self.seen.name.clone())
    }

    /// `online`, `offline`, `updating`, `quarantined` or `degraded`. More may come.
    #[must_use]
    pub fn state(&self) -> String {
        on!(self.seen.state(), self.seen.state.clone())
    }

    /// Everything that is known of it.
    #[must_use]
    pub fn json(&self) -> Value {
        let text = on!(self.seen.json(), self.seen.json.to_string());
        serde_json::from_str(&text).unwrap_or_default()
    }
}

/// All of them, by name.
///
/// # Errors
/// It was not granted, or the caller lacks the scope.
pub fn list() -> Result<Vec<Device>, Error> {
    on!(
        Ok(wit::list()?
            .into_iter()
            .map(|seen| Device { seen })
            .collect()),
        Ok(with(|double| double
            .devices
            .iter()
            .cloned()
            .map(|seen| Device { seen })
            .collect()))
    )
}

/// One by its id or name.
///
/// # Errors
/// As [`list`], or `not_found`.
pub fn get(device: &str) -> Result<Device, Error> {
    on!(
        Ok(Device {
            seen: wit::get(device)?
        }),
        with(|double| {
            let seen = double.device(device)?.clone();
            Ok(Device { seen })
        })
    )
}

/// Send one command of the pod protocol and return the reply's `data`.
///
/// # Errors
/// As [`get`], or the device is offline, leased, refuses, or does not answer in time.
pub fn command(device: &str, command: &Value, timeout_ms: u32) -> Result<Value, Error> {
    let text = on!(
        wit::command(device, &command.to_string(), timeout_ms).map_err(Error::from),
        {
            let _ = timeout_ms;
            with(|double| double.command(device, command)).map(|value| value.to_string())
        }
    )?;
    serde_json::from_str(&text).map_err(|error| Error::new("bad_answer", error.to_string()))
}
