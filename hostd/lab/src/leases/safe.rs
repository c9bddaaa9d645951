//! The safe state of a device: what it is left in when its consumer is gone. Outputs released, DAC
//! stopped, emulations ended, and power off unless the configuration says to keep it.

use pods::protocol::RefusalKind;
use pods::{DEFAULT_REPLY_TIMEOUT, Pod, PodError};
use serde_json::{Map, Value, json};

use super::payment::Answer;
use base::config::{LeasesConfig, PowerOnRelease};

/// The commands that bring a device into its safe state.
#[derive(Debug)]
pub(super) struct SafeState(Vec<Map<String, Value>>);

impl SafeState {
    pub(super) fn new(config: &LeasesConfig) -> Self {
        let commands = commands(config.power_on_release == PowerOnRelease::Off);
        let object = |command: Value| command.as_object().cloned().unwrap_or_default();
        Self(commands.into_iter().map(object).collect())
    }

    /// Number of its commands.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Run the command with this index; returns what its answer means and, for the log, the
    /// failure.
    pub(super) async fn send(&self, pod: &Pod, index: usize) -> (Answer, Option<PodError>) {
        let command = self.0[index].clone();
        match pod.command(command, DEFAULT_REPLY_TIMEOUT).await {
            Ok(_) => (Answer::Done, None),
            Err(PodError::Refused(refusal)) => match refusal.kind {
                // A part that is away may still be on.
                RefusalKind::Busy
                | RefusalKind::Leased { .. }
                | RefusalKind::MissingPart { is_away: true, .. } => {
                    (Answer::NotNow, Some(PodError::Refused(refusal)))
                }
                // A board without the feature has nothing to switch off.
                _ => (Answer::Done, None),
            },
            Err(error @ PodError::QueueFull { .. }) => (Answer::NotNow, Some(error)),
            Err(error) => (Answer::None, Some(error)),
        }
    }
}

/// In execution order: first what drives the target, its power last.
fn commands(power_off: bool) -> Vec<Value> {
    let mut commands = vec![
        json!({"cmd": "dac_stop"}),
        json!({"cmd": "analog_path", "path": "off"}),
        json!({"cmd": "spi_stop"}),
        json!({"cmd": "sensor_stop"}),
        json!({"cmd": "gps_stop"}),
        json!({"cmd": "can_respond", "clear": true}),
        json!({"cmd": "can_disable"}),
        json!({"cmd": "gpio", "la": "all", "mode": "off"}),
        json!({"cmd": "nrst", "assert": false}),
    ];
    if power_off {
        commands.push(json!({"cmd": "target_power", "efuse": 1, "state": 0}));
        commands.push(json!({"cmd": "target_power", "efuse": 2, "state": 0}));
    }
    commands
}
