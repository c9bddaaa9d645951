//! What is done to a device's target by one command of its pod: its power, its reset line, the level of its channels.

use std::time::Duration;

use pods::PodError;
use serde_json::{Map, json};

use crate::leases::Entered;

/// What the answer to a reset may take longer than the pulse.
const RESET_WAIT: Duration = Duration::from_secs(10);

/// Why a pod did not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It cannot, or not now.
    #[error("{0}")]
    Refused(String),
    /// It is away, or does not answer as it should.
    #[error("{0}")]
    Lost(String),
}

impl From<&PodError> for TargetError {
    fn from(error: &PodError) -> Self {
        match error {
            PodError::Refused(refusal) => Self::Refused(refusal.to_string()),
            PodError::Request(_) | PodError::LineTooLong { .. } => Self::Refused(error.to_string()),
            error => match std::error::Error::source(error) {
                Some(cause) => Self::Lost(format!("{error}: {cause}")),
                None => Self::Lost(error.to_string()),
            },
        }
    }
}

/// What a rail of the target gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supply {
    /// 1 or 2.
    pub efuse: u8,
    /// Millivolts behind its switch.
    pub mv: i64,
    /// Microamperes, signed.
    pub ua: i64,
}

impl Entered {
    /// Switch a rail of the target, 1 or 2.
    ///
    /// # Errors
    /// The pod refuses or is away.
    pub async fn switch(&self, efuse: u8, on: bool) -> Result<(), TargetError> {
        let switched = self.pod.target_power(efuse, on, None).await;
        switched.map_err(|error| TargetError::from(&error))
    }

    /// What each rail gives whose monitor answers.
    ///
    /// # Errors
    /// As above.
    pub async fn supplies(&self) -> Result<Vec<Supply>, TargetError> {
        let status = self.pod.power_status().await;
        let status = status.map_err(|error| TargetError::from(&error))?;
        let rails = [(1, status.internal), (2, status.external)].into_iter();
        let supplies = rails
            .filter(|(_, read)| read.ok)
            .map(|(efuse, read)| Supply {
                efuse,
                mv: read.bus_mv,
                ua: read.current_ua,
            });
        Ok(supplies.collect())
    }

    /// Hold the reset line for 1 to 1000 ms; done when it is free again.
    ///
    /// # Errors
    /// As above.
    pub async fn reset(&self, pulse: Duration) -> Result<(), TargetError> {
        let pulse_ms = u64::try_from(pulse.as_millis()).unwrap_or(u64::MAX);
        let command = Map::from_iter([
            ("cmd".to_owned(), json!("nrst")),
            ("pulse_ms".to_owned(), json!(pulse_ms)),
        ]);
        let answered = self.pod.command(command, pulse + RESET_WAIT).await;
        answered
            .map(drop)
            .map_err(|error| TargetError::from(&error))
    }

    /// Select the level of the channels, 1800 or 3300 mV, if none is.
    ///
    /// # Errors
    /// As above.
    pub async fn select_level(&self, mv: u32) -> Result<(), TargetError> {
        let selecting = async {
            if self.pod.la_voltage().await?.mv == 0 {
                self.pod.set_la_voltage(mv).await?;
            }
            Ok(())
        };
        selecting
            .await
            .map_err(|error: PodError| TargetError::from(&error))
    }
}
