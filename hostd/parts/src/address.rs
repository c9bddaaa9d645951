//! Where a part is: on USB, by its numbers, or behind TCP.

use std::fmt;

use nusb::DeviceInfo;

/// Where a part is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// `usb:VID:PID[:SERIAL]`
    Usb(UsbId),
    /// `tcp:host:port`
    Tcp(String),
}

/// A device on USB, by its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsbId {
    vendor: u16,
    product: u16,
    serial: Option<String>,
}

/// What addresses look like, for messages.
pub(crate) const FORM: &str = "usb:VID:PID[:SERIAL] with hexadecimal numbers, or tcp:host[:port]";

impl Address {
    /// `None` when the text is malformed. `port` is that of an address on the network without one.
    pub(crate) fn parse(text: &str, port: u16) -> Option<Self> {
        let (scheme, rest) = text.split_once(':')?;
        match scheme {
            "usb" => UsbId::parse(rest).map(Self::Usb),
            "tcp" => host_and_port(rest, port).map(Self::Tcp),
            _ => None,
        }
    }
}

/// A host with its port: names, IPv4 addresses, and IPv6 addresses in brackets.
fn host_and_port(text: &str, port: u16) -> Option<String> {
    let is_odd = |letter: char| letter.is_whitespace() || letter.is_control() || letter == '/';
    if text.is_empty() || text.contains(is_odd) {
        return None;
    }
    let (host, given) = match text.rfind(']') {
        Some(end) => (&text[..=end], text[end + 1..].strip_prefix(':')),
        None => match text.split_once(':') {
            Some((host, given)) => (host, Some(given)),
            None => (text, None),
        },
    };
    let port = match given {
        Some(given) => given.parse().ok().filter(|port| *port > 0)?,
        None => port,
    };
    (!host.is_empty()).then(|| format!("{host}:{port}"))
}

impl UsbId {
    pub(crate) fn new((vendor, product): (u16, u16), serial: Option<&str>) -> Self {
        let serial = serial.map(str::to_owned);
        Self {
            vendor,
            product,
            serial,
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words = text.splitn(3, ':');
        let mut number = || {
            let digits = words.next().filter(|digits| digits.len() == 4)?;
            u16::from_str_radix(digits, 16).ok()
        };
        let (vendor, product) = (number()?, number()?);
        let serial = words.next().map(str::to_owned);
        let is_empty = serial.as_ref().is_some_and(String::is_empty);
        (!is_empty).then_some(Self {
            vendor,
            product,
            serial,
        })
    }

    /// Whether a device is the one.
    pub(crate) fn means(&self, device: &DeviceInfo) -> bool {
        let ids = (device.vendor_id(), device.product_id());
        self.is(ids, device.serial_number())
    }

    /// Whether a device with these numbers is the one.
    pub(crate) fn is(&self, ids: (u16, u16), serial: Option<&str>) -> bool {
        ids == (self.vendor, self.product)
            && (self.serial.is_none() || serial == self.serial.as_deref())
    }
}

impl fmt::Display for UsbId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            vendor,
            product,
            serial,
        } = self;
        write!(f, "{vendor:04x}:{product:04x}")?;
        serial
            .as_ref()
            .map_or(Ok(()), |serial| write!(f, ":{serial}"))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usb(id) => write!(f, "usb:{id}"),
            Self::Tcp(address) => write!(f, "tcp:{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, told) in [
            ("usb:0d28:0204", "usb:0d28:0204"),
            ("usb:0D28:0204:AB:1", "usb:0d28:0204:AB:1"),
            ("tcp:supply", "tcp:supply:5025"),
            ("tcp:192.0.2.7:9000", "tcp:192.0.2.7:9000"),
            ("tcp:[::1]", "tcp:[::1]:5025"),
            ("tcp:[::1]:7", "tcp:[::1]:7"),
        ] {
            let address = Address::parse(text, 5025).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(address.to_string(), told);
        }
        for wrong in [
            "",
            "usb",
            "usb:",
            "usb:d28:204",
            "usb:0d28",
            "usb:0d28:0204:",
            "usb:0g28:0204",
            "tcp:",
            "tcp:a b",
            "tcp:a:0",
            "tcp:a:99999",
            "tcp:a:",
            "tcp::5",
            "serial:x",
            "tcp:a/b",
        ] {
            assert_eq!(Address::parse(wrong, 5025), None, "{wrong}");
        }
    }
}
