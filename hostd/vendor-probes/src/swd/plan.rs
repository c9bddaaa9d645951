//! Accesses in the order in which they go onto the wire. The access port answers a read with the value of the read before
//! it: the value of the last one comes with a read of `RDBUFF`, which also tells whether the last write was done.

use crate::port::{ABORT, Access, CTRL_STAT, RDBUFF, SELECT};

/// Bits of `SELECT` that say which register stands at the address of `CTRL/STAT`.
const DP_BANK: u32 = 0xF;

/// An access on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) access: Access,
    /// It brings a value that the debugger wants.
    pub(super) brings: bool,
    /// With it, one of the debugger's accesses is done.
    pub(super) completes: bool,
    /// It is to `CTRL/STAT`, not to what else stands at its address.
    pub(super) is_control: bool,
}

impl Step {
    /// An access for its own sake.
    pub(super) fn of(access: Access) -> Self {
        Self {
            access,
            brings: false,
            completes: false,
            is_control: false,
        }
    }

    pub(super) fn is_abort(&self) -> bool {
        self.writes(ABORT)
    }

    /// What it writes to `SELECT`.
    pub(super) fn selects(&self) -> Option<u32> {
        self.writes(SELECT).then_some(self.access.data)
    }

    fn writes(&self, address: u8) -> bool {
        let access = self.access;
        !access.is_ap && !access.is_read && access.address == address
    }
}

/// The steps of accesses that follow `select`.
pub(super) fn steps(accesses: &[Access], mut select: u32) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::with_capacity(accesses.len() + 1);
    // A read of the access port whose value is still to come.
    let mut is_posted = false;
    let buffer = |is_posted| Step {
        brings: is_posted,
        completes: is_posted,
        ..Step::of(Access::read_dp(RDBUFF))
    };
    for access in accesses {
        let is_posting = access.is_ap && access.is_read;
        if is_posted && !is_posting {
            steps.push(buffer(true));
            is_posted = false;
        }
        let brings = if is_posting {
            is_posted
        } else {
            access.is_read
        };
        let step = Step {
            access: *access,
            brings,
            completes: brings || !access.is_read,
            is_control: !access.is_ap && access.address == CTRL_STAT && select & DP_BANK == 0,
        };
        select = step.selects().unwrap_or(select);
        steps.push(step);
        is_posted |= is_posting;
    }
    if accesses.last().is_some_and(|last| last.is_ap) {
        steps.push(buffer(is_posted));
    }
    steps
}

/// How many of these steps may be put on the wire together, of at most so many. An abort would be carried out behind a
/// step that is refused, so it begins a transfer; what follows the control register depends on what was written there.
pub(super) fn together(steps: &[Step], most: usize) -> usize {
    let mut many = 1;
    while many < most.min(steps.len()) && !steps[many].is_abort() && !steps[many - 1].is_control {
        many += 1;
    }
    many
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ap(is_read: bool, address: u8) -> Access {
        Access {
            is_ap: true,
            is_read,
            address,
            data: 0,
        }
    }

    /// For each step: `a` or `d`, `r` or `w`, the address, `+` if it brings a value, `!` if it completes an access.
    fn drawn(accesses: &[Access], select: u32) -> String {
        let drawn = steps(accesses, select).into_iter().map(|step| {
            let access = step.access;
            format!(
                "{}{}{:x}{}{}{}",
                if access.is_ap { 'a' } else { 'd' },
                if access.is_read { 'r' } else { 'w' },
                access.address,
                if step.brings { "+" } else { "" },
                if step.completes { "!" } else { "" },
                if step.is_control { "c" } else { "" },
            )
        });
        drawn.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn values_of_posted_reads_come_one_later() {
        let read = ap(true, 0xC);
        assert_eq!(drawn(&[read; 3], 0), "arc arc+! arc+! drc+!");
        assert_eq!(
            drawn(&[read, ap(false, 4), read, Access::read_dp(CTRL_STAT)], 0),
            "arc drc+! aw4! arc drc+! dr4+!c"
        );
        assert_eq!(drawn(&[ap(false, 0xC); 2], 0), "awc! awc! drc");
        assert_eq!(drawn(&[], 0), "");
    }

    #[test]
    fn the_control_register_is_that_of_its_bank() {
        let (read, select) = (Access::read_dp(CTRL_STAT), |bank| {
            Access::write_dp(SELECT, bank)
        });
        assert_eq!(
            drawn(&[read, select(1), read, select(0), read], 3),
            "dr4+! dw8! dr4+! dw8! dr4+!c"
        );
    }

    #[test]
    fn aborts_and_the_control_register_stand_apart() {
        let accesses = [
            Access::read_dp(0),
            Access::write_dp(ABORT, 0x1E),
            Access::write_dp(CTRL_STAT, 0),
            Access::read_dp(0),
            Access::read_dp(0),
        ];
        let steps = steps(&accesses, 0);
        let (mut at, mut sizes) = (0, Vec::new());
        while at < steps.len() {
            sizes.push(together(&steps[at..], 9));
            at += sizes.last().unwrap();
        }
        assert_eq!(sizes, [1, 2, 2]);
        assert_eq!(together(&steps, 1), 1);
    }
}
