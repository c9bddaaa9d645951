//! What a device says about itself (Universal Serial Bus Specification 2.0, section 9.6).

/// How fast a device is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speed {
    /// 12 Mbit/s; bulk packets of 64 bytes.
    Full,
    /// 480 Mbit/s; bulk packets of 512 bytes.
    High,
}

impl Speed {
    /// The number that the kernel's virtual controller has for it.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Full => 2,
            Self::High => 3,
        }
    }

    fn bulk_packet_bytes(self) -> u16 {
        match self {
            Self::Full => 64,
            Self::High => 512,
        }
    }
}

/// An endpoint of an interface. Bit 7 of an address is set for those that the device sends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// Bulk.
    Bulk(u8),
    /// Interrupt, with packets of this many bytes, asked for every 2 ms or so.
    Interrupt(u8, u16),
}

impl Endpoint {
    /// Its address.
    pub fn address(self) -> u8 {
        match self {
            Self::Bulk(address) | Self::Interrupt(address, _) => address,
        }
    }

    fn descriptor(self, speed: Speed) -> [u8; 7] {
        let (attributes, packet, interval) = match self {
            Self::Bulk(_) => (2, speed.bulk_packet_bytes(), 0),
            Self::Interrupt(_, packet) => (3, packet, 5),
        };
        let [low, high] = packet.to_le_bytes();
        [7, 5, self.address(), attributes, low, high, interval]
    }
}

/// An interface, with a single setting.
#[derive(Debug, Clone, Default)]
pub struct Interface {
    /// Class, subclass and protocol.
    pub class: (u8, u8, u8),
    /// Its name, for people and for programs that look for one.
    pub name: Option<String>,
    /// Descriptors of its class, as they are sent.
    pub functional: Vec<u8>,
    /// Its endpoints.
    pub endpoints: Vec<Endpoint>,
    /// How many interfaces from this one on belong together, if they do.
    pub association: Option<u8>,
}

/// What a device says about itself. Its interfaces are numbered as they stand.
#[derive(Debug, Clone)]
pub struct Descriptors {
    /// Vendor and product number.
    pub ids: (u16, u16),
    /// The device's version, as binary-coded decimal.
    pub version: u16,
    /// Class, subclass and protocol of the whole device; zeros leave it to the interfaces.
    pub class: (u8, u8, u8),
    /// Who made it.
    pub manufacturer: String,
    /// What it is.
    pub product: String,
    /// Which one it is.
    pub serial: Option<String>,
    /// How fast it is.
    pub speed: Speed,
    /// Its interfaces.
    pub interfaces: Vec<Interface>,
}

/// The language of all texts: American English, which every device has.
const LANGUAGE: [u8; 2] = 0x0409_u16.to_le_bytes();

/// Numbers of the texts that belong to the device; those of its interfaces follow.
const MANUFACTURER: u8 = 1;
const PRODUCT: u8 = 2;
const SERIAL: u8 = 3;
const FIRST_INTERFACE: u8 = 4;

/// Characters of a text: its descriptor's length is one byte.
const TEXT_UNITS_MAX: usize = 126;

impl Descriptors {
    /// The device descriptor.
    pub(crate) fn device(&self) -> Vec<u8> {
        let (class, subclass, protocol) = self.class;
        let mut bytes = vec![18, 1, 0x00, 0x02, class, subclass, protocol, 64];
        bytes.extend(self.ids.0.to_le_bytes());
        bytes.extend(self.ids.1.to_le_bytes());
        bytes.extend(self.version.to_le_bytes());
        let serial = if self.serial.is_some() { SERIAL } else { 0 };
        bytes.extend([MANUFACTURER, PRODUCT, serial, 1]);
        bytes
    }

    /// The qualifier: the device at its other speed, which it does not have in earnest.
    pub(crate) fn qualifier(&self) -> Vec<u8> {
        let (class, subclass, protocol) = self.class;
        vec![10, 6, 0x00, 0x02, class, subclass, protocol, 64, 1, 0]
    }

    /// The configuration with everything in it.
    pub(crate) fn configuration(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for (number, interface) in (0_u8..).zip(&self.interfaces) {
            let (class, subclass, protocol) = interface.class;
            if let Some(count) = interface.association {
                body.extend([8, 11, number, count, class, subclass, protocol, 0]);
            }
            let endpoints = u8::try_from(interface.endpoints.len()).unwrap_or(u8::MAX);
            let name = match interface.name {
                Some(_) => FIRST_INTERFACE + number,
                None => 0,
            };
            body.extend([9, 4, number, 0, endpoints, class, subclass, protocol, name]);
            body.extend(&interface.functional);
            for endpoint in &interface.endpoints {
                body.extend(endpoint.descriptor(self.speed));
            }
        }
        let total = u16::try_from(9 + body.len()).unwrap_or(u16::MAX);
        let [low, high] = total.to_le_bytes();
        let interfaces = u8::try_from(self.interfaces.len()).unwrap_or(u8::MAX);
        // Powered by the bus, with 100 mA.
        let mut bytes = vec![9, 2, low, high, interfaces, 1, 0, 0x80, 50];
        bytes.extend(body);
        bytes
    }

    /// The text of this number; 0 lists the languages.
    pub(crate) fn text(&self, number: u8) -> Option<Vec<u8>> {
        let text = match number {
            0 => return Some(vec![4, 3, LANGUAGE[0], LANGUAGE[1]]),
            MANUFACTURER => &self.manufacturer,
            PRODUCT => &self.product,
            SERIAL => self.serial.as_ref()?,
            _ => {
                let interface = usize::from(number.checked_sub(FIRST_INTERFACE)?);
                self.interfaces.get(interface)?.name.as_ref()?
            }
        };
        let units = text.encode_utf16().take(TEXT_UNITS_MAX);
        let units: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
        let length = u8::try_from(2 + units.len()).expect("126 characters fit");
        Some([vec![length, 3], units].concat())
    }
}
