//! Whose jobs may have a network, and how far it reaches.

use std::collections::HashSet;

use base::config::{JobNetwork, JobsConfig};
use jail::Reach;

/// What the configuration says about networks of jobs.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    reach: Option<Reach>,
    /// Ids of organisations. None: all.
    orgs: Option<HashSet<String>>,
}

impl Network {
    pub(crate) fn new(config: &JobsConfig) -> Self {
        let ids = config.network_orgs();
        Self {
            reach: match config.network {
                JobNetwork::Off => None,
                JobNetwork::Public => Some(Reach::Public),
                JobNetwork::All => Some(Reach::All),
            },
            orgs: ids.map(|ids| ids.into_iter().map(str::to_owned).collect()),
        }
    }

    /// How far jobs of an organisation reach.
    ///
    /// # Errors
    /// Not at all: a sentence on why, and who changes that.
    pub(crate) fn reach(&self, org: &str) -> Result<Reach, &'static str> {
        let Some(reach) = self.reach else {
            return Err(
                "this server gives jobs no network: its operator sets `jobs.network`; or put what is fetched into the sources",
            );
        };
        let is_listed = |orgs: &HashSet<String>| orgs.contains(org);
        if self.orgs.as_ref().is_none_or(is_listed) {
            return Ok(reach);
        }
        Err(
            "jobs of this organisation get no network: the server's operator adds its id to `jobs.network_orgs`; or put what is fetched into the sources",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(network: JobNetwork, orgs: &str) -> Network {
        Network::new(&JobsConfig {
            network,
            network_orgs: orgs.to_owned(),
            ..JobsConfig::default()
        })
    }

    #[test]
    fn nobody_has_a_network_unless_the_configuration_says_so() {
        let default = Network::new(&JobsConfig::default());
        assert!(default.reach("a").unwrap_err().contains("`jobs.network`"));
        let off = network(JobNetwork::Off, "a");
        assert!(off.reach("a").is_err());
    }

    #[test]
    fn only_listed_organisations_have_a_network() {
        let listed = network(JobNetwork::Public, "a, b");
        assert_eq!(listed.reach("b"), Ok(Reach::Public));
        let why = listed.reach("c").unwrap_err();
        assert!(why.contains("`jobs.network_orgs`"));
        assert_eq!(network(JobNetwork::All, "all").reach("c"), Ok(Reach::All));
        assert!(network(JobNetwork::All, "").reach("c").is_err());
    }
}
