//! The emulated I2C sensor.

use super::{Command, Gate, Group, Tier};

pub(super) const GROUP: Group = Group {
    title: "Emulated I²C sensor",
    commands: &[
        Command::light("sensor_types", "The sensors there are, with their values."),
        Command::new(
            "sensor_start",
            Tier::Instrument,
            "Puts a sensor on two channels.",
        )
        .gates(&[Gate::LaVoltage]),
        Command::new(
            "sensor_set",
            Tier::Instrument,
            "Changes what the sensor measures.",
        ),
        Command::light(
            "sensor_status",
            "The sensor and what the target did with it.",
        ),
        Command::new("sensor_regs", Tier::Read, "The sensor's registers.")
            .gates(&[Gate::CaptureHardware])
            .chunks(&[]),
        Command::new(
            "sensor_la",
            Tier::Read,
            "Captures the two lines of the bus.",
        )
        .gates(&[Gate::CaptureHardware])
        .chunks(&[]),
        Command::new("sensor_stop", Tier::Instrument, "Takes the sensor away."),
    ],
};
