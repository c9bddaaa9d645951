//! What a client is told that does not get a device.

/// Why a device is not available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Busy {
    /// Label of the holder; none while the device changes hands or is made safe.
    pub holder: Option<String>,
    /// When the lease ends if nobody renews it, by the steady clock; none as above.
    pub expires_ms: Option<u64>,
    /// The lease that the request shows is over; asking again does not help.
    pub lost: bool,
    /// The device owes a safe state.
    pub making_safe: bool,
    /// What has kept it from that for a minute, as a fragment.
    pub obstacle: Option<String>,
    /// Place in the queue, from 1; none for a client that does not wait for the lease.
    pub place: Option<u32>,
    /// When to ask again.
    pub retry_after_ms: u64,
}
