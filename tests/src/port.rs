//! Ports of this machine that stay a test's own while nobody listens there. One that the system hands out would be handed
//! out again in between, to another test.

use std::net::TcpListener;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below those that the system hands out.
const FIRST: u16 = 10_000;
const END: u16 = 32_000;

/// Ports between those that two processes in a row begin with.
const APART: u32 = 97;

/// Ports that this process has had.
static TAKEN: AtomicU32 = AtomicU32::new(0);

/// A port that is free and that nobody gets by chance.
///
/// # Panics
/// There is none.
#[must_use]
pub fn own_port() -> u16 {
    let count = u32::from(END - FIRST);
    let first = process::id().wrapping_mul(APART);
    for _ in 0..count {
        let at = first.wrapping_add(TAKEN.fetch_add(1, Ordering::Relaxed)) % count;
        let port = FIRST + u16::try_from(at).expect("fewer than there are ports");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no port is free");
}
