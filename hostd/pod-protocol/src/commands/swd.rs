//! The debug port.

use super::{Command, Data, Example, Field, Gate, Group, Outside, Tier};

pub(super) const GROUP: Group = Group {
    title: "CMSIS-DAP over SWD",
    commands: &[
        Command::new("dap_start", Tier::Instrument, "Turns the connection into a CMSIS-DAP link (SWD). Excludes an SPI session.")
            .gates(&[Gate::LaVoltage])
            .raw("CMSIS-DAP packets both ways, each after its length as 16 bits little-endian, one answer for each request, in order, until the client closes, sends a length of 0 or above 1024, or has sent nothing for 10 minutes: a pod ends a silent session, and frees its channels")
            .waits(&["wait_ms"])
            .data(Data::Text("dap ready"))
            .fields(&[
                Field::la("swclk", "clock").required(),
                Field::la("swdio", "data").required(),
                Field::int("packet_size", 64, 1024, "largest packet, which DAP_Info then tells").unit("bytes").or("256").outside(Outside::Clamped),
                Field::int("packet_count", 1, 4, "packets in flight, which DAP_Info then tells").or("1").outside(Outside::Clamped),
                Field::int("wait_ms", 0, 10_000, "wait before the answer until the target answers steadily, at most so long").unit("ms").or("0").outside(Outside::ClampedAbove),
            ])
            .examples(&[Example::new(r#"{"cmd":"dap_start","swclk":5,"swdio":6,"packet_size":1024,"packet_count":4}"#)]),
    ],
};
