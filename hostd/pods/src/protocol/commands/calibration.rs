//! Calibration and limits.

use super::{Change, Command, Gate, Group};

pub(super) const GROUP: Group = Group {
    title: "Calibration and DAC limits",
    commands: &[
        Command::read_or_set(
            "calibrate",
            &[
                Change::Given("source"),
                Change::Set("clear"),
                Change::Given("dac"),
                Change::Given("adc"),
            ],
            "Reads, measures, stores or clears corrections.",
        )
        .gates(&[Gate::Analog]),
        Command::read_or_set(
            "dac_limits",
            &[Change::Given("path"), Change::Unset("enabled")],
            "Reads, sets or clears the limits of the DAC.",
        )
        .gates(&[Gate::Analog])
        .in_safe_mode(),
    ],
};
