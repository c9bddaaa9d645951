//! Pins as the outside sees them.

/// A port of general-purpose pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Port {
    /// PA0 to PA15.
    A,
    /// PB0 to PB15.
    B,
    /// PC0 to PC15.
    C,
    /// PD0 to PD15.
    D,
    /// PE0 to PE15.
    E,
    /// PF0 to PF15.
    F,
    /// PG0 to PG15.
    G,
    /// PH0 to PH15.
    H,
}

impl Port {
    /// Index of the port in the register map: 0 for A up to 7 for H.
    pub(crate) const fn place(self) -> u32 {
        match self {
            Self::A => 0,
            Self::B => 1,
            Self::C => 2,
            Self::D => 3,
            Self::E => 4,
            Self::F => 5,
            Self::G => 6,
            Self::H => 7,
        }
    }

    pub(crate) const fn at_place(place: u32) -> Option<Self> {
        match place {
            0 => Some(Self::A),
            1 => Some(Self::B),
            2 => Some(Self::C),
            3 => Some(Self::D),
            4 => Some(Self::E),
            5 => Some(Self::F),
            6 => Some(Self::G),
            7 => Some(Self::H),
            _ => None,
        }
    }
}

/// One pin of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pin {
    /// Its port.
    pub port: Port,
    /// Its number in the port, 0 to 15.
    pub number: u8,
}

impl Pin {
    /// A pin; only the low four bits of the number count.
    #[must_use]
    pub const fn new(port: Port, number: u8) -> Self {
        Self {
            port,
            number: number & 15,
        }
    }
}

/// What the chip drives at a pin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drive {
    /// Nothing: an input, analog, or an open drain that is off.
    #[default]
    Float,
    /// A weak pull-up of about 40 kΩ.
    PullUp,
    /// A weak pull-down of about 40 kΩ.
    PullDown,
    /// Driven low.
    Low,
    /// Driven high.
    High,
}

/// What the outside drives at a pin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Nothing is connected, or nothing drives.
    #[default]
    Open,
    /// Pulled or driven low.
    Low,
    /// Pulled or driven high.
    High,
}

impl Drive {
    /// What the chip reads at a pin: its own drivers win over the outside, the outside wins over weak
    /// pulls. An open pin reads low.
    #[must_use]
    pub const fn reads(self, outside: Level) -> bool {
        match (self, outside) {
            (Self::High, _) => true,
            (Self::Low, _) => false,
            (_, Level::High) => true,
            (_, Level::Low) => false,
            (drive, Level::Open) => matches!(drive, Self::PullUp),
        }
    }
}

/// A change of what the chip drives at a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinChange {
    /// When, in nanoseconds since the target was made.
    pub at_ns: u64,
    /// Which pin.
    pub pin: Pin,
    /// What the chip drives there from then on.
    pub drive: Drive,
}
