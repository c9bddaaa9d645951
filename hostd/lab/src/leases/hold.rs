//! A lease: who takes a device, until when, and how a request proves that it comes from the holder.

/// Shortest and longest lifetime of a lease without renewal, in seconds.
pub const TTL_S: std::ops::RangeInclusive<u32> = 15..=600;

/// Longest label of a holder, in characters.
pub const HOLDER_CHARS_MAX: usize = 40;

/// The id of leases that people take who are signed in. It is no secret: a session shows it by being the owner's, and nothing
/// else may name it.
pub const PERSONS_LEASE: &str = "person";

/// A lease as its taker asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Chosen by the client; whoever presents it is the holder.
    pub lease_id: String,
    /// Organisation and user that took it: an overheard id alone is not enough.
    pub owner: String,
    /// What others see: a short ASCII label, never a secret.
    pub holder: String,
    /// Name of the device when it was taken, which the holder can go on using.
    pub device_name: String,
    pub ttl_ms: u64,
}

/// How a device is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// If it is not to be had now: wait in line for it, by asking again every few seconds. A client
    /// that does not mean to do that takes no place from those who do.
    pub waits: bool,
    /// Take it even if it is not in its safe state, as an administrator.
    pub overriding: bool,
}

impl Ask {
    /// Now or not at all.
    pub const ONCE: Self = Self {
        waits: false,
        overriding: false,
    };
}

/// A lease that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub claim: Claim,
    /// By the steady clock.
    pub expires_ms: u64,
    /// Grows with every change of hands. Whatever was let in under one number is cut off when the
    /// number changes.
    pub(crate) fence: u64,
}

/// Which lease a request shows.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'r> {
    pub lease_id: Option<&'r str>,
    pub owner: &'r str,
}

impl Held {
    /// Whether the claim is for this lease.
    #[must_use]
    pub(crate) fn is_for(&self, claim: &Claim) -> bool {
        self.claim.lease_id == claim.lease_id && self.claim.owner == claim.owner
    }

    /// Whether a request shows this lease.
    #[must_use]
    pub(crate) fn is_shown(&self, shown: Shown<'_>) -> bool {
        shown.lease_id == Some(self.claim.lease_id.as_str()) && shown.owner == self.claim.owner
    }
}
