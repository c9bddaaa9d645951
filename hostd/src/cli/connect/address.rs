//! Where to listen: a port of this machine, or of one of its addresses.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// An address and a port; 127.0.0.1 if only a port was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address(pub(super) SocketAddr);

/// Why a text is none.
#[derive(Debug, thiserror::Error)]
#[error("must be a port, or an address and a port such as 192.0.2.1:3333 or [::1]:3333")]
pub(super) struct AddressError;

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if let Ok(port) = text.parse() {
            let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
            return Ok(Self(SocketAddr::new(here, port)));
        }
        text.parse().map(Self).map_err(|_| AddressError)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_for_this_machine() {
        let listens = |text: &str| text.parse::<Address>().map(|address| address.to_string());
        assert_eq!(listens("3333").unwrap(), "127.0.0.1:3333");
        assert_eq!(listens("0.0.0.0:0").unwrap(), "0.0.0.0:0");
        assert_eq!(listens("[::1]:4000").unwrap(), "[::1]:4000");
        for odd in ["", "x", "65536", ":3333", "localhost:3333", "1.2.3.4", "-1"] {
            assert!(listens(odd).is_err(), "{odd}");
        }
    }
}
