//! Slots of a server: each is a user of the host, where the server can become one.

use std::fs;

/// A slot of the server: what runs in it is one user of the host, apart from the users of other slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u16);

impl Slot {
    /// The user, and group, of the first slot: above those that distributions and systemd (up to 1879048191) give
    /// away, within 31 bits.
    pub const FIRST_UID: u32 = 1_900_000_000;

    /// Slots of a server.
    pub const COUNT: u16 = 1024;

    /// The slot with a number below [`Slot::COUNT`].
    #[must_use]
    pub fn new(number: u16) -> Option<Self> {
        (number < Self::COUNT).then_some(Self(number))
    }

    /// The user and group on the host of what runs in the slot, where [`Slot::are_users`]. Otherwise all slots are
    /// the server's own user.
    #[must_use]
    pub fn uid(self) -> u32 {
        Self::FIRST_UID + u32::from(self.0)
    }

    /// True if slots are users of their own: the server is root, and not only in a container whose users are few.
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

/// True if a map of user_namespaces(7), lines of first inside, first outside and count, has a number inside.
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
