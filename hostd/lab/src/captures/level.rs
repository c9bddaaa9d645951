//! Checks, before a capture is accepted, whether the logic analyzer's input bank is at the level it
//! needs: the pod itself would say so only at the capture's turn.

use std::time::Duration;

use pods::{Capabilities, Pod};
use serde_json::{Map, Value};

use super::plan::Level;
use super::{CaptureError, Captures};

/// Timeout for each of at most two questions, which pods answer in milliseconds. Without an answer
/// the capture is accepted and the pod decides.
const ANSWER_WAIT: Duration = Duration::from_secs(2);

impl Captures {
    /// Refuse a capture if the device now neither has nor can select its level.
    ///
    /// # Errors
    /// What to do about it.
    pub(super) async fn check_level(
        &self,
        device: &str,
        pod: &Pod,
        capabilities: &Capabilities,
        level: Level,
    ) -> Result<(), CaptureError> {
        let wanted_mv = match level {
            Level::Any => return Ok(()),
            Level::Selected => None,
            Level::Select(mv) => Some(mv),
        };
        // A capture ahead of this one may select a level, or free the channels that block it.
        let is_behind_others = |only_selecting: bool| {
            let running = self.running();
            let mut of_device = running.values().filter(|r| r.device == device);
            of_device.any(|r| r.selects_level || !only_selecting)
        };
        if is_behind_others(wanted_mv.is_none()) {
            return Ok(());
        }
        let Some(selected_mv) = selected_mv(pod).await else {
            return Ok(());
        };
        let message = match wanted_mv {
            None if selected_mv > 0 => return Ok(()),
            None => {
                let levels = levels(capabilities);
                format!(
                    "is required ({levels}): no level is selected for the logic analyzer of this device"
                )
            }
            Some(mv) if u64::from(mv) == selected_mv => return Ok(()),
            Some(_) => match used(pod).await {
                None => return Ok(()),
                Some(used) => format!(
                    "must be {selected_mv}, which is selected and cannot change while channels are in use: {used}"
                ),
            },
        };
        Err(CaptureError::Unready {
            field: "voltage_mv",
            message,
        })
    }
}

/// The levels that a board has, in words.
pub(super) fn levels(capabilities: &Capabilities) -> String {
    let known = capabilities.la_levels_mv().iter();
    let known: Vec<String> = known.map(u32::to_string).collect();
    known.join(" or ")
}

/// The selected level, 0 for none; `None` if the pod does not say.
async fn selected_mv(pod: &Pod) -> Option<u64> {
    let reply = ask(pod, "la_voltage").await?;
    reply.get("mv")?.as_u64()
}

/// The channels in use and what for; `None` if there are none.
async fn used(pod: &Pod) -> Option<String> {
    let reply = ask(pod, "la_pins").await?;
    let pins = reply.get("pins")?.as_array()?;
    let used = pins.iter().filter_map(|pin| {
        let function = pin.get("function")?.as_str()?;
        let la = pin.get("la")?.as_u64()?;
        (function != "none").then(|| format!("LA{la} ({function})"))
    });
    let used: Vec<String> = used.collect();
    (!used.is_empty()).then(|| used.join(", "))
}

async fn ask(pod: &Pod, verb: &str) -> Option<Value> {
    let command = Map::from_iter([("cmd".to_owned(), verb.into())]);
    pod.command(command, ANSWER_WAIT).await.ok()
}
