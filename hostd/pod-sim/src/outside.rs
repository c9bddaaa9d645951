//! What is outside the pod and drives logic-analyzer channels: a simulated target or another bus
//! master. Over time, each channel is driven low, driven high, or released.

use pod_protocol::LA_CHANNELS;

use super::timeline::Timeline;

const CHANNELS: usize = LA_CHANNELS as usize;

/// The drive of every channel from outside.
#[derive(Debug)]
pub(crate) struct Outside {
    drives: [Timeline<Option<bool>>; CHANNELS],
}

impl Outside {
    pub(crate) fn new() -> Self {
        Self {
            drives: std::array::from_fn(|_| Timeline::new(None)),
        }
    }

    /// From `at_ns` on the channel is driven to this level, or released; anything planned for later
    /// is dropped.
    pub(crate) fn drive(&mut self, la: u8, level: Option<bool>, at_ns: u64) {
        let line = &mut self.drives[usize::from(la) - 1];
        line.cancel_after(at_ns);
        if *line.at(at_ns) != level {
            line.set(at_ns, level);
        }
    }

    pub(crate) fn drives(&self) -> impl Iterator<Item = (u8, &Timeline<Option<bool>>)> {
        (1..=LA_CHANNELS).zip(&self.drives)
    }

    pub(crate) fn prune(&mut self, before_ns: u64) {
        let lines = self.drives.iter_mut();
        lines.for_each(|line| line.prune(before_ns));
    }
}
