//! The UART proxy.

use super::{Command, Gate, Group, Tier};

pub(super) const GROUP: Group = Group {
    title: "UART",
    commands: &[Command::new(
        "uart_proxy_start",
        Tier::Instrument,
        "Turns the connection into a UART.",
    )
    .gates(&[Gate::LaVoltage])
    .raw("bytes of the target's UART, both ways")],
};
