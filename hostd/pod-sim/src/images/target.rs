//! The parts of a pod that can be updated.

/// A part that can be updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The firmware.
    Firmware,
    /// Gateware image 0.
    Gateware0,
    /// Gateware image 1.
    Gateware1,
    /// Firmware of the wireless module.
    Wireless,
    /// The company CA for the cloud's certificate.
    CompanyCa,
    /// Certificate and key for the LAN.
    LanTls,
}

impl Target {
    pub(crate) const ALL: [Self; 6] = [
        Self::Firmware,
        Self::Gateware0,
        Self::Gateware1,
        Self::Wireless,
        Self::CompanyCa,
        Self::LanTls,
    ];

    /// Its name in requests; the firmware has none there.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Firmware => "",
            Self::Gateware0 => "gw0",
            Self::Gateware1 => "gw1",
            Self::Wireless => "esp",
            Self::CompanyCa => "ca",
            Self::LanTls => "tls",
        }
    }

    /// Its name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Firmware => "firmware",
            other => other.word(),
        }
    }

    /// Whether its updates can be signed.
    pub(crate) fn is_signed(self) -> bool {
        !matches!(self, Self::CompanyCa | Self::LanTls)
    }

    /// Size of the largest image, in bytes.
    pub(crate) fn bytes_max(self, flash_kb: u16) -> usize {
        match self {
            // The other half holds the running firmware.
            Self::Firmware => usize::from(flash_kb) * 1024 / 2,
            Self::Gateware0 | Self::Gateware1 | Self::Wireless => 8 << 20,
            Self::CompanyCa => 16 << 10,
            Self::LanTls => 7664,
        }
    }
}
