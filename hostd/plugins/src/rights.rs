//! What a plugin may do in one call: what it was granted, and no more than who calls may. Pure functions, asked by every
//! host function before it does anything.
//!
//! An event or a timer has no caller: the plugin then acts as itself, in the organisation of its grant.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::allow::Pattern;
use crate::grant::{Devices, Grant};
use crate::granted::Granted;
use crate::id::PluginId;
use crate::interface::Interface;
use crate::missing::{Missing, Right};
use crate::target::{Target, UrlError};
use crate::wants::Timer;

/// Who calls a plugin, as the server has verified it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Id of its organisation.
    pub org: String,
    /// Scopes that its credential and role give.
    pub scopes: BTreeSet<String>,
    /// Devices that its credential is restricted to; none = all of its organisation.
    pub devices: Option<BTreeSet<String>>,
}

/// Who is behind a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behind {
    /// A request with a credential.
    Caller(Caller),
    /// A request without one, to a public route.
    Anyone,
    /// An event or a timer.
    Itself,
}

/// Why a plugin may not do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The grant lacks it.
    #[error("{0}")]
    NotGranted(Missing),
    /// A caller of another organisation.
    #[error("the caller belongs to another organisation")]
    OtherOrg,
    /// The caller may not do it, whatever the plugin may.
    #[error("the caller's credential does not carry the scope {0}")]
    CallerScope(String),
    /// The caller may not use the device, whatever the plugin may.
    #[error("the caller's credential is not for the device {0}")]
    CallerDevice(String),
    /// Nobody called with a credential.
    #[error("the request has no credential")]
    NoCredential,
    /// The URL has no normal form.
    #[error("the URL {0}")]
    Url(#[from] UrlError),
}

/// The rights of one call.
#[derive(Debug, Clone)]
pub struct Rights {
    plugin: PluginId,
    org: String,
    granted: Granted,
    behind: Behind,
}

impl Rights {
    /// Those of a plugin in an organisation, of which this is the grant, if there is one: as it is each time they are asked.
    /// A grant of another plugin or organisation counts as none.
    #[must_use]
    pub fn new(plugin: &PluginId, org: &str, granted: Granted, behind: Behind) -> Self {
        Self {
            plugin: plugin.clone(),
            org: org.to_owned(),
            granted,
            behind,
        }
    }

    /// Returns once the grant has been taken back.
    pub fn revoked(&self) -> impl Future<Output = ()> + Send + use<> {
        self.granted.clone().revoked()
    }

    /// Id of the organisation in which it acts.
    #[must_use]
    pub fn org(&self) -> &str {
        &self.org
    }

    /// Who is behind the call.
    #[must_use]
    pub fn behind(&self) -> &Behind {
        &self.behind
    }

    /// Whether it may be called at all.
    ///
    /// # Errors
    /// Why not.
    pub fn may_serve(&self) -> Result<(), Denied> {
        self.granted().map(drop)
    }

    /// # Errors
    /// Why it may not import or call an interface.
    pub fn may_interface(&self, interface: Interface) -> Result<(), Denied> {
        let grant = self.granted()?;
        self.check(grant.has_interface(interface), || {
            Right::Interface(interface)
        })
    }

    /// # Errors
    /// Why it may not do what needs a scope.
    pub fn may_scope(&self, scope: &str) -> Result<(), Denied> {
        let grant = self.granted()?;
        self.check(grant.rights.scopes.contains(scope), || {
            Right::Scope(scope.to_owned())
        })?;
        match &self.behind {
            Behind::Caller(caller) if caller.scopes.contains(scope) => Ok(()),
            Behind::Caller(_) => Err(Denied::CallerScope(scope.to_owned())),
            Behind::Anyone => Err(Denied::NoCredential),
            Behind::Itself => Ok(()),
        }
    }

    /// Whether it may use a device of its organisation; that the device is of that organisation is checked where devices
    /// are looked up.
    ///
    /// # Errors
    /// Why it may not.
    pub fn may_device(&self, device: &str) -> Result<(), Denied> {
        let grant = self.granted()?;
        self.check(grant.has_device(device), || {
            Right::Device(device.to_owned())
        })?;
        match &self.behind {
            Behind::Caller(caller) => {
                let is_for = caller
                    .devices
                    .as_ref()
                    .is_none_or(|ids| ids.contains(device));
                is_for
                    .then_some(())
                    .ok_or_else(|| Denied::CallerDevice(device.to_owned()))
            }
            Behind::Anyone => Err(Denied::NoCredential),
            Behind::Itself => Ok(()),
        }
    }

