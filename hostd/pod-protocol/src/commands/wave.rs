//! The generator, uploads and replay, and the image they need.

use super::{
    Command, Data, Denied, Example, Field, Gate, Group, Kind, Out, Outside, OwnConnection, Tier,
};

pub(super) const WAVEFORM: Field = Field::word(
    "waveform",
    &["sine", "square", "sawtooth"],
    "the shape; a square starts high",
)
.or("`sine`");
pub(super) const FREQ: Field = Field::new("freq", Kind::Positive, "frequency")
    .unit("Hz")
    .or("1000");
pub(super) const AMPLITUDE: Field = Field::int("amplitude", 1, 255, "peak in 8-bit levels")
    .or("127")
    .outside(Outside::ClampedAbove);

const GENERATE: &[Field] = &[
    WAVEFORM,
    FREQ,
    Field::word(
        "path",
        &["3v3", "5v", "12v"],
        "the output of the volts form",
    )
    .with("amplitude_v"),
    Field::new("amplitude_v", Kind::Number(0.0, 12.0), "volts form: peak")
        .unit("V")
        .outside(Outside::Clamped),
    Field::new("offset_v", Kind::Number(-12.0, 12.0), "volts form: centre")
        .unit("V")
        .or("0")
        .outside(Outside::Clamped),
    Field::new(
        "amplitude_ua",
        Kind::Number(0.0, 20_000.0),
        "current form: peak",
    )
    .unit("µA")
    .outside(Outside::Clamped),
    Field::new(
        "offset_ua",
        Kind::Number(0.0, 20_094.0),
        "current form: centre",
    )
    .unit("µA")
    .or("0")
    .outside(Outside::Clamped),
    AMPLITUDE,
    Field::int("offset", 0, 255, "levels form: centre")
        .or("128")
        .outside(Outside::Clamped),
    Field::int("duration_ms", 0, 86_400_000, "stop by itself; 0: never")
        .unit("ms")
        .or("0"),
    Field::rate(
        "sample_rate_mhz",
        "DAC rate; 48 MHz / (d + 51), d 3 to 65535",
    )
    .or("what meets the frequency best"),
    Field::flag("on_capture", "start with sample 0 of the next capture").or("false"),
    Field::flag("route", "switch the output as `dac_out` does").or("true"),
];

