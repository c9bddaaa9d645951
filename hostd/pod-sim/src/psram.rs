//! The deep memory's self-test, and the restart that brings a hung one back.

use serde_json::{Value, json};
use tokio::time::Duration;

use super::args::Args;
use super::refuse::Refuse;
use super::world::World;

/// Words a self-test writes and reads.
const PING_WORDS: std::ops::RangeInclusive<i64> = 4..=256;
const DEFAULT_PING_WORDS: u16 = 256;

/// From the reply of `psram_recover` to the restart.
pub(crate) const RECOVER_DELAY: Duration = Duration::from_millis(400);

/// `psram_ping`: a memory that is simulated has no bad words.
pub(crate) fn ping(world: &World, args: &Args<'_>) -> Result<Value, Refuse> {
    let count = args
        .uint::<u16>("count", PING_WORDS)?
        .unwrap_or(DEFAULT_PING_WORDS);
    if world.capture_is_held() {
        return Err(Refuse::Busy);
    }
    Ok(json!({"pass": true, "count": count, "first_bad": -1}))
}

/// The reply of `psram_recover`; the restart follows.
pub(crate) fn recover() -> Value {
    json!({"recover": "rebooting"})
}
