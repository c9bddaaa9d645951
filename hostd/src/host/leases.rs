//! `bench:host/leases`: one consumer of a device at a time.

use super::bindings::bench::host::http_types::Busy;
use super::bindings::bench::host::leases::{Error, Host, Lease, Released as WitReleased};
use super::{Call, Context, internal};
use base::clock;
use lab::leases::{
    self, Beside, Claim, Entered, EntryError, Granted, LeaseError, Released, Shown, TTL_S, Visit,
};

/// Longest lease id, in bytes.
const LEASE_ID_BYTES_MAX: usize = 128;

/// Longest label that is shown to others, in characters.
const HOLDER_CHARS_MAX: usize = 40;

/// Why a request does not get at a pod, in the words of the contract.
pub(super) enum Refused {
    NoDevice,
    Held(Busy),
    Offline,
}

/// The same as the errors of the interfaces that let somebody at a pod; each says in its own way that
/// there is no such device.
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

impl Host for Call {
    async fn acquire(
        &mut self,
        device: String,
        lease_id: String,
        label: String,
        ttl_seconds: u32,
        overriding: bool,
    ) -> Result<Lease, Error> {
        let device = self.device(&device).ok_or(Error::NotFound)?.record;
        check(&lease_id, ttl_seconds)?;
        if overriding {
            self.check_admin("taking a device that is not in its safe state")
                .map_err(Error::Forbidden)?;
            tracing::warn!(
                request_id = self.request_id,
                user = self.owner(),
                device = device.name,
                "an administrator takes a device whatever it owes"
            );
        }
        let claim = Claim {
            lease_id,
            owner: self.owner(),
            holder: self.holder(&label),
            device_name: device.name,
            ttl_ms: u64::from(ttl_seconds) * 1000,
        };
        let leases = &self.services.leases;
        let granted = leases.acquire(&device.id, claim, overriding).await;
        granted.map(to_wit).map_err(|e| self.lease_error(e))
    }

    async fn renew(
        &mut self,
        device: String,
        lease_id: String,
        ttl_seconds: u32,
    ) -> Result<Lease, Error> {
        let device = self.device(&device).ok_or(Error::NotFound)?.record.id;
        check(&lease_id, ttl_seconds)?;
        let owner = self.owner();
        let shown = Shown {
            lease_id: Some(&lease_id),
            owner: &owner,
        };
        let ttl_ms = u64::from(ttl_seconds) * 1000;
        let granted = self.services.leases.renew(&device, shown, ttl_ms).await;
        granted.map(to_wit).map_err(|e| self.lease_error(e))
    }

    async fn release(&mut self, device: String, lease_id: String) -> Result<WitReleased, Error> {
        let device = self.device(&device).ok_or(Error::NotFound)?.record.id;
        let owner = self.owner();
        let shown = Shown {
            lease_id: Some(&lease_id),
            owner: &owner,
        };
        let released = self.services.leases.release(&device, shown).await;
        let released = released.map_err(|e| self.lease_error(e))?;
        Ok(self.released(&released))
    }

    async fn take_away(&mut self, device: String, holder: String) -> Result<WitReleased, Error> {
        let device = self.device(&device).ok_or(Error::NotFound)?.record.id;
        self.check_admin("ending somebody else's lease")
            .map_err(Error::Forbidden)?;
        tracing::info!(
            request_id = self.request_id,
            user = self.owner(),
            device,
            holder,
            "an administrator ends a lease"
        );
        let taken = self.services.leases.take_away(&device, &holder).await;
        let released = taken.map_err(|e| self.lease_error(e))?;
        Ok(self.released(&released))
    }

    async fn check(&mut self, device: String) -> Result<(), Error> {
        let device = self.device(&device).ok_or(Error::NotFound)?.record.id;
        self.admit(&device).map_err(Error::Busy)
    }
}

impl Context {
    /// Who a lease belongs to: a person and all that acts for it.
    pub(super) fn owner(&self) -> String {
        let caller = self.caller.as_ref();
        caller.map_or_else(String::new, |c| format!("{}/{}", c.org(), c.user()))
    }

    /// What the request shows for the device it is about, whoever `owner` is.
    pub(super) fn shown<'a>(&'a self, owner: &'a str) -> Shown<'a> {
        Shown {
            lease_id: self.lease.as_deref(),
            owner,
        }
    }

    /// Let the request drive a device, if no lease is in its way.
    pub(super) fn admit(&self, device: &str) -> Result<(), Busy> {
        let owner = self.owner();
        let admitted = self.services.leases.admit(device, self.shown(&owner));
        admitted.map_err(|busy| self.told(&busy))
    }

