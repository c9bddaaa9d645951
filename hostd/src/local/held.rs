//! A device that a run has: by a lease, which is renewed meanwhile, and which ends with the device safe.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dispatch::{Grant, Opened};
use evidence::redact::Words;
use jobs::{Bench, Breakage, Cancel, Loan, Outcome};
use lab::leases::{Claim, HOLDER_CHARS_MAX, Shown};
use tokio::task::JoinHandle;

use super::UNSAFE;
use super::safety::Safety;

/// How long a lease lasts unless it is renewed: a process that is stopped for so long has lost the device.
const TTL_MS: u64 = 60_000;

/// Between two renewals.
const RENEW_EVERY: Duration = Duration::from_secs(20);

/// How long a device that is being made safe is waited for.
const FREE_WAIT: Duration = Duration::from_secs(30);

/// Before it is asked for again.
const PAUSE: Duration = Duration::from_millis(200);

/// A device with all that a run needs of it.
pub(super) struct Held {
    /// In front of the lease, by which it drives the device.
    opened: Opened,
    lease: Lease,
    what: String,
}

impl Held {
    pub(super) fn new(opened: Opened, lease: Lease, what: String) -> Self {
        Self {
            opened,
            lease,
            what,
        }
    }
}

impl Loan for Held {
    fn bench(&self) -> &dyn Bench {
        &*self.opened.bench
    }

    fn what(&self) -> String {
        self.what.clone()
    }

    fn secrets(&self) -> &BTreeMap<String, String> {
        &self.opened.secrets
    }

    fn words(&self) -> &Words {
        &self.opened.words
    }

    fn give_back(self: Box<Self>) -> Result<(), Breakage> {
        let Self {
            opened, mut lease, ..
        } = *self;
        drop(opened);
        match lease.end() {
            true => Ok(()),
            false => Err(Breakage::DeviceLost(UNSAFE.to_owned())),
        }
    }
}

/// A lease. It ends, and the device is made safe, when this is dropped.
pub(super) struct Lease {
    safety: Safety,
    grant: Grant,
    renewing: JoinHandle<()>,
    is_over: bool,
}

impl Lease {
    /// Takes a device as soon as it is free.
    pub(super) fn take(
        safety: &Safety,
        grant: &Grant,
        name: &str,
        cancel: &Cancel,
    ) -> Result<Self, Outcome> {
        let lost = |why: String| Outcome::Broken(Breakage::DeviceLost(why));
        let until = Instant::now() + FREE_WAIT;
        loop {
            if cancel.is_set() {
                return Err(Outcome::Cancelled);
            }
            let claim = Claim {
                lease_id: grant.lease_id.clone(),
                owner: grant.lease_owner.clone(),
                holder: grant.job.chars().take(HOLDER_CHARS_MAX).collect(),
                device_name: name.to_owned(),
                ttl_ms: TTL_MS,
            };
            match safety.acquire(grant, claim) {
                Ok(true) => break,
                Ok(false) if Instant::now() < until => std::thread::sleep(PAUSE),
                Ok(false) => return Err(lost(format!("{name} does not become safe"))),
                Err(why) => return Err(lost(why)),
            }
        }
        let (leases, of) = (safety.leases().clone(), grant.clone());
        let renewing = safety.handle().spawn(async move {
            loop {
                tokio::time::sleep(RENEW_EVERY).await;
                // A run whose lease is over is told by its next step.
                let _ = leases.renew(&of.device, shown(&of), TTL_MS).await;
            }
        });
        Ok(Self {
            safety: safety.clone(),
            grant: grant.clone(),
            renewing,
            is_over: false,
        })
    }

    /// Ends it; whether the device is safe.
    pub(super) fn end(&mut self) -> bool {
        self.is_over = true;
        self.renewing.abort();
        self.safety.release(&self.grant)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.is_over {
            self.end();
        }
    }
}

pub(super) fn shown(grant: &Grant) -> Shown<'_> {
    Shown {
        lease_id: Some(&grant.lease_id),
        owner: &grant.lease_owner,
    }
}
