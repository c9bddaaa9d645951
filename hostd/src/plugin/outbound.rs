//! Where requests of plugins may go, and how many may be under way.

use std::net::IpAddr;
use std::sync::Arc;

use base::config::PluginsConfig;
use base::reach::{Reach, Refused};
use plugins::allow::Pattern;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests of all plugins that are under way.
const ALL_MAX: usize = 16;

/// Of them one plugin's.
const OF_ONE_MAX: usize = 4;

/// What all plugins share.
#[derive(Debug, Clone)]
pub(super) struct Outbound {
    reach: Arc<Reach>,
    all: Arc<Semaphore>,
}

/// One plugin's part of it.
#[derive(Debug)]
pub(super) struct Share {
    of: Outbound,
    own: Arc<Semaphore>,
}

/// What lets one request be under way: its plugin's permit and that of all.
#[derive(Debug)]
pub(super) struct Permit {
    _own: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl Outbound {
    /// # Errors
    /// What is wrong with a list of networks.
    pub(super) fn new(config: &PluginsConfig) -> Result<Self, String> {
        let (allow, deny) = (&config.http_allow, &config.http_deny);
        let reach = Reach::new(allow, deny, "denied by plugins.http_deny")?;
        Ok(Self {
            reach: Arc::new(reach.without_private()),
            all: Arc::new(Semaphore::new(ALL_MAX)),
        })
    }

    pub(super) fn share(&self) -> Share {
        Share {
            of: self.clone(),
            own: Arc::new(Semaphore::new(OF_ONE_MAX)),
        }
    }
}

impl Share {
    /// Waits for a permit: first among the plugin's own requests, so that it waits for others with as many as it may have
    /// under way, and no more.
    pub(super) async fn permit(&self) -> Option<Permit> {
        let own = self.own.clone().acquire_owned().await.ok()?;
        let of_all = self.of.all.clone().acquire_owned().await.ok()?;
        Some(Permit {
            _own: own,
            _of_all: of_all,
        })
    }

    /// What says whether a request that `pattern` allows may go to an address.
    pub(super) fn check(
        &self,
        pattern: Pattern,
    ) -> Arc<dyn Fn(IpAddr) -> Result<(), Refused> + Send + Sync> {
        let reach = self.of.reach.clone();
        Arc::new(move |address| pattern.check_address(address, &reach))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn no_plugin_takes_all_permits() {
        let outbound = Outbound::new(&PluginsConfig::default()).unwrap();
        let (one, other) = (outbound.share(), outbound.share());
        let mut held = Vec::new();
        for _ in 0..OF_ONE_MAX {
            held.push(one.permit().await.unwrap());
        }
        assert!(one.permit().now_or_never().is_none());
        held.push(other.permit().await.unwrap());
        held.clear();
        assert!(one.permit().await.is_some());
    }

    #[test]
    fn only_what_the_operator_or_the_pattern_names_is_private_and_reached() {
        let config = PluginsConfig {
            http_allow: "127.0.0.1".into(),
            http_deny: "203.0.113.0/24".into(),
            ..PluginsConfig::default()
        };
        let pattern = |text: &str| text.parse::<Pattern>().unwrap();
        let may = |config: &PluginsConfig, own: &str, address: &str| {
            let share = Outbound::new(config).unwrap().share();
            share.check(pattern(own))(address.parse().unwrap()).is_ok()
        };
        let none = PluginsConfig::default();
        assert!(may(&none, "https://a.example/*", "198.51.100.1"));
        for address in ["127.0.0.1", "::1", "10.0.0.1", "169.254.169.254"] {
            assert!(!may(&none, "https://a.example/*", address), "{address}");
        }
        assert!(may(&none, "http://10.0.0.1/*", "10.0.0.1"));
        assert!(!may(&none, "http://127.0.0.1/*", "127.0.0.1"));
        assert!(may(&config, "http://127.0.0.1/*", "127.0.0.1"));
        assert!(!may(&config, "https://a.example/*", "203.0.113.9"));
    }
}
