//! What plugins are told of their configuration, kept in memory as text: calls come by the thousand, changes by the day.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

/// JSON by plugin, version and organisation. Forgotten when either the version or the configuration changes. While one
/// version follows another, both are called, and each has the defaults of its own manifest.
#[derive(Debug, Default)]
pub(super) struct Settings(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    by_plugin: HashMap<String, HashMap<(Instant, String), Arc<str>>>,
    /// How often something was forgotten.
    forgotten: u64,
}

/// When a configuration was looked for and not found: what is read afterwards may be kept until something is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen(u64);

/// A version of a plugin: its id, and when it was loaded, which is no two versions' time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Of<'a>(pub(super) &'a str, pub(super) Instant);

impl Settings {
    /// # Errors
    /// It is not known; with what is read from the store, give this to [`Settings::keep`].
    pub(super) fn get(&self, Of(plugin, loaded): Of<'_>, org: &str) -> Result<Arc<str>, Seen> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let of_plugin = known.by_plugin.get(plugin);
        let text = of_plugin.and_then(|all| all.get(&(loaded, org.to_owned())));
        text.cloned().ok_or(Seen(known.forgotten))
    }

    /// Keep what was read, unless something was forgotten since: it may have been read before a change.
    pub(super) fn keep(&self, seen: Seen, of: Of<'_>, org: &str, text: Arc<str>) {
        let Of(plugin, loaded) = of;
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if seen == Seen(known.forgotten) {
            let of_plugin = known.by_plugin.entry(plugin.to_owned()).or_default();
            of_plugin.insert((loaded, org.to_owned()), text);
        }
    }

    pub(super) fn forget(&self, plugin: &str) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.forgotten += 1;
        known.by_plugin.remove(plugin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_before_a_change_is_not_kept() {
        let settings = Settings::default();
        let x = Of("acme.x", Instant::now());
        let seen = settings.get(x, "a").unwrap_err();
        settings.forget("acme.x");
        settings.keep(seen, x, "a", "old".into());
        let seen = settings.get(x, "a").unwrap_err();
        settings.keep(seen, x, "a", "new".into());
        assert_eq!(settings.get(x, "a").as_deref(), Ok("new"));
        let y = Of("acme.y", x.1);
        assert!(settings.get(x, "b").is_err() && settings.get(y, "a").is_err());
        // Another version of the same plugin.
        let later = Of("acme.x", x.1 + std::time::Duration::from_nanos(1));
        assert!(settings.get(later, "a").is_err());
    }
}