pub(super) const GROUP: Group = Group {
    title: "Generator, uploads, replay and gateware images",
    commands: &[
        Command::new("generate", Tier::Instrument, "Plays a waveform in place of what plays: in volts of an output, in µA of the current output, or in 8-bit levels of what is routed.")
            .gates(&[Gate::Analog, Gate::Waveforms, Gate::NoDacLimits])
            .fields(GENERATE)
            .data(Data::Object(&[
                Out::bool("cotrig", "armed for the next capture"),
                Out::int("bits", "16"),
            ]))
            .denials(&[
                Denied::new("the waveform reaches", "a peak more than 5 % of the span beyond the output's end; nearer ones are cut", &[r#"{"cmd":"generate","path":"5v","amplitude_v":4.0,"offset_v":4.0}"#]),
                Denied::new("200000000000 mHz cannot be played", "a frequency that no rate meets", &[r#"{"cmd":"generate","freq":200000000.0}"#]),
            ])
            .examples(&[
                Example::new(r#"{"cmd":"generate","waveform":"sine","freq":1000.0,"path":"5v","amplitude_v":1.0,"offset_v":2.5}"#),
                Example::new(r#"{"cmd":"generate","waveform":"square","freq":50.0,"amplitude_ua":2000,"offset_ua":12000,"on_capture":true}"#),
                Example::new(r#"{"cmd":"generate","waveform":"sawtooth","freq":200.0,"amplitude":100,"offset":128,"duration_ms":50}"#),
            ]),
        Command::new("dac_stop", Tier::Instrument, "Stops generator, replay or loop; the last level is held. Works on every board, and when nothing plays.")
            .examples(&[Example::new(r#"{"cmd":"dac_stop"}"#)]),
        Command::new("load_bin", Tier::Instrument, "Uploads 16-bit codes or bytes for `spi_stream`. Keeps the capture hardware until the `replay` on the same connection, its end, or 120 s.")
            .gates(&[Gate::Analog, Gate::NoDacLimits, Gate::CaptureHardware])
            .raw("`total` bytes to the pod (16-bit codes little-endian), then the line `{\"status\":\"ok\",\"data\":{\"total\":S}}` with S in 16-bit samples; no byte for 30 s: an error line instead")
            .fields(&[
                Field::int("total", 1, 8_388_608, "how many; at most 4096 without `psram`").unit("bytes").required(),
                Field::flag("psram", "into the deep memory").or("false"),
            ])
            .data(Data::Object(&[
                Out::int("ready", "as requested").unit("bytes"),
            ]))
            .examples(&[Example::new(r#"{"cmd":"load_bin","total":64,"psram":true}"#)]),
        Command::new("load", Tier::Instrument, "A line of an upload to the small memory; offset 0 starts anew.")
            .gates(&[Gate::Analog, Gate::NoDacLimits, Gate::CaptureHardware])
            .own_connection(OwnConnection::Always)
            .fields(&[
                Field::int("offset", 0, 4096, "where it goes: the end of what is there, or 0").unit("bytes").or("0"),
                Field::new("data", Kind::Bytes(0, 179), "16-bit codes, little-endian; at most 239 letters").required(),
            ])
            .data(Data::Object(&[
                Out::int("offset", "as requested").unit("bytes"),
                Out::int("len", "bytes of this line").unit("bytes"),
                Out::int("total", "samples so far").unit("samples"),
            ]))
            .examples(&[Example::new(r#"{"cmd":"load","offset":0,"data":"AAAAgP__"}"#)]),
        Command::new("replay", Tier::Instrument, "Plays what was uploaded, again and again, until `dac_stop`; outlives the connection.")
            .gates(&[Gate::Analog, Gate::Waveforms, Gate::NoDacLimits])
            .own_connection(OwnConnection::Always)
            .fields(&[
                Field::int("samples", 1, 4_194_304, "how many of them").or("all"),
                Field::rate("sample_rate_mhz", "DAC rate; 48 MHz / (d + 51), d 3 to 65535, from the deep memory d + 52"),
                Field::flag("on_capture", "start with sample 0 of the next capture").or("false"),
            ])
            .data(Data::Object(&[
                Out::int("samples", "how many play"),
                Out::bool("cotrig", "armed for the next capture"),
            ]))
            .denials(&[
                Denied::new("nothing was uploaded", "nothing to play", &[r#"{"cmd":"replay"}"#]),
                Denied::new("9 samples were asked for, 3 were uploaded", "more than there are", &[r#"{"cmd":"load","data":"AAAAgP__"}"#, r#"{"cmd":"replay","samples":9}"#]),
            ])
            .examples(&[Example::after(&[r#"{"cmd":"load","data":"AAAAgP__"}"#], r#"{"cmd":"replay","samples":3,"sample_rate_mhz":0.1}"#)]),
        Command::new("fpga_image", Tier::Instrument, "Loads a gateware image, which takes up to 3 s and stops the DAC, SPI, SWD, sensor and trains; GPIO, UART and GPS go on. The pod's `caps` follow it.")
            .gates(&[Gate::CaptureHardware])
            .fields(&[Field::int("image", 0, 1, "0: control loop, 1: deep replay").required()])
            .data(Data::Object(&[
                Out::int("image", "as requested"),
                Out::int("version", "its version"),
                Out::int("features", "bit 0: control loop, bit 1: deep replay"),
            ]))
            .examples(&[Example::new(r#"{"cmd":"fpga_image","image":1}"#)]),
    ],
};
