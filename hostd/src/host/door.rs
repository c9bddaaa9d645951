//! The door to the caller's devices: who may use which, and who may reach the pod behind it. Device
//! interfaces have no other way to a pod.

use super::Context;
use super::bindings::hostd::host::http_types::Busy;
use crate::services::Services;
use base::clock;
use identity::{JobGrant, Verified};
use lab::devices::{Device, Devices};
use lab::leases::{self, Beside, Entered, EntryError, Leases, PERSONS_LEASE, Shown, Visit};
use lab::telemetry::Telemetry;
use pods::PowerStatus;
use store::captures::CaptureRecord;

/// What stands between a caller and devices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Door<'a> {
    pub(super) context: &'a Context,
    devices: &'a Devices,
    leases: &'a Leases,
    telemetry: &'a Telemetry,
}

/// Why a request may not reach a pod, in the words of the contract.
pub(super) enum Refused {
    NoDevice,
    Held(Busy),
    Offline,
}

/// Conversions to the errors of the interfaces that give access to a pod; each has its own way to say
/// that there is no such device.
macro_rules! refusals {
    ($($interface:ident: $no_device:expr),* $(,)?) => {$(
        const _: () = {
            use super::wit::$interface::Error;

            impl From<Refused> for Error {
                fn from(refused: Refused) -> Self {
                    match refused {
                        Refused::NoDevice => $no_device,
                        Refused::Held(busy) => Self::Held(busy),
                        Refused::Offline => Self::Offline,
                    }
                }
            }
        };
    )*};
}

refusals! {
    captures: Error::NotFound,
    flashing: Error::NotFound("device".to_owned()),
    pod: Error::NotFound,
    replay: Error::NoDevice,
    tunnels: Error::NotFound,
    uarts: Error::NotFound,
}

/// The device with this id, if the caller may use it.
pub(super) fn device(devices: &Devices, caller: &Verified, id: &str) -> Option<Device> {
    let device = devices.get(caller.org(), id)?;
    caller.may_use_id(&device.record.id).then_some(device)
}

/// The id of the device that a caller means by an id or a name; what was given, if it is no name of a device that the caller
/// may use.
pub(crate) fn id_of(devices: &Devices, caller: &Verified, which: String) -> String {
    if devices.get(caller.org(), &which).is_some() {
        return which;
    }
    let named = devices.id_named(caller.org(), &which);
    named.filter(|id| caller.may_use_id(id)).unwrap_or(which)
}

/// Ids of the devices with these names. A token is bound to ids, so a rename does not change
/// access.
///
/// # Errors
/// The first name that belongs to no device that the caller may use.
pub(super) fn device_ids(
    devices: &Devices,
    caller: &Verified,
    names: Vec<String>,
) -> Result<Vec<String>, String> {
    let known = devices.list(caller.org());
    let id_of = |name: String| {
        let named = known.iter().find(|d| d.record.name == name);
        named
            .filter(|d| caller.may_use_id(&d.record.id))
            .map(|d| d.record.id.clone())
            .ok_or(name)
    };
    names.into_iter().map(id_of).collect()
}

impl<'a> Door<'a> {
    pub(crate) fn new(context: &'a Context, services: &'a Services) -> Self {
        Self {
            context,
            devices: &services.devices,
            leases: &services.leases,
            telemetry: &services.telemetry,
        }
    }
}

impl<'a> Door<'a> {
    /// The same door for somebody else.
    pub(super) fn of<'c>(self, context: &'c Context) -> Door<'c>
    where
        'a: 'c,
    {
        Door {
            context,
            devices: self.devices,
            leases: self.leases,
            telemetry: self.telemetry,
        }
    }
}

