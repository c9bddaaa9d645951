//! The entry that fuzzers and the seeded tests feed with what comes over a link.

use std::sync::{Arc, Mutex};

use bytes::BytesMut;
use tokio::sync::Notify;

use super::channel::Channel;
use super::frame::{HEADER_BYTES, Header};
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
        work: Notify::new(),
        arrived: Notify::new(),
    };
    if !is_pod {
        for number in [1, 2] {
            let channel = Arc::new(Mutex::new(Channel::opening(number, 1024, 1024)));
            shared.state().channels.insert(number, channel);
        }
    }
    let mut rest = bytes;
    let mut out = BytesMut::new();
    while let Some((header, after)) = rest.split_first_chunk::<HEADER_BYTES>() {
        let Ok(header) = Header::of(*header, shared.ours.frame_bytes) else {
            return;
        };
        let Some((bytes, after)) = after.split_at_checked(header.length as usize) else {
            return;
        };
        if shared.take(header, bytes).is_err() {
            return;
        }
        shared.fill(&mut out);
        out.clear();
        rest = after;
    }
}
