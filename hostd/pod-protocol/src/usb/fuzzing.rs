//! The entry that fuzzers and the seeded tests feed with what comes over a link.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::sync::Notify;

use super::channel::Channel;
use super::frames::Frames;
use super::greeting::Terms;

use super::shared::Shared;

/// Any bytes as what comes over a link, on either side: within bounds, and no panic.
pub fn fuzz(bytes: &[u8]) {
    let (is_pod, bytes) = match bytes.split_first() {
        Some((first, rest)) => (first % 2 == 0, rest),
        None => return,
    };
    let shared = Shared {
        is_host: !is_pod,
        ours: Terms {
            channels: 2,
            frame_bytes: 512,
            window_bytes: 1024,
        },
        theirs: Terms::HOST,
        state: Mutex::default(),
        free: Mutex::default(),
        work: Notify::new(),
        arrived: Notify::new(),
    };
    if !is_pod {
        for number in [1, 2] {
            let channel = Channel::opening(number, shared.terms());
            let channel = Arc::new(Mutex::new(channel));
            shared.state().channels.insert(number, channel);
        }
    }
    let mut frames = Frames::default();
    let mut head = Vec::new();
    let transfers = Bytes::copy_from_slice(bytes);
    // Pieces of every length: what is taken may not depend on where it is cut.
    let length = 1 + bytes.len() % 13;
    for at in (0..bytes.len()).step_by(length) {
        let piece = transfers.slice(at..bytes.len().min(at + length));
        if frames.take(&shared, piece).is_err() {
            return;
        }
        let _data = shared.turn(&mut head);
        head.clear();
    }
}
