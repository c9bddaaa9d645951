//! The generator, uploads and replay, and the image they need.

use super::{Command, Gate, Group, OwnConnection, Tier};

pub(super) const GROUP: Group = Group {
    title: "Generator, uploads, replay and gateware images",
    commands: &[
        Command::new("generate", Tier::Instrument, "Plays a waveform.").gates(&[
            Gate::Analog,
            Gate::Waveforms,
            Gate::NoDacLimits,
        ]),
        Command::new(
            "dac_stop",
            Tier::Instrument,
            "Stops what plays; the level is held.",
        ),
        Command::new("load_bin", Tier::Instrument, "Uploads codes or bytes.")
            .gates(&[Gate::Analog, Gate::NoDacLimits, Gate::CaptureHardware])
            .raw("`total` bytes to the pod, then one more line"),
        Command::new("load", Tier::Instrument, "A line of an upload.")
            .gates(&[Gate::Analog, Gate::NoDacLimits, Gate::CaptureHardware])
            .own_connection(OwnConnection::Always),
        Command::new("replay", Tier::Instrument, "Plays what was uploaded.")
            .gates(&[Gate::Analog, Gate::Waveforms, Gate::NoDacLimits])
            .own_connection(OwnConnection::Always),
        Command::new("fpga_image", Tier::Instrument, "Loads a gateware image.")
            .gates(&[Gate::CaptureHardware]),
    ],
};
