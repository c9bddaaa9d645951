//! Firmware versions that a simulated pod can announce, and what older ones lack.

use std::fmt;
use std::str::FromStr;

use pod_protocol::capture::ConditionKind;
use pod_protocol::chunk::raw;
use pod_protocol::{CAPTURE_PRE, CAPTURE_STREAM};

/// A firmware version. Below [`CURRENT`](Self::CURRENT) the pod lacks what came later: its
/// capabilities do not include it and its commands are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Firmware {
    major: u16,
    minor: u16,
    patch: u16,
}

/// What a version added: names in `caps`, and commands.
struct Arrival {
    since: Firmware,
    caps: &'static [&'static str],
    verbs: &'static [&'static str],
}

/// Newest first. Anything not listed is older than any pod in use.
const ARRIVALS: [Arrival; 7] = [
    Arrival {
        since: Firmware::new(3, 9, 4),
        caps: &[
            "cal_dmm",
            raw::CAPABILITY,
            CAPTURE_PRE,
            CAPTURE_STREAM,
            ConditionKind::Pulse.capability(),
            ConditionKind::Pattern.capability(),
            ConditionKind::Level.capability(),
        ],
        verbs: &[],
    },
    Arrival {
        since: Firmware::new(3, 9, 3),
        caps: &["lan_tls"],
        verbs: &["lan_tls"],
    },
    Arrival {
        since: Firmware::new(3, 9, 1),
        caps: &["generate16"],
        verbs: &[],
    },
    Arrival {
        since: Firmware::NETWORK_ONLY,
        caps: &[],
        verbs: &["usb_network"],
    },
    Arrival {
        since: Firmware::new(3, 6, 0),
        caps: &[],
        verbs: &["lan_policy", "sig_policy"],
    },
    Arrival {
        since: Firmware::new(3, 5, 1),
        caps: &["can"],
        verbs: &[
            "can_config",
            "can_disable",
            "can_read",
            "can_respond",
            "can_status",
            "can_term",
            "can_write",
        ],
    },
    Arrival {
        since: Firmware::new(3, 4, 0),
        caps: &["calibrate", "current_out"],
        verbs: &["calibrate", "current_out"],
    },
];

impl Firmware {
    /// The version that the simulator imitates.
    pub const CURRENT: Self = Self::new(3, 9, 4);

    /// From this version on, the USB console leaves instrument commands to the network.
    pub(crate) const NETWORK_ONLY: Self = Self::new(3, 9, 0);

    pub(crate) const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Whether `status` names this capability.
    pub(crate) fn has_capability(self, name: &str) -> bool {
        let listed = ARRIVALS.iter().find(|one| one.caps.contains(&name));
        listed.is_none_or(|one| self >= one.since)
    }

    /// Whether this command is known.
    pub(crate) fn knows(self, verb: &str) -> bool {
        let listed = ARRIVALS.iter().find(|one| one.verbs.contains(&verb));
        listed.is_none_or(|one| self >= one.since)
    }
}

impl fmt::Display for Firmware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// A text that is not a version of three numbers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version such as 3.4.0")]
pub struct FirmwareError(String);

impl FromStr for Firmware {
    type Err = FirmwareError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers: Option<Vec<u16>> = text.split('.').map(|part| part.parse().ok()).collect();
        match numbers.as_deref() {
            Some([major, minor, patch]) => Ok(Self::new(*major, *minor, *patch)),
            _ => Err(FirmwareError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    //! Versions are ordered by their numbers and lack what came after them.

    use super::*;

    #[test]
    fn versions_are_three_numbers_in_order() {
        let old: Firmware = "3.10.2".parse().unwrap();
        assert!(old > Firmware::CURRENT);
        assert_eq!(old.to_string(), "3.10.2");
        for bad in ["", "3", "3.9", "3.9.4.1", "3.9.x", "-1.0.0", "3.9.70000"] {
            assert!(bad.parse::<Firmware>().is_err(), "{bad}");
        }
    }

    #[test]
    fn older_ones_lack_what_came_later() {
        let old: Firmware = "3.5.0".parse().unwrap();
        assert!(!old.knows("can_write") && !old.has_capability("can"));
        assert!(old.knows("current_out") && old.has_capability("current_out"));
        assert!(old.knows("ping") && old.has_capability("la"));
        assert!(Firmware::CURRENT.has_capability("cal_dmm"));
    }
}
