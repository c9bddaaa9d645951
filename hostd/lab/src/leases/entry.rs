//! The door to a pod. It is the only way to one outside this crate, so no caller can forget to check
//! whether they may use the device and whether a lease is in the way.

use pods::Pod;

use super::{Busy, Leases, Shown, Visit};
use crate::devices::Device;

/// Who comes to the door, already verified.
#[derive(Clone, Copy)]
pub struct Caller<'r> {
    pub org: &'r str,
    /// Whether the credential covers the device with this id.
    pub may_use: &'r dyn Fn(&str) -> bool,
    pub shown: Shown<'r>,
}

/// Why somebody is not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    #[error("the caller has no such device")]
    NoDevice,
    #[error("somebody else has the device")]
    Held(Busy),
    #[error("no pod is attached")]
    Offline,
}

/// A device and its pod, for somebody who watches while others may drive it.
#[non_exhaustive]
pub struct Beside {
    pub device: Device,
    pub pod: Pod,
}

/// A device and its pod, for somebody who drives it. The visit signals when it must end, and the
/// device is not handed over until it has.
#[non_exhaustive]
pub struct Entered {
    pub device: Device,
    pub pod: Pod,
    pub visit: Visit,
}

impl Leases {
    /// Let somebody watch a device.
    ///
    /// # Errors
    /// It is not theirs, or no pod is attached.
    pub fn look(&self, caller: &Caller<'_>, device: &str) -> Result<Beside, EntryError> {
        let device = self.found(caller, device)?;
        let pod = self.pod(&device)?;
        Ok(Beside { device, pod })
    }

    /// Let somebody drive a device.
    ///
    /// # Errors
    /// It is not theirs, somebody else holds it, it is being made safe, or no pod is attached.
    pub fn enter(&self, caller: &Caller<'_>, device: &str) -> Result<Entered, EntryError> {
        let device = self.found(caller, device)?;
        let visit = self.visit(&device.record.id, caller.shown);
        let visit = visit.map_err(EntryError::Held)?;
        let pod = self.pod(&device)?;
        Ok(Entered { device, pod, visit })
    }

    /// Let somebody who watches drive the device.
    ///
    /// # Errors
    /// Somebody else holds it, or it is being made safe.
    pub fn drive(&self, beside: Beside, shown: Shown<'_>) -> Result<Entered, Busy> {
        let Beside { device, pod } = beside;
        let visit = self.visit(&device.record.id, shown)?;
        Ok(Entered { device, pod, visit })
    }

    /// Let somebody watch a device, and drive it if nothing is in the way.
    ///
    /// # Errors
    /// It is not theirs, or no pod is attached.
    pub fn join(
        &self,
        caller: &Caller<'_>,
        device: &str,
    ) -> Result<(Beside, Result<Visit, Busy>), EntryError> {
        let beside = self.look(caller, device)?;
        let visit = self.visit(&beside.device.record.id, caller.shown);
        Ok((beside, visit))
    }

    fn found(&self, caller: &Caller<'_>, device: &str) -> Result<Device, EntryError> {
        let found = self.devices.get(caller.org, device);
        let found = found.filter(|device| (caller.may_use)(&device.record.id));
        found.ok_or(EntryError::NoDevice)
    }

    fn pod(&self, device: &Device) -> Result<Pod, EntryError> {
        let pod = self.devices.pod(&device.record.org, &device.record.id);
        pod.ok_or(EntryError::Offline)
    }
}
