//! Captures of both converters.

use super::{Command, Gate, Group, OwnConnection, Tier};

pub(super) const GROUP: Group = Group {
    title: "Captures",
    commands: &[
        Command::new("la_capture", Tier::Read, "Captures the logic channels.")
            .gates(&[Gate::LaVoltage, Gate::CaptureHardware])
            .chunks(&[])
            .waits(&["trigger_timeout_ms"]),
        Command::new("capture", Tier::Read, "Captures the ADC, one shot.")
            .gates(&[Gate::Analog, Gate::CaptureHardware])
            .chunks(&[])
            .waits(&["trigger_timeout_ms"]),
        Command::new("stream", Tier::Read, "The same as `capture`.")
            .gates(&[Gate::Analog, Gate::CaptureHardware])
            .chunks(&[])
            .waits(&["trigger_timeout_ms"]),
        Command::new(
            "capture_dual",
            Tier::Read,
            "Captures ADC and logic channels from one instant.",
        )
        .gates(&[Gate::AnalogFor("adc_samples"), Gate::CaptureHardware])
        .chunks(&[])
        .waits(&["trigger_timeout_ms"]),
        Command::new("capture_read", Tier::Read, "Sends the last capture again.")
            .gates(&[Gate::CaptureHardware])
            .chunks(&[]),
        Command::new(
            "measure",
            Tier::Instrument,
            "Plays one period on the DAC and captures it.",
        )
        .gates(&[
            Gate::Analog,
            Gate::Waveforms,
            Gate::NoDacLimits,
            Gate::CaptureHardware,
        ])
        .chunks(&[])
        .own_connection(OwnConnection::Above("samples", 256)),
        Command::new("test", Tier::Read, "Sends a test pattern without hardware.")
            .gates(&[Gate::Analog])
            .chunks(&[]),
        Command::new("psram_ping", Tier::Read, "Tests the capture memory.")
            .gates(&[Gate::Analog, Gate::CaptureHardware]),
        Command::new(
            "psram_recover",
            Tier::Instrument,
            "Reboots to bring the capture memory back.",
        ),
    ],
};
