//! The SPI master.

use super::{Command, Gate, Group, Tier};

pub(super) const GROUP: Group = Group {
    title: "SPI master",
    commands: &[
        Command::new(
            "spi_start",
            Tier::Instrument,
            "Opens a session on four channels.",
        )
        .gates(&[Gate::LaVoltage]),
        Command::new("spi_stop", Tier::Instrument, "Closes the session."),
        Command::light("spi_status", "The session."),
        Command::new("spi_xfer", Tier::Instrument, "Sends and receives bytes."),
        Command::new(
            "spi_stream",
            Tier::Instrument,
            "Sends staged bytes in one frame.",
        ),
        Command::new(
            "spi_flash",
            Tier::Instrument,
            "Reads, erases and programs a NOR flash.",
        ),
    ],
};
