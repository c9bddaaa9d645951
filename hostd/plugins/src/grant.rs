//! What an operator approved: for one plugin in one organisation. It outlives updates of the plugin.

use std::collections::BTreeSet;
use std::str::FromStr;

use store::plugins::{GRANT_FORMAT, Grant as Record, GrantTimer};

use crate::allow::Pattern;
use crate::id::PluginId;
use crate::interface::Interface;
use crate::missing::{Missing, Right};
use crate::wants::{Timer, Wants};

/// Bytes of a MiB.
const MIB: u64 = 1 << 20;

/// Which devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Devices {
    /// Every device of the organisation, also later ones.
    All,
    /// Those with these ids.
    Only(BTreeSet<String>),
}

/// What a plugin may do in an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Id of the organisation.
    pub org: String,
    /// The plugin.
    pub plugin: PluginId,
    /// Digest of the wants that the operator saw; see [`Wants::digest`].
    pub seen: String,
    /// Devices that it may use.
    pub devices: Devices,
    /// What of its wants it has; timers as they were when they were approved.
    pub rights: Wants,
    /// User who approved it.
    pub by: String,
    /// When.
    pub at_ms: u64,
}

impl Grant {
    /// A grant of all that is wanted, on these devices.
    #[must_use]
    pub fn of_all(
        org: &str,
        plugin: &PluginId,
        wants: &Wants,
        devices: Devices,
        by: &str,
        at_ms: u64,
    ) -> Self {
        Self {
            org: org.to_owned(),
            plugin: plugin.clone(),
            seen: wants.digest(),
            devices,
            rights: wants.clone(),
            by: by.to_owned(),
            at_ms,
        }
    }

    /// Whether all that is wanted is granted.
    ///
    /// # Errors
    /// What is not.
    pub fn covers(&self, wants: &Wants) -> Result<(), Vec<Missing>> {
        let own = &self.rights;
        let interfaces = wants.interfaces.iter().filter(|i| !self.has_interface(**i));
        let scopes = wants.scopes.difference(&own.scopes);
        let is_open = |wanted: &&Pattern| !own.http.iter().any(|granted| granted.covers(wanted));
        let events = wants.events.difference(&own.events);
        let timers = wants.timers.difference(&own.timers);
        let secrets = wants.secrets.difference(&own.secrets);
        let mut rights: Vec<Right> = interfaces.map(|i| Right::Interface(*i)).collect();
        rights.extend(scopes.map(|scope| Right::Scope(scope.clone())));
        rights.extend(
            wants
                .http
                .iter()
                .filter(is_open)
                .map(|http| Right::Pattern(http.clone())),
        );
        rights.extend(events.map(|event| Right::Event(event.clone())));
        rights.extend(timers.map(|timer| Right::Timer(timer.id.clone())));
        rights.extend(secrets.map(|secret| Right::Secret(secret.clone())));
        if wants.public && !own.public {
            rights.push(Right::Public);
        }
        if wants.store_mib > own.store_mib {
            rights.push(Right::StoreMib(wants.store_mib));
        }
        if rights.is_empty() {
            return Ok(());
        }
        Err(rights
            .into_iter()
            .map(|right| self.missing(right))
            .collect())
    }

    /// What is missing for a newer version beside what the older one did without: what its update waits for.
    #[must_use]
    pub(crate) fn lacks_for_update(&self, from: &Wants, to: &Wants) -> Vec<Missing> {
        let before = self.covers(from).err().unwrap_or_default();
        let mut missing = self.covers(to).err().unwrap_or_default();
        missing.retain(|missing| {
            !before.contains(missing) || self.is_new_timer(&missing.right, from, to)
        });
        missing
    }

    /// A timer that was not granted before either, but is due at other times now.
    fn is_new_timer(&self, right: &Right, from: &Wants, to: &Wants) -> bool {
        let Right::Timer(id) = right else {
            return false;
        };
        let timer = |wants: &Wants| wants.timers.iter().find(|timer| timer.id == *id).cloned();
        timer(from) != timer(to)
    }

    /// Whether it has an interface.
    #[must_use]
    pub(crate) fn has_interface(&self, interface: Interface) -> bool {
        interface.is_free() || self.rights.interfaces.contains(&interface)
    }

    /// Whether it has a device.
    #[must_use]
    pub fn has_device(&self, device: &str) -> bool {
        match &self.devices {
            Devices::All => true,
            Devices::Only(ids) => ids.contains(device),
        }
    }

    /// Bytes that its keys may take.
    #[must_use]
    pub(crate) fn store_bytes(&self) -> u64 {
        u64::from(self.rights.store_mib) * MIB
    }

    fn missing(&self, right: Right) -> Missing {
        Missing {
            plugin: self.plugin.clone(),
            org: self.org.clone(),
            right,
        }
    }

    /// As it is stored.
    #[must_use]
    pub(crate) fn to_record(&self) -> Record {
        let texts = |set: &BTreeSet<String>| set.iter().cloned().collect();
        let rights = &self.rights;
        Record {
            format: GRANT_FORMAT,
            org: self.org.clone(),
            plugin: self.plugin.as_str().to_owned(),
            wants: self.seen.clone(),
            devices: match &self.devices {
                Devices::All => None,
                Devices::Only(ids) => Some(texts(ids)),
            },
            interfaces: rights.interfaces.iter().map(ToString::to_string).collect(),
            scopes: texts(&rights.scopes),
            http: rights.http.iter().map(ToString::to_string).collect(),
            events: texts(&rights.events),
            timers: rights.timers.iter().map(timer_record).collect(),
            secrets: texts(&rights.secrets),
            public: rights.public,
            store_mib: rights.store_mib,
            by: self.by.clone(),
            at_ms: self.at_ms,
        }
    }

