//! Settings as arguments of a command line: `SCK=25MHz,1ns`.

use std::str::FromStr;

use super::{Clock, Settings};

/// Prefixes of units, and what they stand for.
const PREFIXES: [(char, f64); 8] = [
    ('G', 1e9),
    ('M', 1e6),
    ('k', 1e3),
    ('m', 1e-3),
    ('u', 1e-6),
    ('µ', 1e-6),
    ('n', 1e-9),
    ('p', 1e-12),
];

/// A value above zero with or without its unit: `25MHz`, `25M`, `25e6`.
///
/// # Errors
/// In words, what is wrong with it.
pub fn quantity(text: &str, unit: &str) -> Result<f64, String> {
    let bare = text.trim();
    let bare = bare.strip_suffix(unit).unwrap_or(bare).trim_end();
    let (number, factor) = PREFIXES
        .iter()
        .find_map(|(prefix, factor)| Some((bare.strip_suffix(*prefix)?, *factor)))
        .unwrap_or((bare, 1.0));
    let value = number.trim_end().parse::<f64>().map(|n| n * factor);
    value
        .ok()
        .filter(|value| value.is_finite() && *value > 0.0)
        .ok_or_else(|| format!("`{text}` is not a number above zero, in {unit}"))
}

impl FromStr for Clock {
    type Err = String;

    /// `NET=HZ,RISE` or `NET=HZ,RISE,VOLTS,OHM`, such as `SCK=25MHz,1ns,3.3V,50ohm`. The name of a net may have an `=`.
    fn from_str(text: &str) -> Result<Self, String> {
        const SHAPE: &str =
            "write NET=HZ,RISE or NET=HZ,RISE,VOLTS,OHM, such as SCK=25MHz,1ns,3.3V,50ohm";
        let (net, values) = text.rsplit_once('=').ok_or(SHAPE)?;
        let values: Vec<&str> = values.split(',').collect();
        let ((hz, rise), load) = match values[..] {
            [hz, rise] => ((hz, rise), None),
            [hz, rise, volts, ohm] => ((hz, rise), Some((volts, ohm))),
            _ => return Err(SHAPE.to_owned()),
        };
        if net.is_empty() {
            return Err("name the net of the clock".to_owned());
        }
        let load = match load {
            Some((volts, ohm)) => Some((quantity(volts, "V")?, quantity(ohm, "ohm")?)),
            None => None,
        };
        let pace = (quantity(hz, "Hz")?, quantity(rise, "s")?);
        Self::checked(net, pace, load).map_err(|error| error.to_string())
    }
}

impl Settings {
    /// Sets the clock of its net.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clocks.retain(|other| other.net != clock.net);
        self.clocks.push(clock);
        self
    }

    /// Sets the highest frequency that matters, in Hz.
    #[must_use]
    pub fn with_max_frequency_hz(mut self, hz: f64) -> Self {
        self.max_frequency_hz = Some(hz);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_prefixes_and_units_or_none() {
        for text in ["25e6", "25M", "25MHz", "25 MHz", "25000kHz", " 25000000 "] {
            let value = quantity(text, "Hz").unwrap();
            assert!((value / 25e6 - 1.0).abs() < 1e-12, "{text}: {value}");
        }
        assert!((quantity("0.5ns", "s").unwrap() / 0.5e-9 - 1.0).abs() < 1e-12);
        assert!((quantity("2ms", "s").unwrap() / 2e-3 - 1.0).abs() < 1e-12);
        for text in [
            "", "s", "n", "0", "-1n", "nan", "inf", "1e400", "1 x", "1nn",
        ] {
            assert!(quantity(text, "s").is_err(), "{text}");
        }
    }

    #[test]
    fn a_clock_is_a_net_a_frequency_and_a_rise_time() {
        let clock: Clock = "/a=b/SCK=25MHz,1ns".parse().unwrap();
        assert_eq!(clock.net, "/a=b/SCK");
        assert!((clock.hz / 25e6 - 1.0).abs() < 1e-12 && (clock.rise_s / 1e-9 - 1.0).abs() < 1e-12);
        assert_eq!((clock.volts, clock.load_ohm), (None, None));
        let clock: Clock = "SCK=25MHz,1ns,3.3V,50ohm".parse().unwrap();
        assert_eq!((clock.volts, clock.load_ohm), (Some(3.3), Some(50.0)));
        for text in [
            "",
            "SCK",
            "SCK=25e6",
            "=1,1n",
            "SCK=1,",
            "SCK=,1",
            "SCK=1e6,1n,3",
            "SCK=1e6,1",
        ] {
            assert!(text.parse::<Clock>().is_err(), "{text}");
        }
    }
}
