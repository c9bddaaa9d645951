//! `hostd:host/devices`: the caller's devices.

use std::collections::BTreeMap;
use std::sync::Arc;

use pods::Capabilities;
use pods::protocol::parts_in;
use wasmtime::component::HasData;

use super::bindings::hostd::host::devices::{
    Capabilities as WitCapabilities, Device as WitDevice, Error, Host, Lease, MissingPart,
    RailSample, RailTelemetry, Readings, Registration, State, Transport,
};
use super::door::Door;
use super::{CallLinker, Context, internal, wit};
use crate::services::Services;
use base::clock;
use dispatch::Jobs;
use lab::devices::{Changed, Device, DeviceError, Devices, Registered};
use lab::leases::{LeaseError, Leases, Terms};
use lab::telemetry::{INTERVAL, POINTS_MAX, Sample, Telemetry};
use lab::updates::Updates;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    door: Door<'a>,
    devices: &'a Arc<Devices>,
    leases: &'a Arc<Leases>,
    updates: &'a Updates,
    jobs: &'a Jobs,
    telemetry: &'a Telemetry,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::devices::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        door: Door::new(&state.data.context, &state.data.services),
        devices: &state.data.services.devices,
        leases: &state.data.services.leases,
        updates: &state.data.services.updates,
        jobs: &state.data.services.jobs,
        telemetry: &state.data.services.telemetry,
    })
}

impl Host for View<'_> {
    async fn list(&mut self) -> Result<Vec<WitDevice>, Error> {
        let caller = self.context.caller.as_ref().ok_or(Error::NotFound)?;
        Ok(self
            .devices
            .list(caller.org())
            .into_iter()
            .filter(|d| caller.may_use_id(&d.record.id))
            .map(|d| self.shown(&d))
            .collect())
    }

    async fn get(&mut self, id: String) -> Result<WitDevice, Error> {
        let device = self.door.device(&id).ok_or(Error::NotFound)?;
        Ok(self.shown(&device))
    }

    async fn changeable(&mut self, id: String) -> Result<WitDevice, Error> {
        let device = self.changeable_device(&id)?;
        Ok(self.shown(&device))
    }

    async fn find(&mut self, name: String) -> Result<WitDevice, Error> {
        let device = self.door.device_named(&name).ok_or(Error::NotFound)?;
        Ok(self.shown(&device))
    }

    async fn chip_fault(&mut self, name: String) -> Option<String> {
        // It reads the descriptions of all chips.
        let checked = tokio::task::spawn_blocking(move || flash::check_chip(&name));
        match checked.await {
            Ok(checked) => checked.err().map(|error| error.to_string()),
            // Nobody is kept from storing what could not be looked at.
            Err(_) => None,
        }
    }

    async fn rename(&mut self, id: String, name: String) -> Result<WitDevice, Error> {
        let org = self.changeable_device(&id)?.record.org;
        if self.is_taken_as(&org, &name, &id) {
            return Err(Error::NameTaken);
        }
        let renamed = self.devices.rename(&org, &id, &name).await;
        renamed.map_err(|e| self.device_error(e))?;
        let device = self.door.device(&id).ok_or(Error::NotFound)?;
        Ok(self.shown(&device))
    }

    async fn remove(
        &mut self,
        id: String,
        holder: Option<String>,
        overriding: bool,
    ) -> Result<(), Error> {
        let device = self.door.device(&id).ok_or(Error::NotFound)?;
        self.check_keeper("removing a device")?;
        tracing::warn!(
            request_id = self.context.request_id,
            user = self.context.owner(),
            device = device.record.name,
            from = holder,
            overriding,
            "an administrator removes a device"
        );
        let terms = Terms { holder, overriding };
        let removed = self.leases.remove(&id, terms).await;
        removed.map_err(|e| self.removal_error(e))?;
        self.updates.forget(&id).await;
        Ok(())
    }

    async fn admit(&mut self, which: String) -> Result<WitDevice, Error> {
        self.check_keeper("admitting a device")?;
        let org = self.context.caller.as_ref().ok_or(Error::NotFound)?.org();
        if let Some(device) = self.readmitted(org, &which).await? {
            return Ok(device);
        }
        let admitted = self.leases.admit_again(org, &which).await;
        let id = admitted.map_err(|e| self.removal_error(e))?;
        tracing::warn!(
            request_id = self.context.request_id,
            user = self.context.owner(),
            device = id,
            "an administrator admits a device again"
        );
        let device = self.door.device(&id).ok_or(Error::NotFound)?;
        Ok(self.shown(&device))
    }

    async fn telemetry(
        &mut self,
        id: String,
        from_ms: u64,
        points: u32,
    ) -> Result<Readings, Error> {
        let device = self.door.device(&id).ok_or(Error::NotFound)?;
        let points = usize::try_from(points)
            .unwrap_or(POINTS_MAX)
            .min(POINTS_MAX);
        let of_rails = self.telemetry.of(&device.record.id, from_ms, points);
        let rails = (1..).zip(of_rails).map(|(rail, samples)| RailTelemetry {
            rail,
            samples: samples.into_iter().map(rail_sample).collect(),
        });
        Ok(Readings {
            interval_ms: u32::try_from(INTERVAL.as_millis()).unwrap_or(u32::MAX),
            rails: rails.collect(),
        })
    }

    async fn register(&mut self, name: String, public_key: String) -> Result<Registration, Error> {
        self.check_keeper("registering a device")?;
        let caller = self.context.caller.as_ref().ok_or(Error::NotFound)?;
        let org = caller.org();
        if self.is_taken_as(org, &name, "") {
            return Err(Error::NameTaken);
        }
        let registered = self
            .devices
            .register(org, &name, &public_key, caller.user())
            .await;
        let (id, is_new) = match registered.map_err(|e| self.device_error(e))? {
            Registered::New(id) => (id, true),
            Registered::Known(id) => (id, false),
            Registered::Removed(id) => {
                let admitted = self.leases.admit_again(org, &id).await;
                (admitted.map_err(|e| self.removal_error(e))?, false)
            }
        };
        tracing::warn!(
            request_id = self.context.request_id,
            user = self.context.owner(),
            device = id,
            is_new,
            "an administrator registers a pod that dials in"
        );
        let device = self.door.device(&id).ok_or(Error::NotFound)?;
        Ok(Registration {
            owner: device.record.registered_by.clone(),
            org: device.record.org.clone(),
            device: self.shown(&device),
            is_new,
        })
    }
}

