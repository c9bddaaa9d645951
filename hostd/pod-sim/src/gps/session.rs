//! A session of the emulated receiver: which epochs are sent, when, and the text of each.

use std::sync::Arc;

use super::super::pins::{FRAME_BITS, bits_ns};
use super::fix::Fix;
use super::nmea::{self, Sentence};
use super::sky::Sky;

const SECOND_NS: u64 = 1_000_000_000;
const SECOND_US: u64 = 1_000_000;

/// Changes of the fix that are kept for running captures; beyond this, the oldest are forgotten.
const PLANS_MAX: usize = 4_096;

/// The longest epoch: all sentences at the slowest rate take less than this.
const EPOCH_NS_MAX: u64 = 40 * SECOND_NS;

/// The requested settings of a session.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) tx: u8,
    pub(crate) baud: u32,
    pub(crate) rate_hz: u64,
    pub(crate) sentences: Vec<Sentence>,
}

/// Totals of what has been sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) epochs: u64,
    pub(crate) overruns: u64,
    pub(crate) bytes: u64,
}

/// The time from one change of the fix to the next: every `stride`-th epoch is sent, because the
/// others are due while one is still being sent.
#[derive(Debug, Clone)]
struct Plan {
    first: u64,
    /// The fix at the first epoch.
    fix: Fix,
    /// The first epoch that is sent.
    sent_from: u64,
    stride: u64,
    /// Length of each epoch's text, in bytes: it depends on the fix, not on the time.
    bytes: u64,
    /// Totals before the first epoch.
    before: Counts,
}

/// A session, running or ended.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) settings: Settings,
    sky: Arc<Sky>,
    pub(crate) start_ns: u64,
    end_ns: Option<u64>,
    /// Ascending, never empty.
    plans: Vec<Plan>,
}

impl Session {
    /// A session whose first epoch begins now.
    pub(crate) fn new(settings: Settings, fix: Fix, sky: Arc<Sky>, now_ns: u64) -> Self {
        let mut session = Self {
            settings,
            sky,
            start_ns: now_ns,
            end_ns: None,
            plans: Vec::new(),
        };
        let plan = session.plan(0, fix, 0, Counts::default());
        session.plans.push(plan);
        session
    }

