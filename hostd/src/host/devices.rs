//! `bench:host/devices`: the caller's devices.

use pods::Capabilities;

use super::bindings::bench::host::devices::{
    Capability, Device as WitDevice, Error, Host, Lease, State, Transport,
};
use super::{Call, Context, internal};
use crate::services::Services;
use base::clock;
use lab::devices::{Device, DeviceError};
use lab::leases::{LeaseError, Terms};

impl Host for Call {
    async fn list(&mut self) -> Result<Vec<WitDevice>, Error> {
        let caller = self.caller.as_ref().ok_or(Error::NotFound)?;
        Ok(self
            .services
            .devices
            .list(caller.org())
            .into_iter()
            .filter(|d| caller.may_use_id(&d.record.id))
            .map(|d| to_wit(&d, &self.services))
            .collect())
    }

    async fn get(&mut self, id: String) -> Result<WitDevice, Error> {
        let device = self.device(&id).ok_or(Error::NotFound)?;
        Ok(to_wit(&device, &self.services))
    }

    async fn changeable(&mut self, id: String) -> Result<WitDevice, Error> {
        let device = self.changeable_device(&id)?;
        Ok(to_wit(&device, &self.services))
    }

    async fn find(&mut self, name: String) -> Result<WitDevice, Error> {
        let device = self.device_named(&name).ok_or(Error::NotFound)?;
        Ok(to_wit(&device, &self.services))
    }

    async fn rename(&mut self, id: String, name: String) -> Result<WitDevice, Error> {
        let org = self.changeable_device(&id)?.record.org;
        if self.is_taken_as(&org, &name, &id) {
            return Err(Error::NameTaken);
        }
        let renamed = self.services.devices.rename(&org, &id, &name).await;
        renamed.map_err(|e| self.device_error(e))?;
        let device = self.device(&id).ok_or(Error::NotFound)?;
        Ok(to_wit(&device, &self.services))
    }

    async fn remove(
        &mut self,
        id: String,
        holder: Option<String>,
        overriding: bool,
    ) -> Result<(), Error> {
        let device = self.device(&id).ok_or(Error::NotFound)?;
        self.check_keeper("removing a device")?;
        tracing::warn!(
            request_id = self.request_id,
            user = self.owner(),
            device = device.record.name,
            from = holder,
            overriding,
            "an administrator removes a device"
        );
        let terms = Terms { holder, overriding };
        let removed = self.services.leases.remove(&id, terms).await;
        removed.map_err(|e| self.removal_error(e))?;
        self.services.updates.forget(&id).await;
        Ok(())
    }

    async fn admit(&mut self, which: String) -> Result<WitDevice, Error> {
        self.check_keeper("admitting a device")?;
        let org = self.caller.as_ref().ok_or(Error::NotFound)?.org();
        let admitted = self.services.leases.admit_again(org, &which).await;
        let id = admitted.map_err(|e| self.removal_error(e))?;
        tracing::warn!(
            request_id = self.request_id,
            user = self.owner(),
            device = id,
            "an administrator admits a device again"
        );
        let device = self.device(&id).ok_or(Error::NotFound)?;
        Ok(to_wit(&device, &self.services))
    }
}

impl Context {
    /// The device with this id, if the caller may use it.
    pub(super) fn device(&self, id: &str) -> Option<Device> {
        let caller = self.caller.as_ref()?;
        let device = self.services.devices.get(caller.org(), id)?;
        caller.may_use_id(&device.record.id).then_some(device)
    }

    /// The device with this name, if the caller may use it: the one it holds since it had this name,
    /// or the one that has it now. They are never two.
    pub(super) fn device_named(&self, name: &str) -> Option<Device> {
        let caller = self.caller.as_ref()?;
        let owner = self.owner();
        let mut taken = self.services.leases.taken_as(name).into_iter();
        if let Some((id, _)) = taken.find(|(_, holder)| *holder == owner)
            && let Some(held) = self.device(&id)
        {
            return Some(held);
        }
        let all = self.services.devices.list(caller.org());
        let named = all.into_iter().find(|d| d.record.name == name)?;
        caller.may_use_id(&named.record.id).then_some(named)
    }

    /// Whether somebody still holds another device that was taken under this name.
    fn is_taken_as(&self, org: &str, name: &str, id: &str) -> bool {
        let taken = self.services.leases.taken_as(name);
        taken
            .iter()
            .any(|(device, _)| device != id && self.services.devices.get(org, device).is_some())
    }

