//! Analog switching, DC output and readings.

use super::{Command, Data, Denied, Example, Field, Gate, Group, Kind, Out, Outside, Tier};

const PATHS: &[&str] = &[
    "off",
    "dac_3v3",
    "dac_5v",
    "dac_12v",
    "adc_ext",
    "cal1",
    "cal2",
    "current_in",
    "current_out",
    "3v3",
    "5v",
    "12v",
    "ext",
    "sma",
];

const OUTPUTS: &[&str] = &["3v3", "5v", "12v", "dac_3v3", "dac_5v", "dac_12v", "off"];

const MUX: &[Field] = &[
    Field::flag("ctrl1_en", "first half on").or("it stays"),
    Field::int(
        "ctrl1_sel",
        0,
        3,
        "with `ctrl1_en`: 3v3, 5v, 12v, 12v to the ADC",
    )
    .or("0"),
    Field::flag("ctrl2_en", "second half on").or("it stays"),
    Field::int(
        "ctrl2_sel",
        0,
        2,
        "with `ctrl2_en`: 12v mid, ADC mid, ground",
    )
    .or("0"),
];

const RELAYS: &[Field] = &[
    Field::flag("cal1", "5 V output into the ADC").or("off when another is named"),
    Field::flag("cal2", "12 V output into the ADC").or("off when another is named"),
    Field::flag("current_in", "4-20 mA input into the ADC").or("off when another is named"),
    Field::flag("cal_path", "the loopback line").or("off when another is named"),
];

pub(super) const GROUP: Group = Group {
    title: "Analog switching, DC output, readings, 4-20 mA output",
    commands: &[
        Command::new("analog_path", Tier::Instrument, "Routes an output or an input; the DAC's code stays. An output and `adc_ext` open all relays, `current_out` switches the voltage outputs off.")
            .gates(&[Gate::Analog])
            .fields(&[Field::word("path", PATHS, "what to route; the short names are aliases").required()])
            .data(Data::Object(&[
                Out::text("path", "the full name"),
                Out::int("u55", "multiplexer: bit 0 first half on, 1-2 its selection, 3 second half on, 4-5 its selection"),
                Out::int("u58", "relays: bit 0 cal1, 1 cal2, 2 current_in, 3 cal_path"),
            ]))
            .examples(&[Example::new(r#"{"cmd":"analog_path","path":"cal1"}"#)]),
        Command::new("dac_mux", Tier::Instrument, "Reads or sets the output multiplexer.")
            .gates(&[Gate::Analog, Gate::NoDacLimits])
            .fields(MUX)
            .data(Data::Object(&[
                Out::bit("ctrl1_en", "first half on"),
                Out::int("ctrl1_sel", "its selection"),
                Out::bit("ctrl2_en", "second half on"),
                Out::int("ctrl2_sel", "its selection"),
                Out::int("reg", "the register, as `u55`"),
            ]))
            .examples(&[Example::new(r#"{"cmd":"dac_mux","ctrl1_en":1,"ctrl1_sel":2,"ctrl2_en":1,"ctrl2_sel":0}"#)]),
        Command::new("cal_switch", Tier::Instrument, "Reads or sets the input relays; naming one sets all four.")
            .gates(&[Gate::Analog, Gate::NoDacLimits])
            .fields(RELAYS)
            .data(Data::Object(&[
                Out::bit("cal1", "5 V output into the ADC"),
                Out::bit("cal2", "12 V output into the ADC"),
                Out::bit("current_in", "4-20 mA input into the ADC"),
                Out::bit("cal_path", "the loopback line"),
                Out::int("reg", "the register, as `u58`"),
            ]))
            .denials(&[Denied::new("cal1 and cal2 exclude each other", "both at once", &[r#"{"cmd":"cal_switch","cal1":1,"cal2":1}"#])])
            .examples(&[Example::new(r#"{"cmd":"cal_switch","cal1":1,"cal2":0,"current_in":0,"cal_path":1}"#)]),
        Command::new("dac_out", Tier::Instrument, "Routes an output and sets its voltage, as near as it gets; what is beyond its range is cut.")
            .gates(&[Gate::Analog])
            .fields(&[
                Field::word("path", OUTPUTS, "the output; `off` parks everything").required(),
                Field::new("volts", Kind::Number(-12.0, 12.0), "the voltage").unit("V").or("only route").outside(Outside::Clamped),
            ])
            .data(Data::Object(&[
                Out::text("path", "the output"),
                Out::int("mv", "achieved").unit("mV"),
                Out::int("uv", "achieved").unit("µV").when("with `volts`"),
                Out::int("code", "the nearest 8-bit level; −1: only routed"),
                Out::int("code16", "the 16-bit code").when("with `volts`"),
            ]))
            .examples(&[
                Example::new(r#"{"cmd":"dac_out","path":"5v","volts":2.5}"#),
                Example::new(r#"{"cmd":"dac_out","path":"off"}"#),
            ]),
        Command::new("dac_set", Tier::Instrument, "Sets the DAC's level: the high byte of its code. No routing, no correction.")
            .gates(&[Gate::Analog, Gate::NoDacLimits])
            .fields(&[Field::int("value", 0, 255, "the level").required()])
            .examples(&[Example::new(r#"{"cmd":"dac_set","value":128}"#)]),
        Command::new("adc_read", Tier::Instrument, "Routes an input, lets it settle for 20 ms and averages 16 samples. A running DAC goes on.")
            .gates(&[Gate::Analog, Gate::CaptureHardware])
            .fields(&[Field::word("source", &["ext", "cal1", "cal2", "current_in"], "the input").or("`ext`")])
            .data(Data::Object(&[
                Out::text("source", "its path: `ext` comes back as `adc_ext`"),
                Out::int("mv", "voltage at the source").unit("mV"),
                Out::int("count", "mean count, 0 to 65535"),
                Out::int("span", "peak to peak").unit("counts"),
                Out::number("offset_mv", "stored correction that was taken out").unit("mV").when("with one"),
                Out::int("ua", "loop current").unit("µA").when("`current_in`"),
            ]))
            .denials(&[Denied::new("the input is moving", "the samples span more than 1024 counts", &[r#"{"cmd":"dac_out","path":"5v","volts":2.5}"#, r#"{"cmd":"analog_path","path":"cal1"}"#, r#"{"cmd":"generate","freq":10000.0}"#, r#"{"cmd":"adc_read","source":"cal1"}"#])])
            .examples(&[
                Example::new(r#"{"cmd":"adc_read","source":"ext"}"#),
                Example::new(r#"{"cmd":"adc_read","source":"current_in"}"#),
            ]),
        Command::new("current_out", Tier::Instrument, "Reads the range of the 4-20 mA output, or switches the voltage outputs off and sets the nearest current.")
            .gates(&[Gate::Analog])
            .fields(&[Field::int("ua", 4000, 20_094, "the current, up to `max_ua`; from 4000 to `min_ua` it is `min_ua`").unit("µA").or("only read")])
            .data(Data::Object(&[
                Out::int("ua", "achieved").unit("µA").when("with `ua`"),
                Out::int("code", "16-bit code").when("with `ua`"),
                Out::int("min_ua", "current at code 0").unit("µA"),
                Out::int("max_ua", "current at code 65535").unit("µA"),
            ]))
            .examples(&[
                Example::new(r#"{"cmd":"current_out","ua":12000}"#),
                Example::new(r#"{"cmd":"current_out"}"#),
            ]),
    ],
};