    /// From what is stored; none if another version stored it in a way that this one does not know. What has no meaning
    /// here grants nothing.
    #[must_use]
    pub(crate) fn of_record(record: &Record) -> Option<Self> {
        if record.format != GRANT_FORMAT {
            return None;
        }
        let texts = |list: &[String]| list.iter().cloned().collect();
        let timer = |timer: &GrantTimer| {
            let cron = timer.cron.parse().ok()?;
            let id = timer.id.clone();
            Some(Timer { id, cron })
        };
        Some(Self {
            org: record.org.clone(),
            plugin: record.plugin.parse().ok()?,
            seen: record.wants.clone(),
            devices: match &record.devices {
                None => Devices::All,
                Some(ids) => Devices::Only(texts(ids)),
            },
            rights: Wants {
                interfaces: known(&record.interfaces),
                scopes: texts(&record.scopes),
                http: known(&record.http),
                events: texts(&record.events),
                timers: record.timers.iter().filter_map(timer).collect(),
                secrets: texts(&record.secrets),
                public: record.public,
                store_mib: record.store_mib,
            },
            by: record.by.clone(),
            at_ms: record.at_ms,
        })
    }
}

/// Those that have a meaning here.
fn known<T: FromStr + Ord>(texts: &[String]) -> BTreeSet<T> {
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

fn timer_record(timer: &Timer) -> GrantTimer {
    GrantTimer {
        id: timer.id.clone(),
        cron: timer.cron.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants() -> Wants {
        Wants {
            interfaces: [Interface::Devices, Interface::HttpOut].into(),
            scopes: ["bench:control".to_owned()].into(),
            http: ["https://a/x/*".parse().unwrap()].into(),
            events: ["job.finished".to_owned()].into(),
            timers: [timer("0 3 * * *")].into(),
            secrets: ["token".to_owned()].into(),
            public: true,
            store_mib: 4,
        }
    }

    fn timer(cron: &str) -> Timer {
        Timer {
            id: "nightly".into(),
            cron: cron.parse().unwrap(),
        }
    }

    fn grant(wants: &Wants, devices: Devices) -> Grant {
        let id = "acme.x".parse().unwrap();
        Grant::of_all("org", &id, wants, devices, "user", 7)
    }

    #[test]
    fn each_want_that_is_not_granted_is_named() {
        assert_eq!(grant(&wants(), Devices::All).covers(&wants()), Ok(()));
        let none = grant(&Wants::default(), Devices::All);
        let missing = none.covers(&wants()).unwrap_err();
        let rights: Vec<_> = missing.into_iter().map(|m| m.right).collect();
        assert_eq!(
            rights,
            [
                Right::Interface(Interface::Devices),
                Right::Interface(Interface::HttpOut),
                Right::Scope("bench:control".into()),
                Right::Pattern("https://a/x/*".parse().unwrap()),
                Right::Event("job.finished".into()),
                Right::Timer("nightly".into()),
                Right::Secret("token".into()),
                Right::Public,
                Right::StoreMib(4),
            ]
        );
        assert_eq!(none.covers(&Wants::default()), Ok(()));
    }

    #[test]
    fn an_update_waits_only_for_what_is_new() {
        let mut narrow = grant(&wants(), Devices::All);
        narrow.rights.secrets.clear();
        assert_eq!(narrow.lacks_for_update(&wants(), &wants()), []);
        let mut more = wants();
        more.http.insert("https://a/*".parse().unwrap());
        more.timers = [timer("* * * * *")].into();
        let rights: Vec<_> = narrow
            .lacks_for_update(&wants(), &more)
            .into_iter()
            .map(|m| m.right)
            .collect();
        let all = "https://a/*".parse().unwrap();
        assert_eq!(
            rights,
            [Right::Pattern(all), Right::Timer("nightly".into())]
        );
        narrow.rights.timers.clear();
        assert_eq!(narrow.lacks_for_update(&wants(), &more).len(), 2);
        assert_eq!(
            narrow.lacks_for_update(&more, &wants()).len(),
            1,
            "the timer's other times"
        );
    }

    #[test]
    fn a_record_gives_the_grant_back() {
        for devices in [Devices::All, Devices::Only(["d".to_owned()].into())] {
            let grant = grant(&wants(), devices);
            assert_eq!(Grant::of_record(&grant.to_record()), Some(grant));
        }
    }

    #[test]
    fn what_a_record_says_in_other_words_grants_nothing() {
        let mut record = grant(&wants(), Devices::Only(BTreeSet::new())).to_record();
        record.interfaces.push("everything".into());
        record.http = vec!["*".into()];
        record.timers[0].cron = "@reboot".into();
        let read = Grant::of_record(&record).unwrap();
        let rights = &read.rights;
        assert!(rights.http.is_empty() && rights.timers.is_empty() && rights.interfaces.len() == 2);
        assert!(!read.has_device("d"));
        record.format += 1;
        assert_eq!(Grant::of_record(&record), None);
    }
}
