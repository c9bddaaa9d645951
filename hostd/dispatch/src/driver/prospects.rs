//! What would be in the way of a job that is not submitted yet.

use std::collections::HashMap;

use scheduler::{Blocked, DeviceId, misfits, unmatched};

use super::Driver;
use crate::checked::{Doubt, Warning};
use crate::error::JobError;
use crate::facts::Wants;

/// Devices that one warning names.
const NAMED_MAX: usize = 5;

/// A job that may be submitted.
pub(crate) struct Prospective {
    pub(crate) org: String,
    /// Id of each run, and what it asks of its device; none for a build.
    pub(crate) runs: Vec<(String, Option<Wants>)>,
}

impl Driver {
    /// A warning for each run that no device could take now.
    pub(super) fn prospects(&self, job: &Prospective) -> Result<Vec<Warning>, JobError> {
        self.scheduler.may_have(job.runs.len())?;
        let org = job.org.as_str().into();
        let name = |id: &DeviceId| {
            let device = self.devices.get(&job.org, &id.0);
            device.map_or_else(|| id.to_string(), |device| device.record.name)
        };
        // Runs that ask for the same cost one look.
        let mut looked = HashMap::<&Wants, Option<(Doubt, String)>>::new();
        let mut warnings = Vec::new();
        for (run, wants) in &job.runs {
            let Some(wants) = wants else { continue };
            let doubt = looked
                .entry(wants)
                .or_insert_with(|| doubt(&self.scheduler.prospects(&org, wants), name));
            warnings.extend(doubt.clone().map(|(doubt, message)| Warning {
                doubt,
                run: Some(run.clone()),
                message,
            }));
        }
        Ok(warnings)
    }
}

/// Whether none of these devices can be had, and why.
fn doubt(
    devices: &[(DeviceId, Blocked)],
    name: impl Fn(&DeviceId) -> String,
) -> Option<(Doubt, String)> {
    let lacking = misfits(devices);
    if lacking.len() == devices.len() {
        return Some((Doubt::NoMatchingDevice, unmatched(&lacking, name)));
    }
    let mut away = Vec::new();
    for (id, blocked) in devices {
        match blocked {
            Blocked::Misfit(_) => {}
            Blocked::Offline => away.push(format!("{} cannot be reached", name(id))),
            Blocked::Quarantined(why) => {
                away.push(format!("{} is in quarantine: {}", name(id), why.reason));
            }
            // It becomes free by itself.
            Blocked::Busy { .. } | Blocked::Held { .. } | Blocked::Free => return None,
        }
    }
    let more = away.len().saturating_sub(NAMED_MAX);
    away.truncate(NAMED_MAX);
    if more > 0 {
        away.push(format!("{more} others cannot be had either"));
    }
    let message = format!("The run would wait for a device: {}.", away.join("; "));
    Some((Doubt::NoDeviceNow, message))
}

#[cfg(test)]
mod tests {
    use scheduler::Quarantine;

    use super::*;

    fn told(devices: &[(&str, Blocked)]) -> Option<(Doubt, String)> {
        let devices = devices.iter();
        let devices: Vec<_> = devices
            .map(|(id, blocked)| (DeviceId::from(*id), blocked.clone()))
            .collect();
        doubt(&devices, |id| format!("bench {id}"))
    }

    #[test]
    fn a_run_that_no_device_can_take_is_in_doubt() {
        let misfit = || Blocked::Misfit("has no uart".to_owned());
        let sick = || {
            Blocked::Quarantined(Quarantine {
                reason: "smoke".to_owned(),
                jobs: Vec::new(),
            })
        };
        let (doubt, message) = told(&[]).unwrap();
        assert_eq!(doubt, Doubt::NoMatchingDevice);
        assert!(message.ends_with("It has none at all."), "{message}");
        let (doubt, message) = told(&[("a", misfit())]).unwrap();
        assert_eq!(doubt, Doubt::NoMatchingDevice);
        assert!(message.ends_with(" bench a: has no uart."), "{message}");
        let (doubt, message) =
            told(&[("a", misfit()), ("b", Blocked::Offline), ("c", sick())]).unwrap();
        assert_eq!(doubt, Doubt::NoDeviceNow);
        assert_eq!(
            message,
            "The run would wait for a device: bench b cannot be reached; bench c is in quarantine: smoke."
        );
    }

    #[test]
    fn what_is_held_or_busy_becomes_free() {
        let held = Blocked::Held {
            holder: "ada".to_owned(),
            expires_ms: None,
        };
        for free in [held, Blocked::Free] {
            assert_eq!(told(&[("a", Blocked::Offline), ("b", free)]), None);
        }
    }

    #[test]
    fn a_warning_names_a_few_devices() {
        let ids: Vec<String> = (0..9).map(|n| n.to_string()).collect();
        let devices: Vec<_> = ids.iter().map(|id| (&**id, Blocked::Offline)).collect();
        let (_, message) = told(&devices).unwrap();
        assert_eq!(message.matches("cannot be reached").count(), NAMED_MAX);
        assert!(
            message.ends_with("; 4 others cannot be had either."),
            "{message}"
        );
    }
}
