//! Clocks, as their users declare them.

use serde::Deserialize;

use crate::fields::emission;
use crate::fields::input::{self, InputError};
use crate::fields::spectrum::Spread;

/// How often the frequency of a spread clock goes up and down, in Hz: nobody declares it, and nearly all do it so.
pub(crate) const ASSUMED_MODULATION_HZ: f64 = 30e3;

/// Which part of its period a clock is high.
pub(crate) const ASSUMED_DUTY: f64 = 0.5;

/// An edge from 10 % to 90 % as a part of the whole edge, which is taken as straight.
const EDGE: f64 = 0.8;

/// A net that switches on its own.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(try_from = "Text")]
pub struct Clock {
    /// Its net.
    pub net: String,
    /// How often a second.
    pub hz: f64,
    /// From 10 % to 90 %, in seconds.
    pub rise_s: f64,
    /// From low to high, in volts.
    pub volts: Option<f64>,
    /// What it drives, in ohms: what limits its current.
    pub load_ohm: Option<f64>,
    /// Which part of its frequency it is spread over, from the lowest to the highest.
    pub spread: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    net: String,
    hz: f64,
    rise_s: f64,
    volts: Option<f64>,
    load_ohm: Option<f64>,
    spread: Option<f64>,
}

impl TryFrom<Text> for Clock {
    type Error = InputError;

    fn try_from(text: Text) -> Result<Self, InputError> {
        let bounded = |value: Option<f64>, name, min, max| {
            value
                .map(|value| input::within(name, value, min, max))
                .transpose()
        };
        let hz = input::within("hz of a clock", text.hz, 1.0, 1e12)?;
        Ok(Self {
            net: text.net,
            hz,
            rise_s: input::within("rise_s of a clock", text.rise_s, 1e-15, EDGE / hz)?,
            volts: bounded(text.volts, "volts of a clock", 1e-6, 10_000.0)?,
            load_ohm: bounded(text.load_ohm, "load_ohm of a clock", 0.01, 1e9)?,
            spread: bounded(text.spread, "spread of a clock", 1e-9, 0.1)?,
        })
    }
}

impl Clock {
    /// A clock with its voltage and load, if they are known.
    ///
    /// # Errors
    /// A value that cannot be.
    pub(super) fn checked(
        net: &str,
        (hz, rise_s): (f64, f64),
        load: Option<(f64, f64)>,
    ) -> Result<Self, InputError> {
        Self::try_from(Text {
            net: net.to_owned(),
            hz,
            rise_s,
            volts: load.map(|(volts, _)| volts),
            load_ohm: load.map(|(_, ohm)| ohm),
            spread: None,
        })
    }

    /// What its emission is computed from, if its user declared enough for that.
    pub(crate) fn emitting(&self) -> Option<emission::Clock> {
        Some(emission::Clock {
            frequency_hz: self.hz,
            rise_s: self.rise_s / EDGE,
            duty: ASSUMED_DUTY,
            volts: self.volts?,
            load_ohm: self.load_ohm?,
            spread: self.spread.map(|deviation| Spread {
                deviation,
                modulation_hz: ASSUMED_MODULATION_HZ,
            }),
        })
    }

    /// The harmonic nearest to `hz`, in Hz.
    pub(crate) fn harmonic_near(&self, hz: f64) -> f64 {
        self.hz * (hz / self.hz).round().max(1.0)
    }
}
