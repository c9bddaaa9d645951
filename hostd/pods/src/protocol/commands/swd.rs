//! The debug port.

use super::{Command, Gate, Group, Tier};

pub(super) const GROUP: Group = Group {
    title: "CMSIS-DAP over SWD",
    commands: &[Command::new(
        "dap_start",
        Tier::Instrument,
        "Turns the connection into a CMSIS-DAP link.",
    )
    .gates(&[Gate::LaVoltage])
    .raw("CMSIS-DAP packets, each after its length")
    .waits(&["wait_ms"])],
};
