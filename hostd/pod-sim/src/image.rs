//! The two gateware images: one has the control loop, the other replays from deep memory.

/// Version of the gateware.
pub(crate) const GATEWARE: u32 = 48;

/// A gateware image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Image {
    ControlLoop,
    DeepReplay,
}

impl Image {
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::ControlLoop => 0,
            Self::DeepReplay => 1,
        }
    }

    /// Feature bits in the reply.
    pub(crate) fn features(self) -> u8 {
        match self {
            Self::ControlLoop => 0x01,
            Self::DeepReplay => 0x02,
        }
    }

    /// The capability that only this image has.
    pub(crate) fn capability(self) -> &'static str {
        match self {
            Self::ControlLoop => "dac_control_loop",
            Self::DeepReplay => "dac_deep_replay",
        }
    }
}
