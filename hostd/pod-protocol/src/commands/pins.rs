//! Logic channels as pins: voltage, table, GPIO, resistors, step trains.

use super::{Command, Data, Denied, Example, Field, Gate, Group, Kind, Out, Shape, Tier};

const PULL: &[Out] = &[
    Out::text("dir", "`up` or `down`"),
    Out::text("ohms", "`4.7k`, `2.2k` or `10k`"),
    Out::bool("on", "engaged"),
];

const PIN: &[Out] = &[
    Out::int("la", "the channel"),
    Out::text(
        "function",
        "its owner: `none`, `gpio`, `uart_rx`, `uart_tx`, `swd_clk`, `swd_dio`, `i2c_sda`, `i2c_scl`, `step`, `step_dir`, `spi_sck`, `spi_mosi`, `spi_miso`, `spi_cs` or `gps_tx`",
    ),
    Out::text("gpio", "GPIO mode").or_null(),
    Out::bit("level", "commanded level").or_null(),
    Out::new(
        "pull",
        Shape::Object(PULL),
        "its resistor; null on LA9 to LA14",
    )
    .or_null(),
];

const LA_FIELDS: &[Field] = &[
    Field::la("la", "the channel; resistors are on LA1 to LA8").or("report all resistors"),
    Field::word(
        "pullup",
        &["on", "off"],
        "engage or release the resistor, whatever its direction",
    )
    .or("only report"),
    Field::int(
        "steps",
        1,
        65_535,
        "start a train of this many pulses, high phase first",
    ),
    Field::int("delay_us", 4, 65_535, "length of each phase")
        .unit("µs")
        .with("steps"),
    Field::la("dir_la", "a channel driven to `direction` before the train"),
    Field::flag("direction", "its level").or("0"),
];

const LA_REPLY: &[Out] = &[
    Out::int("la", "the channel").when("with `la`"),
    Out::bit("pullup", "engaged").when("one resistor"),
    Out::text("ohms", "`4.7k` (LA1, LA2), `2.2k` (LA3, LA4) or `10k`").when("one resistor"),
    Out::text("pull", "`up` (LA1 to LA6) or `down` (LA7, LA8)").when("one resistor"),
    Out::bit("pullups_available", "the bank is at 3.3 V").when("resistors"),
    Out::int("la_pullup_mask", "engaged ones, bit n−1 for LA n").when("all resistors"),
    Out::int("steps", "as requested").when("a train"),
    Out::int("delay_us", "as requested")
        .unit("µs")
        .when("a train"),
    Out::text("status", "`started`").when("a train"),
];

