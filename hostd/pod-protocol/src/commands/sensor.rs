//! The emulated I2C sensor.

use super::{Command, Data, Denied, Example, Field, Gate, Group, Kind, Out, Shape, Tier};

const START: &str = r#"{"cmd":"sensor_start","type":"bme280","sda":1,"scl":2,"addr":"0x77"}"#;

const TYPES: &[&str] = &["bmp280", "bme280", "sht4x", "mpu6050"];

const PARAM: &[Out] = &[
    Out::text("key", "its name in `sensor_set`"),
    Out::text("unit", "its unit"),
    Out::number("min", "smallest value"),
    Out::number("max", "largest value"),
    Out::number("default", "value at the start"),
];

const TYPE: &[Out] = &[
    Out::text("type", "its name in `sensor_start`"),
    Out::text("label", "its name for people"),
    Out::int("addr", "its address"),
    Out::int("alt_addr", "its other address"),
    Out::new("params", Shape::Objects(PARAM), "what it measures"),
];

const STATUS: &[Out] = &[
    Out::bool("active", "a sensor is there"),
    Out::text("type", "which").when("active"),
    Out::int("addr", "its address").when("active"),
    Out::int(
        "transactions",
        "STOP conditions seen while a sensor was there, modulo 65536",
    )
    .when("active"),
    Out::int("reads", "bytes the target read").when("active"),
    Out::int("writes", "bytes the target stored").when("active"),
    Out::int("last_reg", "where it stored last").when("active"),
    Out::int("last_val", "what it stored last").when("active"),
    Out::new("values", Shape::Named, "what it measures, by key").when("active"),
];

/// Values of every sensor; each takes its own, and refuses the others.
const SET: &[Field] = &[
    Field::new(
        "temperature_c",
        Kind::Number(-100.0, 150.0),
        "SHT4x: −40 to 125, MPU-6050: −40 to 85",
    )
    .unit("°C"),
    Field::new(
        "pressure_pa",
        Kind::Number(1000.0, 200_000.0),
        "BMP280, BME280",
    )
    .unit("Pa"),
    Field::new("humidity_pct", Kind::Number(0.0, 100.0), "BME280, SHT4x").unit("%"),
    Field::new(
        "accel_x_g",
        Kind::Number(-16.0, 16.0),
        "MPU-6050; also `accel_y_g`, `accel_z_g`",
    )
    .unit("g"),
    Field::new(
        "gyro_x_dps",
        Kind::Number(-2000.0, 2000.0),
        "MPU-6050; also `gyro_y_dps`, `gyro_z_dps`",
    )
    .unit("°/s"),
];

pub(super) const GROUP: Group = Group {
    title: "Emulated I²C sensor",
    commands: &[
        Command::light("sensor_types", "The sensors there are, with their values.")
            .data(Data::Object(&[Out::new("types", Shape::Objects(TYPE), "one entry for each")]))
            .examples(&[Example::new(r#"{"cmd":"sensor_types"}"#)]),
        Command::new("sensor_start", Tier::Instrument, "Puts a sensor on two channels, in place of one that is there. It and its channels stay when the connection closes.")
            .gates(&[Gate::LaVoltage])
            .fields(&[
                Field::word("type", TYPES, "which").required(),
                Field::la("sda", "data; both lines need pull-ups").required(),
                Field::la("scl", "clock").required(),
                Field::new("addr", Kind::HexOrInt(0x08, 0x77), "its address, as a decimal or `0x` string").or("the sensor's own"),
            ])
            .data(Data::Object(&[
                Out::text("type", "as requested"),
                Out::int("addr", "its address"),
                Out::int("sda", "as requested"),
                Out::int("scl", "as requested"),
            ]))
            .denials(&[Denied::new("pin conflict: LA1 is in use by gpio", "another function owns a channel", &[r#"{"cmd":"gpio","la":1,"mode":"input"}"#, START])])
            .examples(&[Example::new(START)]),
        Command::new("sensor_set", Tier::Instrument, "Changes what the sensor measures: all values of the request or none.")
            .fields(SET)
            .data(Data::Object(&[
                Out::text("type", "the sensor"),
                Out::new("values", Shape::Named, "what it measures now, by key"),
            ]))
            .denials(&[
                Denied::new("", "no sensor is there", &[r#"{"cmd":"sensor_set","temperature_c":20.0}"#]),
                Denied::new("humidity_pct", "a value out of range, or of another sensor; the text names it", &[START, r#"{"cmd":"sensor_set","humidity_pct":150.0}"#]),
            ])
            .examples(&[Example::after(&[START], r#"{"cmd":"sensor_set","temperature_c":21.5,"humidity_pct":55.0,"pressure_pa":99000.0}"#)]),
        Command::light("sensor_status", "The sensor and what the target did with it.")
            .data(Data::Object(STATUS))
            .examples(&[
                Example::new(r#"{"cmd":"sensor_status"}"#),
                Example::after(&[START], r#"{"cmd":"sensor_status"}"#),
            ]),
        Command::new("sensor_regs", Tier::Read, "The sensor's registers.")
            .gates(&[Gate::CaptureHardware])
            .chunks(&[Out::new("data", Shape::Ints, "bytes")])
            .fields(&[
                Field::new("start", Kind::HexOrInt(0, 255), "first register, as a decimal or `0x` string").or("0"),
                Field::int("len", 1, 256, "how many; `start` + `len` at most 256").or("256"),
            ])
            .denials(&[Denied::new("", "no sensor is there", &[r#"{"cmd":"sensor_regs","start":"0xD0","len":1}"#])])
            .examples(&[Example::after(&[START], r#"{"cmd":"sensor_regs","start":"0xD0","len":1}"#)]),
        Command::new("sensor_la", Tier::Read, "Captures the two lines of the bus: 4 samples a byte, the oldest in the top bits, SCL then SDA.")
            .gates(&[Gate::CaptureHardware])
            .chunks(&[Out::new("data", Shape::Ints, "bytes")])
            .fields(&[
                Field::int("samples", 1, 4096, "how many bytes of 4 samples").unit("bytes").or("256"),
                Field::rate("sample_rate_mhz", "sample rate"),
            ])
            .examples(&[Example::after(&[START], r#"{"cmd":"sensor_la","samples":64,"sample_rate_mhz":0.5}"#)]),
        Command::new("sensor_stop", Tier::Instrument, "Takes the sensor away and frees its channels.")
            .examples(&[Example::after(&[START], r#"{"cmd":"sensor_stop"}"#)]),
    ],
};
