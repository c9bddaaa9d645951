//! Captures of both converters.

use super::{
    Command, Data, Denied, Example, Field, Gate, Group, Kind, Out, OwnConnection, Shape, Tier,
};
use super::{Outside, wave};

const TRIGGER: Field = Field::new(
    "trigger",
    Kind::Trigger,
    "what makes the instant of sample 0, or of sample `pre_samples`; a level that holds already fires at once",
);
const TIMEOUT: Field = Field::int(
    "trigger_timeout_ms",
    1,
    600_000,
    "give up when the trigger did not come",
)
.unit("ms")
.or("10000");
const PRE: Field = Field::int(
    crate::capture::PRE_SAMPLES,
    0,
    4_194_303,
    "how many of the samples come before the trigger, from pods with `capture_pre`: fewer than there are, of the logic analyzer, or of the ADC alone; needs `trigger`",
)
.or("0");
const STOP_DAC: Field = Field::int(
    "stop_dac_after_us",
    0,
    3_600_000_000,
    "hold the DAC's level this long after sample 0, or after the trigger",
)
.unit("µs");
const ENC: Field = Field::text(
    "enc",
    "`b64`: ADC counts as base64url, which pods may ignore",
)
.or("decimal");

const ENC_RAW: Field = Field::text(
    "enc",
    "`b64`: ADC counts as base64url, which pods may ignore; `raw`: all samples as bytes after their line, from pods with `capture_raw`",
)
.or("decimal, and edges");

const SINGLE: &[Field] = &[
    Field::int("samples", 1, 32_768, "how many").or("256"),
    Field::rate(
        "sample_rate_mhz",
        "sample rate; 24 MHz divided by the nearest whole number from 60 on",
    ),
    ENC_RAW,
    STOP_DAC,
    TRIGGER,
    TIMEOUT,
    PRE,
];

const TRIGGER_REPORT: &[Out] = &[
    Out::int("la", "the channel"),
    Out::text(
        "edge",
        "the condition: as asked for, or `short`, `long` (pulse), `matching` (pattern), `steady` (level)",
    ),
    Out::bool("fired", "it came"),
];

const BITS: Out = Out::int("bits", "16").when("first line with counts");
const DATA: Out = Out::new("data", Shape::Ints, "counts in decimal").when("without `enc`");
const B64: Out = Out::text(
    "b64",
    "counts as unpadded base64url of little-endian 16-bit words; each line decodes on its own",
)
.when("with `enc`");
const LA: Out = Out::bool("la", "true: this line has logic samples").when("logic");
const LA_EDGES: Out = Out::new(
    "la_edges",
    Shape::Edges,
    "`[sample, word]`: the word holds from that sample on; absolute, ascending, only changes",
)
.when("logic");
const LA_UPTO: Out = Out::int("la_upto", "logic samples covered so far").when("logic");
const FIRED: Out = Out::new("trigger", Shape::Object(TRIGGER_REPORT), "what fired")
    .when("last line of a triggered capture");

const TRIGGER_SAMPLE: Out = Out::int(
    "trigger_sample",
    "samples before the trigger: as `pre_samples`, or fewer if it came earlier",
)
.when("first line, with `pre_samples`");
const ADC_SAMPLES: Out =
    Out::int("adc_samples", "ADC samples of the capture").when("first line, with `pre_samples`");
const LA_SAMPLES: Out =
    Out::int("la_samples", "logic samples of the capture").when("first line, with `pre_samples`");

const SINGLE_CHUNK: &[Out] = &[
    BITS,
    DATA,
    B64,
    RAW,
    TRIGGER_SAMPLE,
    ADC_SAMPLES,
    LA_SAMPLES,
    FIRED,
];
const LA_RATE: Out = Out::number("la_rate_hz", "achieved rate")
    .unit("Hz")
    .when("first line, with logic samples");

