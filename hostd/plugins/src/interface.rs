//! The interfaces of the host that a plugin may import, by the names of the published contract.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! interfaces {
    ($($variant:ident $name:literal $is_free:literal $about:literal)*) => {
        /// An interface of the host.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub enum Interface {
            $(#[doc = $about] $variant,)*
        }

        impl Interface {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name in the contract: `http-out`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Whether every plugin has it, without asking and without a grant.
            #[must_use]
            pub fn is_free(self) -> bool {
                match self { $(Self::$variant => $is_free,)* }
            }
        }
    };
}

interfaces! {
    Log "log" true "Lines of the plugin's own log."
    Config "config" true "What the operator has set for it."
    Clock "clock" true "The time."
    Random "random" true "Random numbers."
    Store "store" false "Keys of its own."
    Secrets "secrets" false "Secrets of the organisation, by name."
    Devices "devices" false "Which devices there are and what they are."
    Power "power" false "Rails: switching and measuring."
    Captures "captures" false "Captures, their samples, and what decoders find in them."
    Jobs "jobs" false "Jobs, to read."
    Notify "notify" false "Telling the organisation's webhooks."
    HttpOut "http-out" false "Requests to other servers."
}

/// No interface has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("is no interface of this hostd; there are {}", names())]
pub struct UnknownInterface;

fn names() -> String {
    let names: Vec<_> = Interface::ALL.iter().map(|i| i.as_str()).collect();
    names.join(", ")
}

impl FromStr for Interface {
    type Err = UnknownInterface;

    fn from_str(name: &str) -> Result<Self, UnknownInterface> {
        let mut all = Self::ALL.iter().copied();
        all.find(|i| i.as_str() == name).ok_or(UnknownInterface)
    }
}

impl TryFrom<String> for Interface {
    type Error = UnknownInterface;

    fn try_from(name: String) -> Result<Self, UnknownInterface> {
        name.parse()
    }
}

impl From<Interface> for String {
    fn from(interface: Interface) -> Self {
        interface.as_str().to_owned()
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_name() {
        for interface in Interface::ALL {
            assert_eq!(interface.as_str().parse(), Ok(*interface));
        }
        let error = "pods".parse::<Interface>().unwrap_err();
        assert!(error.to_string().contains("http-out"), "{error}");
    }
}