    /// Ids of the devices that grant and caller have in common; none = all of the organisation.
    #[must_use]
    pub fn devices(&self) -> Option<BTreeSet<String>> {
        let Ok(grant) = self.granted() else {
            return Some(BTreeSet::new());
        };
        let of_caller = match &self.behind {
            Behind::Caller(caller) => caller.devices.as_ref(),
            Behind::Anyone => return Some(BTreeSet::new()),
            Behind::Itself => None,
        };
        match (&grant.devices, of_caller) {
            (Devices::All, of_caller) => of_caller.cloned(),
            (Devices::Only(granted), None) => Some(granted.clone()),
            (Devices::Only(granted), Some(own)) => {
                Some(granted.intersection(own).cloned().collect())
            }
        }
    }

    /// The URL to send, and the pattern that allows it, whose [`Pattern::check_address`] decides about the address.
    ///
    /// # Errors
    /// Why it may not send a request there.
    pub fn may_http(&self, url: &str) -> Result<(Target, Pattern), Denied> {
        self.may_send(url, |target| {
            Target {
                query: None,
                ..target
            }
            .to_string()
        })
    }

    /// The same for a URL that has a secret in it: a denial names its server alone, since the secret may be anywhere else,
    /// and the normal form need not have it as it is blotted out elsewhere.
    ///
    /// # Errors
    /// Why it may not send a request there.
    pub fn may_http_with_secret(&self, url: &str) -> Result<(Target, Pattern), Denied> {
        self.may_send(url, |target| {
            let server = Target {
                path: "/".to_owned(),
                query: None,
                ..target
            };
            format!("{server}*")
        })
    }

    fn may_send(
        &self,
        url: &str,
        named: impl FnOnce(Target) -> String,
    ) -> Result<(Target, Pattern), Denied> {
        self.may_interface(Interface::HttpOut)?;
        let target: Target = url.parse()?;
        let mut patterns = self.http().into_iter();
        let found = patterns.find(|pattern| pattern.matches(&target));
        let Some(pattern) = found else {
            return Err(self.lacks(Right::Url(named(target))));
        };
        Ok((target, pattern))
    }

    /// The patterns of URLs that are granted, for [`redirect`](crate::allow::redirect).
    #[must_use]
    pub fn http(&self) -> Vec<Pattern> {
        let grant = self.granted().ok();
        grant.map_or_else(Vec::new, |grant| {
            grant.rights.http.iter().cloned().collect()
        })
    }

    /// # Errors
    /// Why it may not read a secret.
    pub fn may_secret(&self, name: &str) -> Result<(), Denied> {
        self.may_interface(Interface::Secrets)?;
        let grant = self.granted()?;
        self.check(grant.rights.secrets.contains(name), || {
            Right::Secret(name.to_owned())
        })
    }

    /// # Errors
    /// Why it is not told of a kind of events.
    pub fn may_event(&self, kind: &str) -> Result<(), Denied> {
        let grant = self.granted()?;
        self.check(grant.rights.events.contains(kind), || {
            Right::Event(kind.to_owned())
        })
    }

    /// # Errors
    /// Why a timer does not call it: it was not granted, or not at these times.
    pub fn may_timer(&self, timer: &Timer) -> Result<(), Denied> {
        let grant = self.granted()?;
        self.check(grant.rights.timers.contains(timer), || {
            Right::Timer(timer.id.clone())
        })
    }

    /// Bytes that its keys may take.
    ///
    /// # Errors
    /// Why it may not store anything.
    pub fn may_store(&self) -> Result<u64, Denied> {
        self.may_interface(Interface::Store)?;
        Ok(self.granted()?.store_bytes())
    }

    /// The grant as it is now, if it lets this call be made.
    fn granted(&self) -> Result<Arc<Grant>, Denied> {
        if let Behind::Caller(caller) = &self.behind
            && caller.org != self.org
        {
            return Err(Denied::OtherOrg);
        }
        let grant = self.granted.now();
        let grant = grant.filter(|grant| grant.org == self.org && grant.plugin == self.plugin);
        let grant = grant.ok_or_else(|| self.lacks(Right::Approval))?;
        self.check(self.behind != Behind::Anyone || grant.rights.public, || {
            Right::Public
        })?;
        Ok(grant)
    }

    fn check(&self, is_granted: bool, right: impl FnOnce() -> Right) -> Result<(), Denied> {
        if is_granted {
            Ok(())
        } else {
            Err(self.lacks(right()))
        }
    }

    fn lacks(&self, right: Right) -> Denied {
        Denied::NotGranted(Missing {
            plugin: self.plugin.clone(),
            org: self.org.clone(),
            right,
        })
    }
}

#[cfg(test)]
mod tests;
