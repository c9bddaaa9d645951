//! Logic channels as pins: voltage, table, GPIO, resistors, step trains.

use super::{Command, Gate, Group, Tier};

pub(super) const GROUP: Group = Group {
    title: "LA voltage, pins, GPIO, bias resistors and step trains",
    commands: &[
        Command::new(
            "la_voltage",
            Tier::Instrument,
            "Reads or selects the voltage of the LA bank.",
        )
        .in_safe_mode(),
        Command::light("la_pins", "Who uses each channel, and its level."),
        Command::new(
            "gpio",
            Tier::Instrument,
            "Reads, configures, sets or releases channels.",
        )
        .gates(&[Gate::LaVoltage]),
        Command::new("la", Tier::Instrument, "Bias resistors and step trains.")
            .gates(&[Gate::LaVoltage]),
    ],
};
