//! The emulated GPS receiver.

use super::{Command, Gate, Group, Tier};

pub(super) const GROUP: Group = Group {
    title: "Emulated GPS receiver",
    commands: &[
        Command::new(
            "gps_start",
            Tier::Instrument,
            "Sends NMEA sentences on a channel.",
        )
        .gates(&[Gate::LaVoltage]),
        Command::new("gps_set", Tier::Instrument, "Changes the fix."),
        Command::light("gps_status", "The receiver and its fix."),
        Command::new("gps_stop", Tier::Instrument, "Stops the receiver."),
    ],
};
