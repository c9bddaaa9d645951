//! Words for outputs of the DAC, for mappings and for units.

use guest::waveforms::{Mapping, Output, Unit};
use guest::words;

words! {
    pub(crate) const OUTPUTS: Output = {
        V3 = "3v3",
        V5 = "5v",
        V12 = "12v",
        Current = "current_out",
    };
}

words! {
    pub(crate) const MAPPINGS: Mapping = { Faithful = "faithful", Fit = "fit" };
}

words! {
    pub(crate) const UNITS: Unit = { Volts = "V", Milliamps = "mA" };
}