fn rail_sample(sample: Sample) -> RailSample {
    RailSample {
        at_ms: sample.at_ms,
        mv: sample.mv,
        ua: sample.ua,
        ua_max: sample.ua_max,
    }
}

impl View<'_> {
    /// The device of this id or name, if it was in quarantine until now.
    async fn readmitted(&self, org: &str, which: &str) -> Result<Option<WitDevice>, Error> {
        let is_it = |device: &Device| device.record.id == which || device.record.name == which;
        let found = self.devices.list(org).into_iter().find(is_it);
        let Some(device) = found.filter(|device| self.jobs.is_quarantined(&device.record.id))
        else {
            return Ok(None);
        };
        match self.jobs.readmit(&device.record.id).await {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => return Err(Error::Other(internal(self.context, "devices", &error))),
        }
        tracing::warn!(
            request_id = self.context.request_id,
            user = self.context.owner(),
            device = device.record.id,
            "an administrator trusts a device again"
        );
        let id = &device.record.id;
        self.devices.tell_changed(id, Changed::Trusted);
        Ok(Some(self.shown(&device)))
    }

    /// Whether another device that was taken under this name is still held.
    fn is_taken_as(&self, org: &str, name: &str, id: &str) -> bool {
        let taken = self.leases.taken_as(name);
        taken
            .iter()
            .any(|(device, _)| device != id && self.devices.get(org, device).is_some())
    }

    /// The device with this id, if the caller may change its name and wiring now.
    fn changeable_device(&self, id: &str) -> Result<Device, Error> {
        let device = self.door.device(id).ok_or(Error::NotFound)?;
        let is_admin = self.context.caller.as_ref().is_some_and(|c| c.is_admin());
        let owner = self.context.owner();
        match self.leases.check_change(id, self.door.shown(id, &owner)) {
            Err(busy) if !is_admin => Err(Error::Held(self.door.told(&busy))),
            _ => Ok(device),
        }
    }

    /// Only administrators decide which devices there are, not jobs whose credential is restricted
    /// to some.
    fn check_keeper(&self, doing: &str) -> Result<(), Error> {
        self.context.check_admin(doing).map_err(Error::Forbidden)?;
        if self
            .context
            .caller
            .as_ref()
            .is_some_and(|c| c.devices().is_some())
        {
            return Err(Error::Forbidden(format!(
                "{doing} takes a credential that is not restricted to devices"
            )));
        }
        Ok(())
    }

    /// A device and its holder, as the contract's record.
    fn shown(&self, device: &Device) -> WitDevice {
        describe(self.leases, self.updates, self.jobs, device)
    }

    fn removal_error(&self, error: LeaseError) -> Error {
        match error {
            LeaseError::Busy(busy) => Error::Held(self.door.told(&busy)),
            LeaseError::Device(e) => self.device_error(e),
            LeaseError::Store(e) => Error::Other(internal(self.context, "devices", &e)),
        }
    }

    fn device_error(&self, error: DeviceError) -> Error {
        match error {
            DeviceError::NotFound => Error::NotFound,
            DeviceError::NameTaken(_) => Error::NameTaken,
            DeviceError::PodTaken(_) | DeviceError::TooMany(_) | DeviceError::Foreign => {
                Error::Conflict(error.to_string())
            }
            DeviceError::BadName | DeviceError::BadKey => Error::Invalid(error.to_string()),
            DeviceError::Store(e) => Error::Other(internal(self.context, "devices", &e)),
        }
    }
}

