//! Lists of addresses and networks, as several keys have them.

use std::net::IpAddr;

/// Most networks in a list.
pub(super) const NETWORKS_MAX: usize = 64;

/// Addresses and networks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Networks(Vec<Network>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    /// Leading bits that count.
    bits: u32,
}

impl Networks {
    /// From addresses and networks such as `127.0.0.1, 10.1.0.0/16, fd00::/8`.
    ///
    /// # Errors
    /// What is wrong with the text, as a fragment that follows a name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let items = text.split(',').map(str::trim).filter(|i| !i.is_empty());
        let networks = items.map(|item| {
            network(item).ok_or_else(|| {
                format!(
                    "must be addresses or networks such as 10.1.0.0/16, with commas; {item} is none"
                )
            })
        });
        let networks: Vec<_> = networks.collect::<Result<_, _>>()?;
        if networks.len() > NETWORKS_MAX {
            return Err(format!(
                "must be at most {NETWORKS_MAX} addresses or networks"
            ));
        }
        Ok(Self(networks))
    }

    /// Whether `address` is one of them or in one of them.
    #[must_use]
    pub fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

impl Network {
    fn contains(&self, address: IpAddr) -> bool {
        let high = |address: IpAddr, bits: u32| match address {
            IpAddr::V4(v4) => u128::from(v4.to_bits().checked_shr(32 - bits).unwrap_or(0)),
            IpAddr::V6(v6) => v6.to_bits().checked_shr(128 - bits).unwrap_or(0),
        };
        let address = address.to_canonical();
        address.is_ipv4() == self.address.is_ipv4()
            && high(address, self.bits) == high(self.address, self.bits)
    }
}

fn network(text: &str) -> Option<Network> {
    let (address, bits) = text
        .split_once('/')
        .map_or((text, None), |(a, b)| (a, Some(b)));
    let address: IpAddr = address.parse().ok()?;
    let bits_max = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.map_or(Some(bits_max), |bits| bits.parse().ok())?;
    (bits <= bits_max).then_some(Network { address, bits })
}