impl Door<'_> {
    /// The device with this id, if the caller may use it.
    pub(crate) fn device(&self, id: &str) -> Option<Device> {
        device(self.devices, self.context.caller.as_ref()?, id)
    }

    /// The id of the device that the caller means by an id or a name.
    pub(super) fn id_of(&self, which: &str) -> String {
        match self.context.caller.as_ref() {
            Some(caller) => id_of(self.devices, caller, which.to_owned()),
            None => which.to_owned(),
        }
    }

    /// Label of the lease under which a device is held.
    pub(super) fn holder(&self, device: &str) -> Option<String> {
        self.leases.holder(device).map(|(holder, _)| holder)
    }

    /// The device with this name, if the caller may use it: the one it has held since before a
    /// rename, or the one that has the name now. There are never two.
    pub(crate) fn device_named(&self, name: &str) -> Option<Device> {
        let caller = self.context.caller.as_ref()?;
        let owner = self.context.owner();
        let mut taken = self.leases.taken_as(name).into_iter();
        if let Some((id, _)) = taken.find(|(_, holder)| *holder == owner)
            && let Some(held) = self.device(&id)
        {
            return Some(held);
        }
        let all = self.devices.list(caller.org());
        let named = all.into_iter().find(|d| d.record.name == name)?;
        caller.may_use_id(&named.record.id).then_some(named)
    }

    /// Whether the caller may see this capture, which is of its organisation: it may use its device, and a job sees what
    /// it recorded itself. Captures of a removed device are for everybody in the organisation whose session is not
    /// restricted.
    pub(crate) fn shows(&self, capture: &CaptureRecord) -> bool {
        let is_own = |job: &JobGrant| capture.job.as_ref() == Some(&job.job);
        self.context.job().is_none_or(is_own)
            && (self.device(&capture.device).is_some() || !self.context.is_restricted())
    }

    /// Keep what the pod of a device answered of its rails.
    pub(super) fn note_rails(&self, device: &str, status: &PowerStatus) {
        self.telemetry.note(device, status);
    }

    /// The lease that the request shows for a device, for this `owner`. A person who is signed in shows the lease that they took
    /// as such by the session alone; any other one must be named.
    pub(super) fn shown<'s>(&'s self, device: &str, owner: &'s str) -> Shown<'s> {
        let shown = self.context.shown(owner);
        let persons = Shown {
            lease_id: Some(PERSONS_LEASE),
            owner,
        };
        let is_persons = shown.lease_id.is_none()
            && self.context.is_person()
            && self.leases.held(device, persons).is_ok();
        if is_persons { persons } else { shown }
    }

    /// Let the request drive a device, if no lease is in its way.
    pub(super) fn admit(&self, device: &str) -> Result<(), Busy> {
        let owner = self.context.owner();
        let admitted = self.leases.admit(device, self.shown(device, &owner));
        admitted.map_err(|busy| self.told(&busy))
    }

    /// What to tell a request whose visit has ended.
    pub(super) fn cut(&self, device: &str) -> Busy {
        match self.admit(device) {
            Err(busy) => busy,
            // It changed hands and back again meanwhile.
            Ok(()) => Busy {
                holder: None,
                expires_at: None,
                lost: false,
                making_safe: false,
                obstacle: None,
                place: None,
                retry_after_s: 1,
            },
        }
    }

    /// Let the request watch a device, which it names by its id or its name.
    pub(super) fn look(&self, which: &str) -> Result<Beside, Refused> {
        let device = self.id_of(which);
        let looked = self.at_the_door(&device, |caller| self.leases.look(caller, &device));
        looked.map_err(|error| self.refused(error))
    }

    /// Let what the request begins drive a device, which it names by its id or its name, until a lease takes it away.
    pub(super) fn enter(&self, which: &str) -> Result<Entered, Refused> {
        let device = self.id_of(which);
        let entered = self.at_the_door(&device, |caller| self.leases.enter(caller, &device));
        entered.map_err(|error| self.refused(error))
    }

    /// Let a request that already watches a device drive it, until a lease takes it away.
    pub(super) fn drive(&self, beside: Beside) -> Result<Entered, Refused> {
        let owner = self.context.owner();
        let shown = self.shown(&beside.device.record.id, &owner);
        let driven = self.leases.drive(beside, shown);
        driven.map_err(|busy| Refused::Held(self.told(&busy)))
    }

    /// Let the request watch a device, which it names by its id or its name, and drive it if nothing is in the way.
    pub(super) fn join(
        &self,
        which: &str,
    ) -> Result<(Beside, Result<Visit, leases::Busy>), Refused> {
        let device = self.id_of(which);
        let joined = self.at_the_door(&device, |caller| self.leases.join(caller, &device));
        joined.map_err(|error| self.refused(error))
    }

    fn at_the_door<T>(
        &self,
        device: &str,
        knock: impl FnOnce(&leases::Caller<'_>) -> Result<T, EntryError>,
    ) -> Result<T, EntryError> {
        let verified = self.context.caller.as_ref().ok_or(EntryError::NoDevice)?;
        let owner = self.context.owner();
        knock(&leases::Caller {
            org: verified.org(),
            may_use: &|device| verified.may_use_id(device),
            shown: self.shown(device, &owner),
        })
    }

    fn refused(&self, error: EntryError) -> Refused {
        match error {
            EntryError::NoDevice => Refused::NoDevice,
            EntryError::Held(busy) => Refused::Held(self.told(&busy)),
            EntryError::Offline => Refused::Offline,
        }
    }

    pub(super) fn told(&self, busy: &leases::Busy) -> Busy {
        let wall = |ms| clock::text(self.leases.wall_ms(ms));
        Busy {
            holder: busy.holder.clone(),
            expires_at: busy.expires_ms.map(wall),
            lost: busy.lost,
            making_safe: busy.making_safe,
            obstacle: busy.obstacle.clone(),
            place: busy.place,
            retry_after_s: u32::try_from(busy.retry_after_ms.div_ceil(1000)).unwrap_or(u32::MAX),
        }
    }
}
