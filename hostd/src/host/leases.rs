//! `bench:host/leases`: one consumer of a device at a time.

use super::bindings::bench::host::http_types::Busy;
use super::bindings::bench::host::leases::{Error, Host, Lease};
use super::{Call, Context, internal};
use crate::clock;
use crate::leases::{self, Claim, Granted, LeaseError, Shown, TTL_S, Visit};

/// Longest lease id, in bytes.
const LEASE_ID_BYTES_MAX: usize = 128;

/// Longest label that is shown to others, in characters.
const HOLDER_CHARS_MAX: usize = 40;

impl Host for Call {
    async fn acquire(
        &mut self,
        device: String,
        lease_id: String,
        label: String,
        ttl_seconds: u32,
    ) -> Result<Lease, Error> {
        let device = self.device(&device).ok_or(Error::NotFound)?.record.id;
        check(&lease_id, ttl_seconds)?;
        let claim = Claim {
            lease_id,
            owner: self.owner(),
            holder: self.holder(&label),
            ttl_ms: u64::from(ttl_seconds) * 1000,
        };
        let granted = self.services.leases.acquire(&device, claim).await;
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

    async fn release(&mut self, device: String, lease_id: String) -> Result<(), Error> {
        let device = self.device(&device).ok_or(Error::NotFound)?.record.id;
        let owner = self.owner();
        let shown = Shown {
            lease_id: Some(&lease_id),
            owner: &owner,
        };
        self.services.leases.release(&device, shown).await;
        Ok(())
    }

    async fn take_away(&mut self, device: String, holder: String) -> Result<(), Error> {
        let device = self.device(&device).ok_or(Error::NotFound)?.record.id;
        if !self.caller.as_ref().is_some_and(|c| c.is_admin()) {
            let text = "ending somebody else's lease takes an administrator";
            return Err(Error::Forbidden(text.to_owned()));
        }
        let taken = self.services.leases.take_away(&device, &holder).await;
        taken.map_err(|e| self.lease_error(e))
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

    /// Let what the request begins stay on a device, until a lease takes it away.
    pub(super) fn visit(&self, device: &str) -> Result<Visit, Busy> {
        let owner = self.owner();
        let visit = self.services.leases.visit(device, self.shown(&owner));
        visit.map_err(|busy| self.told(&busy))
    }

    pub(super) fn told(&self, busy: &leases::Busy) -> Busy {
        let wall = |ms| clock::text(self.services.leases.wall_ms(ms));
        Busy {
            holder: busy.holder.clone(),
            expires_at: busy.expires_ms.map(wall),
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
