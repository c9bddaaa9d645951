//! Slots of a server: each is a separate user of the host if the server can switch users.

use std::fs;

/// A slot of the server: everything that runs in it is one user of the host, separate from the users
/// of other slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u16);

impl Slot {
    /// The user and group id of the first slot: above those that distributions and systemd (up to 1879048191)
    /// assign, within 31 bits.
    pub const FIRST_UID: u32 = 1_900_000_000;

    /// Number of slots of a server.
    pub const COUNT: u16 = 1024;

    /// The slot with a number below [`Slot::COUNT`].
    #[must_use]
    pub fn new(number: u16) -> Option<Self> {
        (number < Self::COUNT).then_some(Self(number))
    }

    /// The user and group id on the host of programs in the slot, if [`Slot::are_users`]. Otherwise all slots
    /// are the server's own user.
    #[must_use]
    pub fn uid(self) -> u32 {
        Self::FIRST_UID + u32::from(self.0)
    }

    /// True if slots are separate users: the server is root, and not just inside a container with few users.
    #[must_use]
    pub fn are_users() -> bool {
        let is_mapped = |map: &str| {
            let text = fs::read_to_string(map).unwrap_or_default();
            let last = Self::FIRST_UID + u32::from(Self::COUNT) - 1;
            covers(&text, Self::FIRST_UID) && covers(&text, last)
        };
        rustix::process::geteuid().is_root()
            && is_mapped("/proc/self/uid_map")
            && is_mapped("/proc/self/gid_map")
    }
}

/// True if a map as in user_namespaces(7), lines of first inside, first outside and count, contains a number
/// inside.
fn covers(map: &str, number: u32) -> bool {
    map.lines().any(|line| {
        let mut fields = line.split_ascii_whitespace().map(str::parse::<u64>);
        let (Some(Ok(first)), Some(Ok(_)), Some(Ok(count))) =
            (fields.next(), fields.next(), fields.next())
        else {
            return false;
        };
        let number = u64::from(number);
        first <= number && number < first + count
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_s_user_is_its_own() {
        assert_eq!(Slot::new(3).map(Slot::uid), Some(1_900_000_003));
        assert_eq!(Slot::new(Slot::COUNT), None);
    }

    #[test]
    fn users_are_there_if_a_map_has_them() {
        let host = "         0          0 4294967295\n";
        let container = "         0       1000          1\n         1     100000      65536\n";
        assert!(covers(host, Slot::FIRST_UID));
        assert!(covers(container, 0) && covers(container, 65_536));
        assert!(!covers(container, 65_537) && !covers(container, Slot::FIRST_UID));
        assert!(!covers("", 0));
    }
}
