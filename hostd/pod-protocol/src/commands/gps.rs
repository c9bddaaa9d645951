//! The emulated GPS receiver.

use super::{Command, Data, Denied, Example, Field, Gate, Group, Kind, Out, Tier};

const START: &str = r#"{"cmd":"gps_start","tx":5,"baud":9600,"rate_hz":1}"#;

const LATITUDE: Field = number("latitude_deg", -90.0, 90.0, "north is positive").unit("°");
const LONGITUDE: Field = number("longitude_deg", -180.0, 180.0, "east is positive").unit("°");
const ALTITUDE: Field = number("altitude_m", -1000.0, 20_000.0, "above the sea").unit("m");
const SPEED: Field =
    number("speed_kmh", 0.0, 2000.0, "over ground; moves the position").unit("km/h");
const COURSE: Field = number("course_deg", 0.0, 360.0, "direction of the motion").unit("°");
const SATELLITES: Field = Field::int("satellites", 0, 12, "in use");
const HDOP: Field = number("hdop", 0.5, 99.0, "horizontal dilution");
const FIX: Field = Field::int("fix", 0, 2, "0 none, 1 GPS, 2 differential");
const UTC: Field = Field::new(
    "utc",
    Kind::Mixed,
    "time: whole seconds since 1970, or ISO 8601 with `Z`",
);

const fn number(name: &'static str, min: f64, max: f64, meaning: &'static str) -> Field {
    Field::new(name, Kind::Number(min, max), meaning)
}

const START_FIELDS: &[Field] = &[
    Field::la("tx", "the channel").required(),
    Field::int("baud", 300, 921_600, "bit rate")
        .unit("bit/s")
        .or("9600"),
    Field::int("rate_hz", 1, 10, "epochs per second")
        .unit("Hz")
        .or("1"),
    Field::text(
        "sentences",
        "which of RMC, VTG, GGA, GSA, GSV, GLL, separated by commas; sent in that order",
    )
    .or("all"),
    LATITUDE,
    LONGITUDE,
    ALTITUDE,
    SPEED,
    COURSE,
    SATELLITES,
    HDOP,
    FIX,
    UTC,
];

const SET_FIELDS: &[Field] = &[
    LATITUDE, LONGITUDE, ALTITUDE, SPEED, COURSE, SATELLITES, HDOP, FIX, UTC,
];

const RUNNING: &[Out] = &[
    Out::bool("active", "sentences are sent"),
    Out::int("tx", "the channel").when("active"),
    Out::int("baud", "bit rate").unit("bit/s").when("active"),
    Out::int("rate_hz", "epochs per second")
        .unit("Hz")
        .when("active"),
    Out::text("sentences", "which, in the order they are sent").when("active"),
    Out::int("epochs", "epochs sent").when("active"),
    Out::int(
        "overruns",
        "epochs skipped because the last was still being sent",
    )
    .when("active"),
    Out::int("bytes", "bytes sent").when("active"),
    Out::number("latitude_deg", "north is positive").unit("°"),
    Out::number("longitude_deg", "east is positive").unit("°"),
    Out::number("altitude_m", "above the sea").unit("m"),
    Out::number("speed_kmh", "over ground").unit("km/h"),
    Out::number("course_deg", "direction of the motion").unit("°"),
    Out::int("satellites", "in use"),
    Out::number("hdop", "horizontal dilution"),
    Out::int("fix", "0 none, 1 GPS, 2 differential"),
    Out::number("utc", "seconds since 1970").unit("s"),
];

pub(super) const GROUP: Group = Group {
    title: "Emulated GPS receiver",
    commands: &[
        Command::new("gps_start", Tier::Instrument, "Sends NMEA 0183 sentences on a channel, an epoch at once and then every 1/`rate_hz`; starts anew when it runs. What is left out keeps its value.")
            .gates(&[Gate::LaVoltage])
            .fields(START_FIELDS)
            .data(Data::Object(RUNNING))
            .denials(&[
                Denied::new("", "the sentences of an epoch do not fit the bit rate", &[r#"{"cmd":"gps_start","tx":5,"baud":300,"rate_hz":10}"#]),
                Denied::new("pin conflict: LA5 is in use by gpio", "another function owns the channel", &[r#"{"cmd":"gpio","la":5,"mode":"input"}"#, START]),
            ])
            .examples(&[Example::new(START)]),
        Command::new("gps_set", Tier::Instrument, "Changes the fix: all values of the request or none. Kept for the next start.")
            .fields(SET_FIELDS)
            .data(Data::Object(RUNNING))
            .examples(&[
                Example::new(r#"{"cmd":"gps_set","latitude_deg":48.1,"longitude_deg":11.5,"utc":"2026-03-01T12:00:00Z"}"#),
                Example::after(&[START], r#"{"cmd":"gps_set","satellites":5,"fix":2,"utc":1767225600}"#),
            ]),
        Command::light("gps_status", "The receiver and its fix.")
            .data(Data::Object(RUNNING))
            .examples(&[
                Example::new(r#"{"cmd":"gps_status"}"#),
                Example::after(&[START], r#"{"cmd":"gps_status"}"#),
            ]),
        Command::new("gps_stop", Tier::Instrument, "Stops the receiver and frees its channel.")
            .examples(&[Example::after(&[START], r#"{"cmd":"gps_stop"}"#)]),
    ],
};
