//! The control loop.

use super::{Command, Gate, Group, Tier};

pub(super) const GROUP: Group = Group {
    title: "Control loop",
    commands: &[
        Command::new("dac_control_loop", Tier::Instrument, "Arms the loop.").gates(&[
            Gate::Analog,
            Gate::Waveforms,
            Gate::LoopImage,
        ]),
        Command::new(
            "dac_loop_input",
            Tier::Instrument,
            "Changes what the running loop follows.",
        )
        .gates(&[Gate::Analog, Gate::LoopImage]),
        Command::light("dac_loop_probe", "Input and output of the loop.")
            .gates(&[Gate::Analog, Gate::LoopImage]),
    ],
};
