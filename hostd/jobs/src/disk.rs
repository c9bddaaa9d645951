//! The disk that attempts run on: what each takes of it, and what stays free for everybody.
//!
//! What a command takes is counted while it runs, so it may be over its bound by what it writes between two looks. The
//! room that is left is looked at all the time, and what is counted is counted again as soon as that has shrunk.

mod floor;
mod tenants;

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use jail::{Gauge, Usage, disk_use};

pub(crate) use floor::{Amount, Floor};
pub(crate) use tenants::{Tenant, Tenants};

/// Between two looks at the room that is left.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Between two counts of what a command has, if nothing seems to happen.
const COUNT_EVERY: Duration = Duration::from_secs(2);

/// A count that takes long is followed by a pause so many times as long.
const PAUSE_FACTOR: u32 = 10;

/// Likewise, when the room that is left has shrunk.
const HURRIED_PAUSE_FACTOR: u32 = 3;

/// A count that takes longer is given up, and begun once more.
const COUNT_WITHIN: Duration = Duration::from_secs(60);

/// The disk of one runner.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) floor: Floor,
    pub(crate) tenants: Tenants,
}

/// What was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// What the command may take.
    Most,
    /// What must stay free.
    Floor,
}

/// Looks after a command while it runs.
pub(crate) struct Watch<'w> {
    folder: &'w Path,
    /// Bytes that it may take.
    most: u64,
    floor: Floor,
    tenant: &'w Tenant<'w>,
    gauge: Option<Gauge>,
    counted: Option<Counted>,
    /// The disk was nearly full meanwhile: whatever failed may have failed for that.
    was_short: bool,
}

/// What was found by the last count.
#[derive(Clone, Copy, Debug)]
struct Counted {
    at: Instant,
    took: Duration,
    usage: Usage,
    /// What was free then.
    free: Amount,
}

impl Disk {
    pub(crate) fn new(floor_bytes: u64) -> Self {
        Self {
            floor: Floor::of(floor_bytes),
            tenants: Tenants::default(),
        }
    }
}

impl<'w> Watch<'w> {
    /// Of a command that fills `folder`, or others without a name, up to `most` bytes.
    pub(crate) fn new(
        folder: &'w Path,
        most: u64,
        floor: Floor,
        tenant: &'w Tenant<'w>,
        gauge: Option<Gauge>,
    ) -> Self {
        tenant.set_watched(true);
        Self {
            folder,
            most,
            floor,
            tenant,
            gauge,
            counted: None,
            was_short: false,
        }
    }

    /// What has been passed, if anything. To be asked again after a [`TICK`].
    pub(crate) fn look(&mut self) -> io::Result<Option<Passed>> {
        let room = self.floor.look(self.folder)?;
        let is_short = !room.missing.is_none();
        self.was_short |= is_short;
        if self.is_time(is_short, room.free) {
            match self.count(room.free) {
                Ok(true) => {}
                Ok(false) => return Ok(Some(Passed::Most)),
                Err(_) => self.tenant.hide(),
            }
        }
        if !is_short {
            self.tenant.has_room();
            return Ok(None);
        }
        Ok(self
            .tenant
            .must_leave(room.missing)
            .then_some(Passed::Floor))
    }

    /// Whether to count: it was long ago, or a good part of what the command may still take has gone somewhere.
    fn is_time(&self, is_short: bool, free: Amount) -> bool {
        let Some(last) = self.counted else {
            return true;
        };
        let since = last.at.elapsed();
        let left = self.most.saturating_sub(last.usage.bytes);
        let is_hurried = is_short || free.bytes.saturating_add(left / 2) <= last.free.bytes;
        let pause = match is_hurried {
            true => last.took * HURRIED_PAUSE_FACTOR,
            false => COUNT_EVERY.max(last.took * PAUSE_FACTOR),
        };
        pause <= since
    }

    /// Counts what the command takes. False if that is more than it may.
    fn count(&mut self, free: Amount) -> io::Result<bool> {
        let begun = Instant::now();
        let usage = match &mut self.gauge {
            Some(gauge) => gauge.read(COUNT_WITHIN)?,
            None => Some(disk_use(self.folder)?),
        };
        // It has ended.
        let Some(usage) = usage else {
            return Ok(true);
        };
        let hid = self.counted.is_some_and(|last| last.usage.hides);
        let at = Instant::now();
        self.counted = Some(Counted {
            at,
            took: at.saturating_duration_since(begun),
            usage,
            free,
        });
        let held = Amount {
            bytes: usage.bytes,
            files: usage.files,
        };
        // What was on its way once is no reason.
        self.tenant.hold(held, hid && usage.hides);
        Ok(self.is_within(usage))
    }

    fn is_within(&self, usage: Usage) -> bool {
        !usage.is_too_much && usage.bytes <= self.most
    }

    /// What the command has passed, once nothing of it is left but its folder: it may have written a lot since the
    /// last look, or failed for the little room that there was.
    pub(crate) fn finish(mut self) -> io::Result<Option<Passed>> {
        self.gauge = None;
        self.was_short |= !self.floor.look(self.folder)?.missing.is_none();
        let is_within = self.count(Amount::default())?;
        Ok(match (is_within, self.was_short) {
            (false, _) => Some(Passed::Most),
            (true, true) => Some(Passed::Floor),
            (true, false) => None,
        })
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.tenant.set_watched(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_bounds_are_seen() {
        let job = tempfile::tempdir().unwrap();
        std::fs::write(job.path().join("x"), vec![1; 16 << 20]).unwrap();
        let tenants = Tenants::default();
        let tenant = tenants.enter("o");
        let watch = |most, floor| Watch::new(job.path(), most, Floor::of(floor), &tenant, None);
        let look = |most, floor| watch(most, floor).look().unwrap();
        let (enough, little) = (32 << 20, 8 << 20);
        assert_eq!(look(enough, 0), None);
        assert_eq!(look(little, 0), Some(Passed::Most));
        // As much is missing as this job has, or more.
        let free = Floor::of(0).look(job.path()).unwrap().free.bytes;
        assert_eq!(look(enough, free + (8 << 20)), Some(Passed::Floor));
        tenant.has_room();
        assert_eq!(look(enough, u64::MAX), None);
        let finish = |most, floor| watch(most, floor).finish().unwrap();
        assert_eq!(finish(enough, 0), None);
        assert_eq!(finish(little, u64::MAX), Some(Passed::Most));
        assert_eq!(finish(enough, u64::MAX), Some(Passed::Floor));
    }

    #[test]
    fn what_is_taken_is_counted_again_as_soon_as_room_has_gone() {
        let job = tempfile::tempdir().unwrap();
        let tenants = Tenants::default();
        let tenant = tenants.enter("o");
        let mut watch = Watch::new(job.path(), 1000, Floor::of(0), &tenant, None);
        let free = |bytes| Amount { bytes, files: 9 };
        assert!(watch.is_time(false, free(5000)), "nothing is known yet");
        watch.count(free(5000)).unwrap();
        assert!(!watch.is_time(false, free(5000)));
        assert!(!watch.is_time(false, free(4501)));
        if let Some(counted) = &mut watch.counted {
            counted.took = Duration::ZERO;
        }
        assert!(watch.is_time(false, free(4500)));
        assert!(watch.is_time(true, free(5000)));
    }
}
