//! The safe state of a device: what is left when its consumer is gone. Outputs released, DAC
//! stopped, emulations ended, and power off unless the configuration says to keep it.

use std::sync::Arc;
use std::time::Duration;

use pods::{DEFAULT_REPLY_TIMEOUT, Pod, PodError};
use serde_json::{Map, Value, json};
use tracing::{info, warn};

use crate::bench::Bench;
use crate::captures::Captures;
use crate::config::{LeasesConfig, PowerOnRelease};

/// Time for all of it while the next one waits for the device.
const REACH_WAIT: Duration = Duration::from_secs(10);

/// How long a pod that could not be reached is waited for, to make it safe after all.
const RETURN_WAIT: Duration = Duration::from_secs(600);

/// Brings devices into their safe state.
#[derive(Debug)]
pub(super) struct SafeState {
    power_off: bool,
    bench: Arc<Bench>,
    captures: Arc<Captures>,
}

impl SafeState {
    pub(super) fn new(config: &LeasesConfig, bench: Arc<Bench>, captures: Arc<Captures>) -> Self {
        Self {
            power_off: config.power_on_release == PowerOnRelease::Off,
            bench,
            captures,
        }
    }

    /// Make a device safe, or leave that to a task that waits for its pod to come back.
    pub(super) async fn reach(&self, device: &str) {
        self.captures.cancel_device(device);
        let Some(pod) = self.bench.pod_of(device) else {
            return;
        };
        let commands = commands(self.power_off);
        let reached = tokio::time::timeout(REACH_WAIT, run(&pod, &commands)).await;
        let cause = match reached {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the pod is too slow".to_owned(),
        };
        warn!(
            device,
            cause, "failed to put a device into its safe state; trying when it is back"
        );
        let device = device.to_owned();
        tokio::spawn(async move {
            let back = pod.wait_online(RETURN_WAIT).await;
            if back.is_ok() && run(&pod, &commands).await.is_ok() {
                info!(device, "device is in its safe state after all");
            }
        });
    }
}

/// In the order in which they are run: first what drives the target, its power last.
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

/// Run all commands. A refusal is fine: a board without the feature has nothing to switch off.
async fn run(pod: &Pod, commands: &[Value]) -> Result<(), PodError> {
    for command in commands {
        let command: Map<String, Value> = command.as_object().cloned().unwrap_or_default();
        match pod.command(command, DEFAULT_REPLY_TIMEOUT).await {
            Ok(_) | Err(PodError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