    fn plan(&self, first: u64, fix: Fix, sent_from: u64, before: Counts) -> Plan {
        let bytes = nmea::epoch(&fix, &self.settings.sentences, &self.sky).len() as u64;
        let duration_ns = self.duration_ns(bytes);
        Plan {
            first,
            fix,
            sent_from,
            stride: (duration_ns * self.settings.rate_hz)
                .div_ceil(SECOND_NS)
                .max(1),
            bytes,
            before,
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.end_ns.is_none()
    }

    pub(crate) fn has_ended(&self, by_ns: u64) -> bool {
        self.end_ns.is_some_and(|end| end <= by_ns)
    }

    pub(crate) fn end_ns(&self) -> Option<u64> {
        self.end_ns
    }

    pub(crate) fn end(&mut self, now_ns: u64) {
        self.end_ns = Some(now_ns);
    }

    /// Bits per second that the sentences need.
    pub(crate) fn bits_per_s(&self) -> u64 {
        let bytes = self.plans.last().map_or(0, |plan| plan.bytes);
        bytes * FRAME_BITS * self.settings.rate_hz
    }

    fn duration_ns(&self, bytes: u64) -> u64 {
        bits_ns(bytes * FRAME_BITS, self.settings.baud)
    }

    /// When an epoch is due.
    pub(crate) fn epoch_ns(&self, epoch: u64) -> u64 {
        self.start_ns + epoch * SECOND_NS / self.settings.rate_hz
    }

    /// The last epoch that was due at that time.
    pub(crate) fn epoch_at(&self, at_ns: u64) -> Option<u64> {
        let elapsed_ns = at_ns.checked_sub(self.start_ns)?;
        let whole = elapsed_ns / SECOND_NS * self.settings.rate_hz;
        let part = elapsed_ns % SECOND_NS * self.settings.rate_hz / SECOND_NS;
        let near = whole + part;
        // Epoch times are rounded down, so the next one may be due already.
        Some(near + u64::from(self.epoch_ns(near + 1) <= at_ns))
    }

    fn index(&self, epoch: u64) -> usize {
        let later = self.plans.partition_point(|plan| plan.first <= epoch);
        later.saturating_sub(1)
    }

    fn fix_of(&self, epoch: u64) -> Fix {
        let plan = &self.plans[self.index(epoch)];
        let epochs = epoch.saturating_sub(plan.first);
        let us = epochs * SECOND_US / self.settings.rate_hz;
        plan.fix
            .after(i64::try_from(us).expect("a pod runs for less than 584 years"))
    }

    /// The fix that was last sent, or that was set for the next epoch.
    pub(crate) fn present(&self, now_ns: u64) -> Fix {
        let last = self.plans.last().map_or(0, |plan| plan.first);
        self.fix_of(self.epoch_at(now_ns).unwrap_or(0).max(last))
    }

    /// The fix of the next epoch.
    pub(crate) fn upcoming(&self, now_ns: u64) -> Fix {
        self.fix_of(self.next_due(now_ns))
    }

    fn next_due(&self, now_ns: u64) -> u64 {
        self.epoch_at(now_ns).map_or(0, |epoch| epoch + 1)
    }

    /// Sets the fix of the next epoch.
    pub(crate) fn change(&mut self, fix: Fix, now_ns: u64) {
        let first = self.next_due(now_ns);
        while self.plans.len() > 1 && self.plans.last().is_some_and(|plan| plan.first >= first) {
            self.plans.pop();
        }
        let before = self.counts_to(first.saturating_sub(1));
        let free_ns = self.last_sent(first.saturating_sub(1)).map_or(0, |epoch| {
            self.epoch_ns(epoch) + self.duration_ns(self.plans[self.index(epoch)].bytes)
        });
        let sent_from = (first..).find(|epoch| self.epoch_ns(*epoch) >= free_ns);
        let sent_from = sent_from.expect("epochs go on without end");
        let plan = self.plan(first, fix, sent_from, before);
        self.plans.push(plan);
        if self.plans.len() > PLANS_MAX {
            self.plans.remove(0);
        }
    }

    /// What has been sent by now.
    pub(crate) fn counts(&self, now_ns: u64) -> Counts {
        self.epoch_at(now_ns)
            .map_or(Counts::default(), |epoch| self.counts_to(epoch))
    }

    /// Totals up to and including an epoch.
    fn counts_to(&self, epoch: u64) -> Counts {
        let plan = &self.plans[self.index(epoch)];
        let due = (epoch + 1).saturating_sub(plan.first);
        let sent = match epoch.checked_sub(plan.sent_from) {
            Some(later) => later / plan.stride + 1,
            None => 0,
        };
        Counts {
            epochs: plan.before.epochs + sent,
            overruns: plan.before.overruns + due - sent,
            bytes: plan.before.bytes + sent * plan.bytes,
        }
    }

    /// The last epoch, up to and including this one, that is sent.
    pub(crate) fn last_sent(&self, epoch: u64) -> Option<u64> {
        let (mut index, mut epoch) = (self.index(epoch), epoch);
        loop {
            let plan = &self.plans[index];
            if let Some(later) = epoch.checked_sub(plan.sent_from) {
                return Some(plan.sent_from + later / plan.stride * plan.stride);
            }
            epoch = plan.first.checked_sub(1)?;
            index = index.checked_sub(1)?;
        }
    }

    /// The first epoch after this one that is sent; for `None`, the very first one.
    pub(crate) fn next_sent(&self, epoch: Option<u64>) -> u64 {
        let mut index = epoch.map_or(0, |epoch| self.index(epoch));
        let mut next = match epoch {
            Some(epoch) if epoch >= self.plans[index].sent_from => {
                let plan = &self.plans[index];
                plan.sent_from + ((epoch - plan.sent_from) / plan.stride + 1) * plan.stride
            }
            _ => self.plans[index].sent_from,
        };
        while let Some(plan) = self.plans.get(index + 1).filter(|plan| plan.first <= next) {
            next = plan.sent_from;
            index += 1;
        }
        next
    }

    /// The text of an epoch.
    pub(crate) fn text(&self, epoch: u64) -> Vec<u8> {
        let fix = self.fix_of(epoch);
        nmea::epoch(&fix, &self.settings.sentences, &self.sky).into_bytes()
    }

    pub(crate) fn prune(&mut self, before_ns: u64) {
        let before_ns = before_ns.saturating_sub(EPOCH_NS_MAX);
        let epoch = self.epoch_at(before_ns).unwrap_or(0);
        let first = self.index(epoch);
        self.plans.drain(..first);
    }
}
