//! Words for outputs of the DAC, for mappings and for units.

use guest::waveforms::{Mapping, Output, Unit};

pub(crate) const OUTPUTS: &[(&str, Output)] = &[
    ("3v3", Output::V3),
    ("5v", Output::V5),
    ("12v", Output::V12),
    ("current_out", Output::Current),
];

pub(crate) const MAPPINGS: &[(&str, Mapping)] =
    &[("faithful", Mapping::Faithful), ("fit", Mapping::Fit)];

pub(crate) const UNITS: &[(&str, Unit)] = &[("V", Unit::Volts), ("mA", Unit::Milliamps)];

pub(crate) fn name(output: Output) -> &'static str {
    match output {
        Output::V3 => "3v3",
        Output::V5 => "5v",
        Output::V12 => "12v",
        Output::Current => "current_out",
    }
}

pub(crate) fn mapping(mapping: Mapping) -> &'static str {
    match mapping {
        Mapping::Faithful => "faithful",
        Mapping::Fit => "fit",
    }
}

pub(crate) fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Volts => "V",
        Unit::Milliamps => "mA",
    }
}

#[cfg(test)]
mod tests {
    use super::{MAPPINGS, OUTPUTS, UNITS};

    #[test]
    fn words_are_read_as_they_are_written() {
        assert!(OUTPUTS.iter().all(|(word, o)| *word == super::name(*o)));
        assert!(MAPPINGS.iter().all(|(word, m)| *word == super::mapping(*m)));
        assert!(UNITS.iter().all(|(word, u)| *word == super::unit(*u)));
    }
}
