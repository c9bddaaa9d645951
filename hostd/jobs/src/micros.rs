//! Lengths of time as whole microseconds, where they are stored.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// In microseconds. A number of microseconds fits for half a million years.
pub(crate) fn of(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    of(*time).serialize(to)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    u64::deserialize(from).map(Duration::from_micros)
}
