//! What devices are wired to: a profile that a handler group keeps in its own store, and that the server reads there.

use serde_json::{Map, Value};
use store::handler_kv::{self, KvError, Namespace};
use store::{Snapshot, Store};

/// The handler group that keeps profiles, and the beginning of its keys; the id of the device follows.
pub const WIRING: (&str, &str) = ("devices", "wiring/");

/// The profile of a device, as its handler keeps it; empty if it keeps none.
///
/// # Errors
/// The storage failed.
pub fn profile(from: &Snapshot, org: &str, device: &str) -> Result<Map<String, Value>, KvError> {
    let (group, prefix) = WIRING;
    let place = Namespace::new(group, org);
    let stored = handler_kv::get(from, &place, &format!("{prefix}{device}"))?;
    let value = stored.and_then(|entry| serde_json::from_slice(&entry.value).ok());
    Ok(value.unwrap_or_default())
}

/// The same, of the newest snapshot.
///
/// # Errors
/// The storage failed.
pub async fn current(
    store: &Store,
    org: &str,
    device: &str,
) -> Result<Map<String, Value>, KvError> {
    let (org, device) = (org.to_owned(), device.to_owned());
    store.read(move |s| profile(s, &org, &device)).await
}

#[cfg(test)]
mod tests {
    use super::WIRING;

    /// The handler that keeps the wiring names its keys itself.
    #[test]
    fn the_wiring_is_where_its_handler_keeps_it() {
        let handler = include_str!("../../../handlers/devices/src/edit.rs");
        let key = format!("format!(\"{}{{id}}\")", WIRING.1);
        assert!(handler.contains(&key), "{key}");
    }
}
