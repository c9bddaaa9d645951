//! Who is connected to a simulated pod, and the gates between their commands and the instrument:
//! the LAN policy, a cloud job that holds the pod, the tier of a tunnel, safe mode.

use std::collections::BTreeSet;
use std::time::Duration;

use pod_protocol::commands::Tier;
use serde_json::{Value, json};

/// Longest hold of a cloud job; a longer job renews it in time.
pub const LEASE_MAX: Duration = Duration::from_secs(600);

/// Longest name of a holder, in bytes.
const HOLDER_BYTES_MAX: usize = 40;

/// Where a connection comes from. It decides what the connection may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Ethernet or Wi-Fi, in plaintext.
    Lan,
    /// Ethernet or Wi-Fi, over TLS.
    LanTls,
    /// The pod's own USB port, as a console or as a network adapter: whoever has the cable may do
    /// everything. Connections inside this process count as USB.
    Usb,
    /// A tunnel through the cloud, up to this tier.
    Tunnel(Tier),
}

impl Origin {
    /// Whether the LAN policy and the hold of a cloud job apply to it.
    pub(crate) fn is_lan(self) -> bool {
        matches!(self, Self::Lan | Self::LanTls)
    }
}

/// One connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) origin: Origin,
    /// Distinguishes LAN connections, from 1; 0 elsewhere.
    slot: u8,
}

impl Peer {
    /// The text console of the USB port.
    pub(crate) const CONSOLE: Self = Self {
        origin: Origin::Usb,
        slot: 0,
    };

    /// The name of this owner of an update session.
    pub(crate) fn owner(self) -> String {
        match self.origin {
            Origin::Lan | Origin::LanTls => format!("lan:{}", self.slot),
            Origin::Usb => "usb".to_owned(),
            Origin::Tunnel(_) => "cloud".to_owned(),
        }
    }
}

/// A cloud job that holds the pod.
#[derive(Debug)]
struct Lease {
    holder: String,
    until_ns: u64,
}

/// Connections and gates. None of this is stored in the pod.
#[derive(Debug, Default)]
pub(crate) struct Access {
    slots: BTreeSet<u8>,
    sessions: usize,
    lease: Option<Lease>,
    /// Why the pod is in safe mode.
    safe: Option<String>,
}

impl Access {
    pub(crate) fn join(&mut self, origin: Origin) -> Peer {
        let mut slot = 0;
        if origin.is_lan() {
            let free = (1..=u8::MAX).find(|slot| !self.slots.contains(slot));
            slot = free.expect("there are fewer connections than slots");
            self.slots.insert(slot);
        }
        self.sessions += usize::from(origin == Origin::LanTls);
        Peer { origin, slot }
    }

    pub(crate) fn leave(&mut self, peer: Peer) {
        self.slots.remove(&peer.slot);
        self.sessions -= usize::from(peer.origin == Origin::LanTls);
    }

    pub(crate) fn is_safe(&self) -> bool {
        self.safe.is_some()
    }

    /// Connections over TLS.
    pub(crate) fn tls_sessions(&self) -> usize {
        self.sessions
    }

    /// A cloud job takes the pod, or gives it back. The name is truncated to the length
    /// that a pod keeps.
    pub(crate) fn set_lease(&mut self, holder: Option<&str>, lasts: Duration, now_ns: u64) {
        self.lease = holder.map(|holder| {
            let ascii = holder.chars().filter(char::is_ascii);
            let lasts = lasts.min(LEASE_MAX).as_nanos();
            Lease {
                holder: ascii.take(HOLDER_BYTES_MAX).collect(),
                until_ns: now_ns + u64::try_from(lasts).expect("at most ten minutes"),
            }
        });
    }

    pub(crate) fn set_safe_mode(&mut self, reason: Option<String>) {
        self.safe = reason;
    }

    /// After a restart: the cloud link has dropped, and the hold with it.
    pub(crate) fn reboot(&mut self) {
        self.lease = None;
    }

    /// Holder and seconds left, while a cloud job holds the pod.
    pub(crate) fn held(&self, now_ns: u64) -> Option<(&str, u64)> {
        let lease = self.lease.as_ref()?;
        let left_ns = lease
            .until_ns
            .checked_sub(now_ns)
            .filter(|left| *left > 0)?;
        Some((&lease.holder, left_ns.div_ceil(1_000_000_000)))
    }

    /// The fields of `status` about this.
    pub(crate) fn status(&self, now_ns: u64) -> [(&'static str, Value); 3] {
        let lease = match self.held(now_ns) {
            Some((holder, left_s)) => json!({"held": true, "holder": holder, "left_s": left_s}),
            None => json!({"held": false, "holder": "", "left_s": 0}),
        };
        let reason = self.safe.as_deref().unwrap_or("");
        [
            ("lease", lease),
            ("safe_mode", self.safe.is_some().into()),
            ("safe_reason", reason.into()),
        ]
    }
}

#[cfg(test)]
mod tests;