const TIMED_OUT: Denied = Denied::new(
    "trigger timeout: no rising edge on LA14 within 20 ms",
    "the trigger did not come",
    &[r#"{"cmd":"la_capture","trigger":{"la":14,"edge":"rising"},"trigger_timeout_ms":20}"#],
);

const DUAL: &[Field] = &[
    Field::int(
        "adc_samples",
        0,
        4_192_256,
        "ADC samples; both counts together at most 4,192,256 and not both 0",
    )
    .or("0"),
    Field::int("la_samples", 0, 4_192_256, "logic samples").or("0"),
    Field::rate("adc_rate_mhz", "ADC rate; as `capture`"),
    Field::rate("la_rate_mhz", "logic rate; as `la_capture`"),
    ENC_RAW,
    STOP_DAC,
    TRIGGER,
    TIMEOUT,
    PRE,
];

const STREAM: Field = Field::flag(
    crate::capture::STREAM,
    "the samples come while they are taken, up to 4,294,967,296 of them, from pods with `capture_stream`",
);
const GAP: Out = Out::new(
    "la_gap",
    Shape::Ints,
    "`[from, to]`: samples of that range were lost, since the link was too slow; `la_upto` is `to`",
)
.when("with `stream`");
const RAW: Out = Out::int(
    "raw",
    "bytes of samples after this line, at most 65536: counts or words of 16 bits, little-endian",
)
.unit("bytes")
.when("with `enc` `raw`");
const LA_RUNS: Out = Out::bool(
    "la_runs",
    "true: the bytes are runs, each the number of samples (16 bits) and their word (16 bits)",
)
.when("logic, with `enc` `raw`, where that is shorter");

const DUAL_CHUNK: &[Out] = &[
    BITS,
    DATA,
    B64,
    Out::number("adc_rate_hz", "achieved rate")
        .unit("Hz")
        .when("first line, with ADC samples"),
    LA_RATE,
    LA,
    LA_EDGES,
    LA_UPTO,
    RAW,
    LA_RUNS,
    TRIGGER_SAMPLE,
    ADC_SAMPLES,
    LA_SAMPLES,
    FIRED,
];

const DUAL_DENIALS: &[Denied] = &[
    Denied::new(
        "a capture needs samples",
        "both counts 0",
        &[r#"{"cmd":"capture_dual"}"#],
    ),
    Denied::new(
        "4192257 samples exceed the limit of 4192256",
        "too many together",
        &[r#"{"cmd":"capture_dual","adc_samples":1,"la_samples":4192256}"#],
    ),
    Denied::new(
        "the rates add up to",
        "the requested rates need more than 20 MB/s at 2 bytes a sample",
        &[r#"{"cmd":"capture_dual","la_samples":9,"la_rate_mhz":12.0}"#],
    ),
];

const SLOW: Denied = Denied::new(
    "the capture would take",
    "an hour or more",
    &[r#"{"cmd":"capture","samples":32768,"sample_rate_mhz":0.000001}"#],
);

pub(super) const GROUP: Group = Group {
    title: "Captures",
    commands: &[
        Command::new("la_capture", Tier::Read, "Captures all logic channels, whoever owns them.")
            .gates(&[Gate::LaVoltage, Gate::CaptureHardware])
            .chunks(&[LA_RATE, LA, LA_EDGES, LA_UPTO, RAW, LA_RUNS, TRIGGER_SAMPLE, ADC_SAMPLES, LA_SAMPLES, GAP, FIRED])
            .waits(&["trigger_timeout_ms"])
            .fields(&[
                Field::int("samples", 1, 4_194_304, "how many").or("256"),
                Field::rate("sample_rate_mhz", "sample rate; 24 MHz divided by a whole number from 2 on, never faster than asked; above 32768 samples at most 3 MHz / (1 − 65536 / 2n)"),
                ENC_RAW,
                STOP_DAC,
                TRIGGER,
                TIMEOUT,
                PRE,
                STREAM,
            ])
            .denials(&[
                TIMED_OUT,
                Denied::new("bad pre_samples: want", "samples before a trigger, and no trigger", &[r#"{"cmd":"la_capture","pre_samples":1}"#]),
            ])
            .examples(&[
                Example::new(r#"{"cmd":"la_capture","samples":300,"sample_rate_mhz":1.0}"#),
                Example::new(r#"{"cmd":"la_capture","samples":300,"enc":"raw"}"#),
                Example::new(r#"{"cmd":"la_capture","samples":300,"stream":true}"#),
                Example::new(r#"{"cmd":"la_capture","trigger":{"la":14,"edge":"low"},"trigger_timeout_ms":1000}"#),
                Example::new(r#"{"cmd":"la_capture","samples":300,"pre_samples":100,"trigger":{"la":14,"level":"low","for_ns":20000},"trigger_timeout_ms":1000}"#),
                Example::new(r#"{"cmd":"la_capture","samples":300,"trigger":{"mask":8192,"word":0},"trigger_timeout_ms":1000}"#),
            ]),
        Command::new("capture", Tier::Read, "Captures the ADC, one shot. The reply names no rate.")
            .gates(&[Gate::Analog, Gate::CaptureHardware])
            .chunks(SINGLE_CHUNK)
            .waits(&["trigger_timeout_ms"])
            .fields(SINGLE)
            .denials(&[SLOW])
            .examples(&[
                Example::new(r#"{"cmd":"capture","samples":300,"sample_rate_mhz":0.1,"enc":"b64"}"#),
                Example::new(r#"{"cmd":"capture","samples":300,"enc":"raw"}"#),
                Example::new(r#"{"cmd":"capture","samples":8,"trigger":{"la":14,"edge":"low"},"trigger_timeout_ms":1000}"#),
                Example::new(r#"{"cmd":"capture","samples":8,"pre_samples":4,"trigger":{"la":14,"edge":"low"},"trigger_timeout_ms":1000}"#),
            ]),
        Command::new("stream", Tier::Read, "The same as `capture`.")
            .gates(&[Gate::Analog, Gate::CaptureHardware])
            .chunks(SINGLE_CHUNK)
            .waits(&["trigger_timeout_ms"])
            .fields(SINGLE)
            .examples(&[
                Example::new(r#"{"cmd":"stream","samples":4,"enc":"b64"}"#),
                Example::new(r#"{"cmd":"stream","samples":4,"enc":"raw"}"#),
                Example::new(r#"{"cmd":"stream","samples":8,"trigger":{"la":14,"edge":"low"},"trigger_timeout_ms":1000}"#),
                Example::new(r#"{"cmd":"stream","samples":8,"pre_samples":4,"trigger":{"la":14,"edge":"low"},"trigger_timeout_ms":1000}"#),
            ]),
        Command::new("capture_dual", Tier::Read, "Captures ADC and logic channels from one instant: lines of counts, then lines of logic.")
            .gates(&[Gate::AnalogFor("adc_samples"), Gate::CaptureHardware])
            .chunks(DUAL_CHUNK)
            .waits(&["trigger_timeout_ms"])
            .fields(DUAL)
            .denials(DUAL_DENIALS)
            .examples(&[
                Example::new(r#"{"cmd":"capture_dual","adc_samples":300,"la_samples":300,"adc_rate_mhz":0.1,"la_rate_mhz":1.0,"enc":"b64"}"#),
                Example::new(r#"{"cmd":"capture_dual","adc_samples":300,"la_samples":300,"enc":"raw"}"#),
                Example::new(r#"{"cmd":"capture_dual","adc_samples":8,"trigger":{"la":14,"edge":"low"},"trigger_timeout_ms":1000}"#),
                Example::new(r#"{"cmd":"capture_dual","adc_samples":8,"pre_samples":4,"trigger":{"la":14,"edge":"low"},"trigger_timeout_ms":1000}"#),
            ]),
        Command::new("capture_read", Tier::Read, "Sends the last `capture_dual` or `la_capture` again, from an offset on; one empty line at the end.")
            .gates(&[Gate::CaptureHardware])
            .chunks(DUAL_CHUNK)
            .fields(&[
                Field::int("offset", 0, 4_194_304, "first sample; ADC samples come first, logic after them").or("0"),
                ENC_RAW,
            ])
            .denials(&[Denied::new("", "no such capture since the start, a newer capture, or its memory was used", &[r#"{"cmd":"capture_read"}"#])])
            .examples(&[
                Example::after(&[r#"{"cmd":"capture_dual","adc_samples":8,"la_samples":300}"#], r#"{"cmd":"capture_read"}"#),
                Example::after(&[r#"{"cmd":"capture_dual","adc_samples":8,"la_samples":300}"#], r#"{"cmd":"capture_read","enc":"raw"}"#),
                Example::after(&[r#"{"cmd":"capture_dual","adc_samples":8,"trigger":{"la":14,"edge":"low"}}"#], r#"{"cmd":"capture_read","offset":2,"enc":"b64"}"#),
                Example::after(&[r#"{"cmd":"capture_dual","adc_samples":8,"pre_samples":4,"trigger":{"la":14,"edge":"low"}}"#], r#"{"cmd":"capture_read"}"#),
            ]),
        Command::new("measure", Tier::Instrument, "Plays one period of a waveform on the DAC and captures it in step; routes nothing, stops the DAC. One line up to 256 samples.")
            .gates(&[Gate::Analog, Gate::Waveforms, Gate::NoDacLimits, Gate::CaptureHardware])
            .chunks(&[BITS, DATA, B64])
            .own_connection(OwnConnection::Above("samples", 256))
            .fields(&[
                Field::int("samples", 1, 2048, "points of the period, and samples").or("256"),
                wave::WAVEFORM,
                wave::FREQ,
                wave::AMPLITUDE,
                Field::int("offset", 0, 255, "centre in 8-bit levels").or("128").outside(Outside::Clamped),
                Field::rate("sample_rate_mhz", "sample rate").or("`freq` · `samples`"),
                ENC,
            ])
            .examples(&[
                Example::new(r#"{"cmd":"measure","samples":64,"freq":1000.0}"#),
                Example::new(r#"{"cmd":"measure","samples":8,"waveform":"square","enc":"b64"}"#),
            ]),
        Command::new("test", Tier::Read, "Sends a test pattern made without hardware.")
            .gates(&[Gate::Analog])
            .chunks(&[BITS, DATA, B64])
            .fields(&[
                Field::word("pattern", &["sine", "counter", "ramp", "const"], "sine: 32768 ± 25000, one period").or("`sine`"),
                Field::int("value", 0, 65_535, "the value of `const`").or("0"),
                Field::int("samples", 1, 4096, "how many").or("256"),
                ENC,
            ])
            .examples(&[
                Example::new(r#"{"cmd":"test","pattern":"counter","samples":300}"#),
                Example::new(r#"{"cmd":"test","pattern":"const","value":7,"enc":"b64"}"#),
            ]),
        Command::new("psram_ping", Tier::Read, "Tests the capture memory.")
            .gates(&[Gate::Analog, Gate::CaptureHardware])
            .fields(&[Field::int("count", 4, 256, "words").or("256")])
            .data(Data::Object(&[
                Out::bool("pass", "all words came back"),
                Out::int("count", "words"),
                Out::int("first_bad", "the first that did not; −1: none"),
            ]))
            .examples(&[Example::new(r#"{"cmd":"psram_ping"}"#)]),
        Command::new("psram_recover", Tier::Instrument, "Restarts the pod 0.4 s later, to bring the capture memory back.")
            .data(Data::Object(&[Out::text("recover", "`rebooting`")]))
            .examples(&[Example::new(r#"{"cmd":"psram_recover"}"#)]),
    ],
};
