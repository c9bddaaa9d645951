//! The UART proxy.

use crate::{UART_BAUD_MAX, UART_BAUD_MIN, UART_BREAK_MS_MAX};

use super::{Command, Data, Denied, Example, Field, Gate, Group, Tier};

pub(super) const GROUP: Group = Group {
    title: "UART",
    commands: &[
        Command::new("uart_proxy_start", Tier::Instrument, "Turns the connection into a UART, 8 data bits, no parity, one stop bit. One at a time.")
            .gates(&[Gate::LaVoltage])
            .raw("bytes of the target's UART, both ways, until the client closes, or sends `+++` between two silences of 1 s")
            .data(Data::Text("uart ready"))
            .fields(&[
                Field::la("rx", "the channel the pod listens on: the target's TX").required(),
                Field::la("tx", "the channel the pod drives: the target's RX").required(),
                Field::int("baud", UART_BAUD_MIN as i64, UART_BAUD_MAX as i64, "bit rate").unit("bit/s").or("115200"),
            ])
            .denials(&[
                Denied::new("rx and tx must differ", "the same channel twice", &[r#"{"cmd":"uart_proxy_start","rx":3,"tx":3}"#]),
                Denied::new("uart busy", "another session is open, on other channels", &[]),
                Denied::new("pin conflict: LA3 is in use by gpio", "another function owns a channel", &[r#"{"cmd":"gpio","la":3,"mode":"input"}"#, r#"{"cmd":"uart_proxy_start","rx":3,"tx":4}"#]),
                Denied::new("pull conflict: LA7 has its pull-down engaged", "a channel with an engaged pull-down", &[r#"{"cmd":"la","la":7,"pullup":"on"}"#, r#"{"cmd":"uart_proxy_start","rx":7,"tx":4}"#]),
            ])
            .examples(&[Example::new(r#"{"cmd":"uart_proxy_start","rx":3,"tx":4,"baud":115200}"#)]),
        Command::new("uart_break", Tier::Instrument, "Holds the target's RX low, once the open UART has sent what it was given before, and answers when it is high again.")
            .waits(&["ms"])
            .fields(&[
                Field::int("ms", 1, UART_BREAK_MS_MAX.cast_signed(), "how long").unit("ms").or("30"),
            ])
            .denials(&[
                Denied::new("no uart session is open", "nothing drives the target's RX", &[r#"{"cmd":"uart_break","ms":30}"#]),
            ]),
    ],
};