/// A device and its holder, as the contract's record.
pub(crate) fn shown(services: &Services, device: &Device) -> WitDevice {
    let Services {
        leases,
        updates,
        jobs,
        ..
    } = services;
    describe(leases, updates, jobs, device)
}

fn describe(leases: &Leases, updates: &Updates, jobs: &Jobs, device: &Device) -> WitDevice {
    let record = &device.record;
    let online = device.facts.is_some();
    let missing_parts = missing_parts(device);
    WitDevice {
        id: record.id.clone(),
        name: record.name.clone(),
        online,
        state: if updates.is_running(&record.id) {
            State::Updating
        } else if online && jobs.is_quarantined(&record.id) {
            State::Quarantined
        } else if online && !missing_parts.is_empty() {
            State::Degraded
        } else if online {
            State::Online
        } else {
            State::Offline
        },
        transport: match record.transport.as_str() {
            "usb" => Transport::Usb,
            "dial" => Transport::Dial,
            "sim" => Transport::Sim,
            "parts" => Transport::Parts,
            _ => Transport::Tcp,
        },
        serial: record.serial.clone(),
        board: record.board.clone(),
        firmware_version: record.firmware_version.clone(),
        capabilities: capabilities(device.capabilities()),
        parameters: parameters(device.capabilities()),
        missing_parts,
        lease: leases.holder(&record.id).map(|(holder, expires_ms)| Lease {
            holder,
            expires_at: clock::text(expires_ms),
        }),
        making_safe_since: leases.owes_since_ms(&record.id).map(clock::text),
        making_safe_obstacle: leases.obstacle(&record.id),
        last_active_at: record.last_active_ms.map(clock::text),
        created_at: clock::text(record.created_ms),
    }
}

/// The parts that are away: as the bench says, or all of them if that is why it says nothing.
fn missing_parts(device: &Device) -> Vec<MissingPart> {
    let all = device.away.as_deref().map(parts_in).unwrap_or_default();
    let missing = match device.capabilities() {
        Some(known) if all.is_empty() => known.missing.clone(),
        _ => all,
    };
    missing
        .into_iter()
        .map(|missing| MissingPart {
            part: missing.part,
            reason: missing.reason,
        })
        .collect()
}

fn parameters(known: Option<&Capabilities>) -> String {
    let none = BTreeMap::new();
    let parameters = known.map_or(&none, |known| &known.parameters);
    serde_json::to_string(parameters).expect("memory takes every byte, and names are text")
}

/// Offline, everything is unknown.
fn capabilities(known: Option<&Capabilities>) -> WitCapabilities {
    let flag = |read: fn(&Capabilities) -> Option<bool>| known.and_then(read);
    WitCapabilities {
        ac_dac: flag(|c| c.ac_dac),
        adc: flag(|c| c.adc),
        can: flag(|c| c.can),
        capture_trigger: flag(|c| c.capture_trigger),
        capture_pre_samples: flag(|c| c.capture_pre_samples),
        capture_stream: flag(|c| c.capture_stream),
        trigger_pulse: flag(|c| c.trigger_pulse),
        trigger_pattern: flag(|c| c.trigger_pattern),
        trigger_level: flag(|c| c.trigger_level),
        cmsis_dap: flag(|c| c.cmsis_dap),
        dac: flag(|c| c.dac),
        i2c_sensor: flag(|c| c.i2c_sensor),
        la_channels: known.and_then(|c| c.la_channels),
        la_max_samples: known.and_then(|c| c.la_max_samples),
        ota: flag(|c| c.ota),
        power_profile: flag(|c| c.power_profile),
        spi: flag(|c| c.spi),
        uart: flag(|c| c.uart),
    }
}
