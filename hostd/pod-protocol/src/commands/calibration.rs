//! Calibration and limits.

use super::{Change, Command, Data, Denied, Example, Field, Gate, Group, Kind, Out, Shape};

const CALIBRATE: &[Field] = &[
    Field::word(
        "source",
        &["current_in"],
        "measure and store the offset of this input, which nothing may drive",
    ),
    Field::new(
        "clear",
        Kind::Mixed,
        "true, or one of `offset`, `dac`, `adc`: forget stored corrections",
    ),
    Field::word(
        "dac",
        &["3v3", "5v", "12v"],
        "store a line for this output, from two points read with a meter",
    ),
    Field::int("code1", 0, 65_535, "code of the first point").with("dac"),
    Field::int("uv1", -15_000_000, 15_000_000, "its voltage")
        .unit("µV")
        .with("dac"),
    Field::int("code2", 0, 65_535, "code of the second point").with("dac"),
    Field::int("uv2", -15_000_000, 15_000_000, "its voltage")
        .unit("µV")
        .with("dac"),
    Field::word(
        "adc",
        &["cal1", "cal2", "ext"],
        "measure the gain of this input against a corrected output",
    ),
];

const MEASURED: &[Out] = &[
    Out::int("v1_uv", "first output").unit("µV"),
    Out::int("v2_uv", "second output").unit("µV"),
    Out::int("r1_uv", "first reading").unit("µV"),
    Out::int("r2_uv", "second reading").unit("µV"),
    Out::int("residual_uv", "what remains").unit("µV"),
];

const CALIBRATION: &[Out] = &[
    Out::text("source", "`current_in`"),
    Out::bool("calibrated", "an offset is stored"),
    Out::int("offset_uv", "the offset").unit("µV"),
    Out::number("offset_mv", "the same").unit("mV"),
    Out::int(
        "a_uv",
        "`current_in`: voltage at unwrapped count 0, offset taken out",
    )
    .unit("µV"),
    Out::int("b_nv", "`current_in`: voltage per count").unit("nV"),
    Out::int("count", "mean count").when("a measurement"),
    Out::int("span", "peak to peak")
        .unit("counts")
        .when("a measurement"),
    Out::int("samples", "samples averaged").when("a measurement"),
    Out::new(
        "dac",
        Shape::Named,
        "for each output: null, or `{a_uv, b_pv, offset_uv, gain_ppm}`",
    ),
    Out::new(
        "adc_gain_ppm",
        Shape::Named,
        "for each input: null, or its correction in ppm",
    ),
    Out::bool("dmm", "a line of an output or a gain of an input is stored"),
    Out::int("zero_count_mc", "unwrapped count of the open input")
        .unit("1/1000 count")
        .when("an offset is stored"),
    Out::new("measured", Shape::Object(MEASURED), "the two points").when("a gain measurement"),
];

const LIMITS: &[Out] = &[
    Out::bool("enabled", "limits are set"),
    Out::text("path", "the limited output"),
    Out::bool("inverted", "the stage behind it inverts"),
    Out::int("min_mv", "lowest voltage").unit("mV"),
    Out::int("max_mv", "highest voltage").unit("mV"),
    Out::int("park_mv", "where `dac_stop` and every start put the DAC")
        .unit("mV")
        .when("set"),
];

pub(super) const GROUP: Group = Group {
    title: "Calibration and DAC limits",
    commands: &[
        Command::read_or_set("calibrate", &[Change::Given("source"), Change::Set("clear"), Change::Given("dac"), Change::Given("adc")], "Reads, measures, stores or clears corrections. All forms answer alike.")
            .gates(&[Gate::Analog, Gate::CaptureHardwareFor("source"), Gate::CaptureHardwareFor("adc")])
            .fields(CALIBRATE)
            .data(Data::Object(CALIBRATION))
            .examples(&[
                Example::new(r#"{"cmd":"calibrate"}"#),
                Example::new(r#"{"cmd":"calibrate","source":"current_in"}"#),
                Example::new(r#"{"cmd":"calibrate","clear":"offset"}"#),
                Example::new(r#"{"cmd":"calibrate","dac":"5v","code1":13000,"uv1":994622,"code2":52000,"uv2":3971212}"#),
                Example::after(&[r#"{"cmd":"calibrate","source":"current_in"}"#, r#"{"cmd":"calibrate","dac":"5v","code1":13000,"uv1":994622,"code2":52000,"uv2":3971212}"#], r#"{"cmd":"calibrate","adc":"cal1"}"#),
            ]),
        Command::read_or_set("dac_limits", &[Change::Given("path"), Change::Unset("enabled")], "Reads, sets or clears the limits of the DAC, which are kept over restarts.")
            .gates(&[Gate::Analog])
            .in_safe_mode()
            .fields(&[
                Field::flag("enabled", "false: clear the limits"),
                Field::word("path", &["3v3", "5v", "12v"], "limit this output"),
                Field::flag("inverted", "the stage behind it inverts").or("false"),
                Field::int("min_mv", -15_000, 15_000, "lowest voltage").unit("mV").with("path"),
                Field::int("max_mv", -15_000, 15_000, "highest voltage").unit("mV").with("path"),
            ])
            .data(Data::Object(LIMITS))
            .denials(&[Denied::new("", "a waveform, `dac_set`, `dac_mux`, `cal_switch` or a current while limits are set", &[r#"{"cmd":"dac_limits","path":"5v","inverted":false,"min_mv":0,"max_mv":2000}"#, r#"{"cmd":"dac_set","value":3}"#])])
            .examples(&[
                Example::new(r#"{"cmd":"dac_limits"}"#),
                Example::new(r#"{"cmd":"dac_limits","path":"5v","inverted":false,"min_mv":0,"max_mv":2000}"#),
                Example::new(r#"{"cmd":"dac_limits","enabled":false}"#),
            ]),
    ],
};