    /// The device with this id, if the caller may change its name and wiring now.
    fn changeable_device(&self, id: &str) -> Result<Device, Error> {
        let device = self.device(id).ok_or(Error::NotFound)?;
        let is_admin = self.caller.as_ref().is_some_and(|c| c.is_admin());
        let owner = self.owner();
        match self.services.leases.check_change(id, self.shown(&owner)) {
            Err(busy) if !is_admin => Err(Error::Held(self.told(&busy))),
            _ => Ok(device),
        }
    }

    /// Which devices there are is up to administrators, and not to jobs that are let in to some.
    fn check_keeper(&self, doing: &str) -> Result<(), Error> {
        self.check_admin(doing).map_err(Error::Forbidden)?;
        if self.caller.as_ref().is_some_and(|c| c.devices().is_some()) {
            return Err(Error::Forbidden(format!(
                "{doing} takes a credential that is not restricted to devices"
            )));
        }
        Ok(())
    }

    fn removal_error(&self, error: LeaseError) -> Error {
        match error {
            LeaseError::Busy(busy) => Error::Held(self.told(&busy)),
            LeaseError::Device(e) => self.device_error(e),
            LeaseError::Store(e) => Error::Other(internal(self, "devices", &e)),
        }
    }

    fn device_error(&self, error: DeviceError) -> Error {
        match error {
            DeviceError::NotFound => Error::NotFound,
            DeviceError::NameTaken(_) => Error::NameTaken,
            DeviceError::PodTaken(_) => Error::Conflict(error.to_string()),
            DeviceError::BadName => Error::Invalid(error.to_string()),
            DeviceError::Store(e) => Error::Other(internal(self, "devices", &e)),
        }
    }
}

fn to_wit(device: &Device, services: &Services) -> WitDevice {
    let record = &device.record;
    let online = device.facts.is_some();
    WitDevice {
        id: record.id.clone(),
        name: record.name.clone(),
        online,
        state: if services.updates.is_running(&record.id) {
            State::Updating
        } else if online {
            State::Online
        } else {
            State::Offline
        },
        transport: match record.transport.as_str() {
            "usb" => Transport::Usb,
            "sim" => Transport::Sim,
            _ => Transport::Tcp,
        },
        serial: record.serial.clone(),
        board: record.board.clone(),
        firmware_version: record.firmware_version.clone(),
        capabilities: capabilities(device.capabilities()),
        parameters: device
            .capabilities()
            .map(|c| c.parameters.clone().into_iter().collect())
            .unwrap_or_default(),
        lease: services
            .leases
            .holder(&record.id)
            .map(|(holder, expires_ms)| Lease {
                holder,
                expires_at: clock::text(expires_ms),
            }),
        making_safe_since: services.leases.owes_since_ms(&record.id).map(clock::text),
        last_active_at: record.last_active_ms.map(clock::text),
        created_at: clock::text(record.created_ms),
    }
}

/// The same names whether the pod is there or not: offline, everything is unknown.
fn capabilities(known: Option<&Capabilities>) -> Vec<(String, Capability)> {
    let flag = |read: fn(&Capabilities) -> Option<bool>| {
        known
            .and_then(read)
            .map_or(Capability::Unknown, Capability::Flag)
    };
    let count = |read: fn(&Capabilities) -> Option<u64>| {
        known
            .and_then(read)
            .map_or(Capability::Unknown, Capability::Count)
    };
    [
        ("ac_dac", flag(|c| c.ac_dac)),
        ("adc", flag(|c| c.adc)),
        ("can", flag(|c| c.can)),
        ("capture_trigger", flag(|c| c.capture_trigger)),
        ("cmsis_dap", flag(|c| c.cmsis_dap)),
        ("dac", flag(|c| c.dac)),
        ("i2c_sensor", flag(|c| c.i2c_sensor)),
        ("la_channels", count(|c| c.la_channels.map(u64::from))),
        ("la_max_samples", count(|c| c.la_max_samples)),
        ("ota", flag(|c| c.ota)),
        ("power_profile", flag(|c| c.power_profile)),
        ("spi", flag(|c| c.spi)),
        ("uart", flag(|c| c.uart)),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}