const LA_DENIALS: &[Denied] = &[
    Denied::new(
        "LA9 has no bias resistor",
        "a channel without one",
        &[r#"{"cmd":"la","la":9,"pullup":"on"}"#],
    ),
    Denied::new(
        "the bias resistors are 3.3 V referenced and stay off at 1.8 V",
        "engaging at 1.8 V",
        &[
            r#"{"cmd":"la_voltage","mv":1800}"#,
            r#"{"cmd":"la","la":1,"pullup":"on"}"#,
        ],
    ),
    Denied::new(
        "pull conflict: LA7 is in use by gpio, which cannot work with a pull-down",
        "engaging under a function that cannot work with it",
        &[
            r#"{"cmd":"gpio","la":7,"mode":"open_drain"}"#,
            r#"{"cmd":"la","la":7,"pullup":"on"}"#,
        ],
    ),
    Denied::new(
        "busy",
        "a second train",
        &[
            r#"{"cmd":"la","la":1,"steps":9000,"delay_us":500}"#,
            r#"{"cmd":"la","la":2,"steps":2,"delay_us":9}"#,
        ],
    ),
    Denied::new(
        "dir_la must differ from la",
        "the same channel twice",
        &[r#"{"cmd":"la","la":1,"steps":9,"delay_us":50,"dir_la":1}"#],
    ),
    Denied::new(
        "pin conflict: LA1 is in use by gpio",
        "a train on an input",
        &[
            r#"{"cmd":"gpio","la":1,"mode":"input"}"#,
            r#"{"cmd":"la","la":1,"steps":9,"delay_us":50}"#,
        ],
    ),
];

const GPIO_DENIALS: &[Denied] = &[
    Denied::new(
        "LA5 is not an output",
        "a level for a channel that is none",
        &[r#"{"cmd":"gpio","la":5,"level":1}"#],
    ),
    Denied::new(
        "pin conflict: LA1 is in use by step",
        "another function owns a channel; nothing of the list changes",
        &[
            r#"{"cmd":"la","la":1,"steps":9000,"delay_us":500}"#,
            r#"{"cmd":"gpio","la":[1,2],"mode":"output"}"#,
        ],
    ),
    Denied::new(
        "pull conflict: LA7 has its pull-down engaged",
        "open drain over an engaged pull-down",
        &[
            r#"{"cmd":"la","la":7,"pullup":"on"}"#,
            r#"{"cmd":"gpio","la":7,"mode":"open_drain"}"#,
        ],
    ),
];

pub(super) const GROUP: Group = Group {
    title: "LA voltage, pins, GPIO, bias resistors and step trains",
    commands: &[
        Command::new("la_voltage", Tier::Instrument, "Reads or selects the voltage of the LA bank. Going to 1.8 V releases every pull-up. Not kept over a restart.")
            .in_safe_mode()
            .fields(&[Field::new("mv", Kind::OneOf(&[1800, 3300]), "the voltage; selecting the present one always works").unit("mV").or("only read")])
            .data(Data::Object(&[
                Out::int("mv", "selected; 0: none yet").unit("mV"),
                Out::bit("st", "status pin of the power switch"),
                Out::int("readback_mv", "the rail as measured; 0: unknown").unit("mV"),
            ]))
            .denials(&[
                Denied::new("1800 mV needs a v3 board", "1.8 V on a v2 board", &[]),
                Denied::new("the LA voltage cannot change while channels are in use", "another voltage while a channel is owned", &[r#"{"cmd":"gpio","la":2,"mode":"output"}"#, r#"{"cmd":"la_voltage","mv":1800}"#]),
            ])
            .examples(&[Example::new(r#"{"cmd":"la_voltage","mv":3300}"#)]),
        Command::light("la_pins", "Who uses each channel, and its level.")
            .data(Data::Object(&[
                Out::new("pins", Shape::Objects(PIN), "14 entries"),
                Out::int("levels", "live levels of the wires, bit n−1 for LA n").or_null(),
            ]))
            .examples(&[Example::new(r#"{"cmd":"la_pins"}"#)]),
        Command::new("gpio", Tier::Instrument, "Reads all levels, configures channels, sets levels, or releases channels. A list is done as a whole or not at all. Channels stay GPIO when the connection closes.")
            .gates(&[Gate::LaVoltage])
            .fields(&[
                Field::new("la", Kind::Las, "channel or list; `\"all\"` only with `off`").with("mode"),
                Field::word("mode", &["output", "open_drain", "input", "off"], "push-pull, pulled low or released, read only; `off` frees GPIO channels and leaves other owners alone").or("keep it"),
                Field::flag("level", "commanded level").or("0 for `output`, 1 (released) for `open_drain`"),
            ])
            .data(Data::Object(&[
                Out::new("pins", Shape::Objects(PIN), "the channels of the request, ascending; all 14 for a read"),
                Out::int("levels", "live levels, bit n−1 for LA n").or_null().when("a read"),
            ]))
            .denials(GPIO_DENIALS)
            .examples(&[
                Example::new(r#"{"cmd":"gpio","la":[3,4],"mode":"output","level":1}"#),
                Example::after(&[r#"{"cmd":"gpio","la":3,"mode":"output"}"#], r#"{"cmd":"gpio","la":3,"level":1}"#),
                Example::new(r#"{"cmd":"gpio","la":"all","mode":"off"}"#),
                Example::new(r#"{"cmd":"gpio"}"#),
            ]),
        Command::new("la", Tier::Instrument, "One bias resistor, all of them, or a step train. A train runs on a free channel, which it owns meanwhile, or on a GPIO output, which returns to its level.")
            .gates(&[Gate::LaVoltage])
            .fields(LA_FIELDS)
            .data(Data::Object(LA_REPLY))
            .denials(LA_DENIALS)
            .examples(&[
                Example::new(r#"{"cmd":"la","la":2,"pullup":"on"}"#),
                Example::new(r#"{"cmd":"la","la":1,"steps":100,"delay_us":50,"dir_la":2,"direction":1}"#),
                Example::new(r#"{"cmd":"la"}"#),
            ]),
    ],
};