    /// The refusal of one who is no administrator; `doing` begins it.
    pub(super) fn check_admin(&self, doing: &str) -> Result<(), String> {
        if self.caller.as_ref().is_some_and(|c| c.is_admin()) {
            return Ok(());
        }
        Err(format!(
            "{doing} takes an admin's session, or an admin's key with scope bench:admin"
        ))
    }

    /// What the end of a visit means to a request that it let in.
    pub(super) fn cut(&self, device: &str) -> Busy {
        match self.admit(device) {
            Err(busy) => busy,
            // It changed hands and back again meanwhile.
            Ok(()) => Busy {
                holder: None,
                expires_at: None,
                making_safe: false,
                place: None,
                retry_after_s: 1,
            },
        }
    }

    fn released(&self, released: &Released) -> WitReleased {
        match released {
            Released::Over { safe: true } => WitReleased::Safe,
            Released::Over { safe: false } => WitReleased::MakingSafe,
            Released::Other(busy) => WitReleased::Other(self.told(busy)),
        }
    }

    /// Let the request look at what a device does.
    pub(super) fn look(&self, device: &str) -> Result<Beside, Refused> {
        let looked = self.at_the_door(|caller| self.services.leases.look(caller, device));
        looked.map_err(|error| self.refused(error))
    }

    /// Let what the request begins drive a device, until a lease takes it away.
    pub(super) fn enter(&self, device: &str) -> Result<Entered, Refused> {
        let entered = self.at_the_door(|caller| self.services.leases.enter(caller, device));
        entered.map_err(|error| self.refused(error))
    }

    /// Let the request, which looks at a device already, drive it, until a lease takes it away.
    pub(super) fn drive(&self, beside: Beside) -> Result<Entered, Refused> {
        let owner = self.owner();
        let driven = self.services.leases.drive(beside, self.shown(&owner));
        driven.map_err(|busy| Refused::Held(self.told(&busy)))
    }

    /// Let the request look at what a device does, and drive it if nothing is in the way.
    pub(super) fn join(
        &self,
        device: &str,
    ) -> Result<(Beside, Result<Visit, leases::Busy>), Refused> {
        let joined = self.at_the_door(|caller| self.services.leases.join(caller, device));
        joined.map_err(|error| self.refused(error))
    }

    fn at_the_door<T>(
        &self,
        knock: impl FnOnce(&leases::Caller<'_>) -> Result<T, EntryError>,
    ) -> Result<T, EntryError> {
        let verified = self.caller.as_ref().ok_or(EntryError::NoDevice)?;
        let owner = self.owner();
        knock(&leases::Caller {
            org: verified.org(),
            may_use: &|device| verified.may_use_id(device),
            shown: self.shown(&owner),
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
        let wall = |ms| clock::text(self.services.leases.wall_ms(ms));
        Busy {
            holder: busy.holder.clone(),
            expires_at: busy.expires_ms.map(wall),
            making_safe: busy.making_safe,
            place: busy.place,
            retry_after_s: u32::try_from(busy.retry_after_ms.div_ceil(1000)).unwrap_or(u32::MAX),
        }
    }

    /// The label of a lease: what the taker says of itself, in short ASCII.
    fn holder(&self, label: &str) -> String {
        let plain: String = label
            .chars()
            .filter(|c| c.is_ascii_graphic() || *c == ' ')
            .take(HOLDER_CHARS_MAX)
            .collect();
        match plain.trim() {
            "" => self.caller.as_ref().map_or_else(String::new, |c| {
                c.user().chars().take(HOLDER_CHARS_MAX).collect()
            }),
            said => said.to_owned(),
        }
    }

    fn lease_error(&self, error: LeaseError) -> Error {
        match error {
            LeaseError::Busy(busy) => Error::Busy(self.told(&busy)),
            LeaseError::Device(e) => Error::Other(internal(self, "leases", &e)),
            LeaseError::Store(e) => Error::Other(internal(self, "leases", &e)),
        }
    }
}

fn check(lease_id: &str, ttl_seconds: u32) -> Result<(), Error> {
    let plain = lease_id.bytes().all(|b| b.is_ascii_graphic());
    if !(1..=LEASE_ID_BYTES_MAX).contains(&lease_id.len()) || !plain {
        let rule = format!("must be 1 to {LEASE_ID_BYTES_MAX} printable ASCII characters");
        return Err(Error::Invalid(("lease_id".to_owned(), rule)));
    }
    if !TTL_S.contains(&ttl_seconds) {
        let rule = format!("must be {} to {}", TTL_S.start(), TTL_S.end());
        return Err(Error::Invalid(("ttl_seconds".to_owned(), rule)));
    }
    Ok(())
}

fn to_wit(granted: Granted) -> Lease {
    Lease {
        lease_id: granted.lease_id,
        holder: granted.holder,
        expires_at: clock::text(granted.expires_ms),
    }
}
