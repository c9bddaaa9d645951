//! The control loop.

use super::{Command, Data, Denied, Example, Field, Gate, Group, Kind, Out, Outside, Tier};

const ARM: &[Field] = &[
    Field::int(
        "k",
        1,
        32_767,
        "share of the way to the target per tick, in 1/32768",
    )
    .or("8192")
    .outside(Outside::ClampedAbove),
    Field::int("vmin", 0, 65_535, "lowest code; at most `vmax`").or("0"),
    Field::int("vmax", 0, 65_535, "highest code").or("65535"),
    Field::int("tick_div", 8, 65_535, "a tick in cycles of 48 MHz")
        .or("64")
        .outside(Outside::ClampedBelow),
    Field::new(
        "curve",
        Kind::Bytes(2, 4096),
        "1 to 2048 points, 16 bits little-endian: entry j of the table is point floor(j·N/2048)",
    )
    .or("the curve loaded last"),
    SOURCE,
    Field::int(
        "input",
        0,
        65_535,
        "held value of `fixed`, start of `sweep`",
    )
    .or("0"),
    Field::int(
        "step",
        0,
        65_535,
        "advance of `sweep` per tick; not 0 for a sweep",
    )
    .or("0"),
    Field::new(
        "in_mv_per_unit",
        Kind::Number(-1e9, 1e9),
        "input map: mV at the front connector per unit",
    )
    .unit("mV"),
    Field::new(
        "in_mv_at_zero",
        Kind::Number(-1e9, 1e9),
        "input map: mV at value 0",
    )
    .unit("mV"),
    Field::new(
        "in_min",
        Kind::Number(-1e9, 1e9),
        "input map: value at the curve's start",
    ),
    Field::new(
        "in_max",
        Kind::Number(-1e9, 1e9),
        "input map: value at the curve's end",
    ),
    Field::new(
        "in_trip",
        Kind::Number(-1e9, 1e9),
        "input map: above it the loop trips and stays at `vmin`",
    ),
];

const SOURCE: Field = Field::word(
    "source",
    &["adc", "fixed", "sweep"],
    "what indexes the curve",
);

const ARMED: &[Out] = &[
    Out::bool("armed", "true"),
    Out::int("k", "in effect"),
    Out::int("vmin", "in effect"),
    Out::int("vmax", "in effect"),
    Out::int("tick_div", "in effect"),
    Out::int("curve_pts", "points of this request's curve; 0: none"),
    Out::text("source", "in effect"),
    Out::int("input", "in effect"),
    Out::int("step", "in effect"),
    Out::int("in_zero", "count that is index 0").when("with a map"),
    Out::int("in_gain", "index per count, in 1/32768, signed").when("with a map"),
    Out::int("idx_max", "index of the curve's end").when("with a map"),
    Out::int("trip_idx", "index of the trip; −1: none").when("with a map"),
];

/// A sensor of 500 mV per unit whose curve spans 0 to 5 units.
const WITH_MAP: &str = r#"{"cmd":"dac_control_loop","curve":"AAD__w","in_mv_per_unit":500.0,"in_mv_at_zero":0.0,"in_min":0.0,"in_max":5.0,"in_trip":6.0}"#;

pub(super) const GROUP: Group = Group {
    title: "Control loop",
    commands: &[
        Command::new("dac_control_loop", Tier::Instrument, "Arms the loop: each tick the output goes `(table[input >> 5] − v)·k/32768`, within vmin to vmax.")
            .gates(&[Gate::Analog, Gate::Waveforms, Gate::LoopImage])
            .fields(ARM)
            .data(Data::Object(ARMED))
            .denials(&[
                Denied::new("the control loop needs image 0", "the other image is loaded", &[r#"{"cmd":"fpga_image","image":1}"#, r#"{"cmd":"dac_control_loop"}"#]),
                Denied::new("bad vmin", "`vmin` above `vmax`", &[r#"{"cmd":"dac_control_loop","vmin":5,"vmax":4}"#]),
                Denied::new("bad step", "a sweep with step 0", &[r#"{"cmd":"dac_control_loop","source":"sweep"}"#]),
            ])
            .examples(&[
                Example::new(r#"{"cmd":"dac_control_loop","k":8192,"vmin":0,"vmax":65535,"tick_div":64,"curve":"AAD__w","source":"fixed","input":30000,"step":0}"#),
                Example::new(WITH_MAP),
            ]),
        Command::new("dac_loop_input", Tier::Instrument, "Changes what the running loop follows.")
            .gates(&[Gate::Analog, Gate::LoopImage])
            .fields(&[
                SOURCE.or("it stays"),
                Field::int("input", 0, 65_535, "held value, or start of the sweep").or("it stays"),
                Field::int("step", 0, 65_535, "advance of the sweep").or("it stays"),
            ])
            .data(Data::Object(&[
                Out::text("source", "in effect"),
                Out::int("input", "in effect"),
                Out::int("step", "in effect"),
                Out::int("v", "the output at the change"),
            ]))
            .examples(&[Example::after(&[r#"{"cmd":"dac_control_loop"}"#], r#"{"cmd":"dac_loop_input","source":"sweep","step":3}"#)]),
        Command::light("dac_loop_probe", "Input and output of the loop.")
            .gates(&[Gate::Analog, Gate::LoopImage])
            .data(Data::Object(&[
                Out::int("i", "latest ADC count"),
                Out::int("v", "the output's code"),
                Out::int("in", "what indexed the curve"),
                Out::text("source", "what it follows"),
                Out::bool("tripped", "it tripped and was not armed since"),
            ]))
            .examples(&[Example::new(r#"{"cmd":"dac_loop_probe"}"#)]),
    ],
};
