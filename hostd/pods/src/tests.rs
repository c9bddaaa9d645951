//! What the tests of this crate share: a simulated pod to drive, and captures as words.

use std::sync::Arc;

use pod_protocol::capture::Frame;
use pod_sim::{SimConfig, SimPod};

/// A simulated pod whose logic analyzer has a voltage.
pub(crate) fn bench(config: SimConfig) -> Arc<SimPod> {
    SimPod::new(SimConfig {
        la_voltage_mv: config.la_voltage_mv.or(Some(3300)),
        ..config
    })
}

/// The logic words of frames.
pub(crate) fn words(frames: &[Frame]) -> Vec<u16> {
    let mut words = Vec::new();
    for frame in frames {
        let Frame::La { edges, upto } = frame else {
            continue;
        };
        for (index, word) in edges {
            let index = usize::try_from(*index).unwrap();
            assert!(index >= words.len(), "edges go forward");
            words.resize(index, words.last().copied().unwrap_or(*word));
            words.push(*word);
        }
        let last = words.last().copied().unwrap_or(0);
        words.resize(usize::try_from(*upto).unwrap(), last);
    }
    words
}
