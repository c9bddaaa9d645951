//! `hostd:host/leases`: one consumer of a device at a time.

use std::sync::Arc;

use wasmtime::component::HasData;

use super::bindings::hostd::host::leases::{Error, Host, Lease, Released as WitReleased};
use super::door::Door;
use super::{CallLinker, Context, internal, wit};
use base::clock;
use identity::Identity;
use lab::leases::{
    Ask, Claim, Granted, HOLDER_CHARS_MAX, LeaseError, Leases, PERSONS_LEASE, Released, Shown,
    TTL_S,
};

/// Longest lease id, in bytes.
const LEASE_ID_BYTES_MAX: usize = 128;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    door: Door<'a>,
    leases: &'a Arc<Leases>,
    auth: &'a Identity,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::leases::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        door: Door::new(&state.data.context, &state.data.services),
        leases: &state.data.services.leases,
        auth: &state.data.services.auth,
    })
}

impl Host for View<'_> {
    async fn acquire(
        &mut self,
        device: String,
        lease_id: Option<String>,
        label: String,
        ttl_seconds: u32,
        waits: bool,
        overriding: bool,
    ) -> Result<Lease, Error> {
        let device = self.door.device(&device).ok_or(Error::NotFound)?.record;
        let (lease_id, holder) = match lease_id {
            Some(lease_id) => (named(lease_id)?, self.holder(&label)),
            None => (self.own()?, self.login().await?),
        };
        check(&lease_id, ttl_seconds)?;
        if overriding {
            self.context
                .check_admin("taking a device that is not in its safe state")
                .map_err(Error::Forbidden)?;
            tracing::warn!(
                request_id = self.context.request_id,
                user = self.context.owner(),
                device = device.name,
                "an administrator takes a device whatever it owes"
            );
        }
        if self.context.job().is_some() {
            return self.held_by_job(&device.id, lease_id);
        }
        let claim = Claim {
            lease_id,
            owner: self.context.owner(),
            holder,
            device_name: device.name,
            ttl_ms: u64::from(ttl_seconds) * 1000,
        };
        let leases = self.leases;
        let ask = Ask { waits, overriding };
        let granted = leases.acquire(&device.id, claim, ask).await;
        granted.map(to_wit).map_err(|e| self.lease_error(e))
    }

    async fn renew(
        &mut self,
        device: String,
        lease_id: String,
        ttl_seconds: u32,
    ) -> Result<Lease, Error> {
        let device = self.door.device(&device).ok_or(Error::NotFound)?.record.id;
        let lease_id = named(lease_id)?;
        check(&lease_id, ttl_seconds)?;
        if self.context.job().is_some() {
            return self.held_by_job(&device, lease_id);
        }
        let owner = self.context.owner();
        let shown = Shown {
            lease_id: Some(&lease_id),
            owner: &owner,
        };
        let ttl_ms = u64::from(ttl_seconds) * 1000;
        let granted = self.leases.renew(&device, shown, ttl_ms).await;
        granted.map(to_wit).map_err(|e| self.lease_error(e))
    }

    async fn release(
        &mut self,
        device: String,
        lease_id: Option<String>,
    ) -> Result<WitReleased, Error> {
        let device = self.door.device(&device).ok_or(Error::NotFound)?.record.id;
        let lease_id = lease_id.map_or_else(|| self.own(), named)?;
        if self.context.job().is_some() {
            // The job may have other programs to run: the device is made safe at its end.
            return Ok(WitReleased::MakingSafe);
        }
        let owner = self.context.owner();
        let shown = Shown {
            lease_id: Some(&lease_id),
            owner: &owner,
        };
        let released = self.leases.release(&device, shown).await;
        let released = released.map_err(|e| self.lease_error(e))?;
        Ok(self.released(&released))
    }

    async fn take_away(&mut self, device: String, holder: String) -> Result<WitReleased, Error> {
        let device = self.door.device(&device).ok_or(Error::NotFound)?.record.id;
        self.context
            .check_admin("ending somebody else's lease")
            .map_err(Error::Forbidden)?;
        tracing::info!(
            request_id = self.context.request_id,
            user = self.context.owner(),
            device,
            holder,
            "an administrator ends a lease"
        );
        let taken = self.leases.take_away(&device, &holder).await;
        let released = taken.map_err(|e| self.lease_error(e))?;
        Ok(self.released(&released))
    }

    async fn check(&mut self, device: String) -> Result<(), Error> {
        let device = self.door.device(&device).ok_or(Error::NotFound)?.record.id;
        self.door.admit(&device).map_err(Error::Busy)
    }
}

impl View<'_> {
    /// What a program of a job hears when it takes the job's device, or keeps it, as `lease_id`: it
    /// has it already, by the job's lease, which is kept for it.
    fn held_by_job(&self, device: &str, lease_id: String) -> Result<Lease, Error> {
        let owner = self.context.owner();
        let held = self.leases.held(device, self.door.shown(device, &owner));
        let held = held.map_err(|busy| Error::Busy(self.door.told(&busy)))?;
        Ok(to_wit(Granted { lease_id, ..held }))
    }

    fn released(&self, released: &Released) -> WitReleased {
        match released {
            Released::Over { safe: true } => WitReleased::Safe,
            Released::Over { safe: false } => WitReleased::MakingSafe,
            Released::Other(busy) => WitReleased::Other(self.door.told(busy)),
        }
    }

    /// The id of a person's own lease.
    fn own(&self) -> Result<String, Error> {
        match self.context.is_person() {
            true => Ok(PERSONS_LEASE.to_owned()),
            false => {
                let rule = "is required unless you are signed in".to_owned();
                Err(Error::Invalid(("lease_id".to_owned(), rule)))
            }
        }
    }

    /// What others see as the holder of a person's lease.
    async fn login(&self) -> Result<String, Error> {
        let caller = self.context.caller.as_ref().ok_or(Error::NotFound)?;
        let found = self.auth.whoami(caller).await;
        let (user, _) = found.map_err(|e| Error::Other(internal(self.context, "leases", &e)))?;
        Ok(self.holder(&user.login))
    }

    /// The label of a lease: the taker's description of itself, in short ASCII.
    fn holder(&self, label: &str) -> String {
        let plain: String = label
            .chars()
            .filter(|c| c.is_ascii_graphic() || *c == ' ')
            .take(HOLDER_CHARS_MAX)
            .collect();
        match plain.trim() {
            "" => self.context.caller.as_ref().map_or_else(String::new, |c| {
                c.user().chars().take(HOLDER_CHARS_MAX).collect()
            }),
            said => said.to_owned(),
        }
    }

    fn lease_error(&self, error: LeaseError) -> Error {
        match error {
            LeaseError::Busy(busy) => Error::Busy(self.door.told(&busy)),
            LeaseError::Device(e) => Error::Other(internal(self.context, "leases", &e)),
            LeaseError::Store(e) => Error::Other(internal(self.context, "leases", &e)),
        }
    }
}

/// The id of a lease that the caller names. It cannot be that of people's leases: what acts for a person besides the session,
/// such as a key, would have what the person took.
fn named(lease_id: String) -> Result<String, Error> {
    if lease_id == PERSONS_LEASE {
        let rule = format!(
            "must not be `{PERSONS_LEASE}`, which stands for leases of people; choose another"
        );
        return Err(Error::Invalid(("lease_id".to_owned(), rule)));
    }
    Ok(lease_id)
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
