//! Analog switching, DC output and readings.

use super::{Command, Gate, Group, Tier};

pub(super) const GROUP: Group = Group {
    title: "Analog switching, DC output, readings, 4-20 mA output",
    commands: &[
        Command::new(
            "analog_path",
            Tier::Instrument,
            "Routes an output or an input.",
        )
        .gates(&[Gate::Analog]),
        Command::new(
            "dac_mux",
            Tier::Instrument,
            "Reads or sets the output multiplexer.",
        )
        .gates(&[Gate::Analog, Gate::NoDacLimits]),
        Command::new(
            "cal_switch",
            Tier::Instrument,
            "Reads or sets the input relays.",
        )
        .gates(&[Gate::Analog, Gate::NoDacLimits]),
        Command::new(
            "dac_out",
            Tier::Instrument,
            "Routes an output and sets its voltage.",
        )
        .gates(&[Gate::Analog]),
        Command::new(
            "dac_set",
            Tier::Instrument,
            "Sets the DAC's level, no routing.",
        )
        .gates(&[Gate::Analog, Gate::NoDacLimits]),
        Command::new(
            "adc_read",
            Tier::Instrument,
            "Routes an input and reads it.",
        )
        .gates(&[Gate::Analog, Gate::CaptureHardware]),
        Command::new(
            "current_out",
            Tier::Instrument,
            "Reads the range of the current output, or sets it.",
        )
        .gates(&[Gate::Analog]),
    ],
};
