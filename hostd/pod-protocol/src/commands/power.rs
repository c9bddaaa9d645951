//! Target power, its monitors, reset and USB-C.

use super::{
    Command, Data, Denied, Example, Field, Gate, Group, Out, Outside, OwnConnection, Shape, Tier,
};

const FUSE: &[Out] = &[
    Out::bit("enabled", "switched on"),
    Out::bit("fault", "tripped; stays through the retry"),
    Out::bit("valid", "the output voltage is good"),
];

const MONITOR: &[Out] = &[
    Out::bool("ok", "the monitor answered; without, the rest is 0"),
    Out::int("bus_mv", "voltage behind the switch").unit("mV"),
    Out::int("current_ua", "current, signed").unit("µA"),
];

const POD_MONITOR: &[Out] = &[
    Out::bool("ok", "the monitor answered"),
    Out::int("bus_mv", "voltage of the pod's supply").unit("mV"),
    Out::int("current_ua", "what the pod takes").unit("µA"),
    Out::int("total_ua", "pod and internal rail").unit("µA"),
];

const STATS: &[Out] = &[
    Out::int("efuse", "the rail"),
    Out::int("rate_hz", "delivered rate").unit("Hz"),
    Out::int("adc_rate_hz", "configured rate").unit("Hz"),
    Out::int("n", "samples"),
    Out::int("duration_ms", "time covered").unit("ms"),
    Out::int("avg_ua", "mean current").unit("µA"),
    Out::int("min_ua", "smallest current").unit("µA"),
    Out::int("peak_ua", "largest current").unit("µA"),
    Out::int("avg_mv", "mean voltage").unit("mV"),
    Out::int("min_mv", "smallest voltage").unit("mV"),
    Out::int("max_mv", "largest voltage").unit("mV"),
    Out::int("energy_uj", "energy").unit("µJ"),
    Out::int("charge_uc", "charge").unit("µC"),
    Out::bool("fault", "the switch tripped meanwhile"),
    Out::bool("truncated", "it ended at its maximum duration"),
];

const PROFILE: &[Field] = &[
    Field::word(
        "action",
        &["start", "status", "stop"],
        "start and come back later, look, or end and read",
    )
    .or("run for `duration_ms`, then read"),
    Field::int("efuse", 1, 2, "the rail").or("1"),
    Field::int(
        "rate_hz",
        100,
        500,
        "samples per second; the delivered rate is in the reply",
    )
    .unit("Hz")
    .or("500"),
    Field::int(
        "keep_samples",
        0,
        4096,
        "most entries kept; neighbours are averaged in pairs until they fit",
    )
    .or("0"),
    Field::int("duration_ms", 1, 600_000, "how long, without `action`")
        .unit("ms")
        .or("60000"),
    Field::int(
        "max_duration_ms",
        1,
        600_000,
        "when a started profile ends by itself",
    )
    .unit("ms")
    .or("60000"),
];

const PROFILE_LINE: &[Out] = &[
    Out::bool("started", "it runs").when("`start`"),
    Out::int("efuse", "the rail").when("`start`, `status`"),
    Out::int("rate_hz", "the monitor's rate")
        .unit("Hz")
        .when("`start`"),
    Out::bool("running", "it still runs").when("`status`"),
    Out::int("elapsed_ms", "time so far")
        .unit("ms")
        .when("`status`"),
    Out::int("n", "samples so far").when("`status`"),
];

const PROFILE_CHUNK: &[Out] = &[
    Out::new(
        "t_us",
        Shape::Ints,
        "start of each entry's bin, from the profile's start",
    )
    .unit("µs")
    .when("with kept samples"),
    Out::new("current_ua", Shape::Ints, "mean current of each bin")
        .unit("µA")
        .when("with kept samples"),
    Out::new("bus_mv", Shape::Ints, "mean voltage of each bin")
        .unit("mV")
        .when("with kept samples"),
    Out::new(
        "stats",
        Shape::Object(STATS),
        "the whole profile in numbers",
    )
    .when("last line"),
];

pub(super) const GROUP: Group = Group {
    title: "Target power, reset and USB-C",
    commands: &[
        Command::new("target_power", Tier::Instrument, "Switches a rail of the target, now or later in the pod; replaces what was scheduled for the rail.")
            .in_safe_mode()
            .fields(&[
                Field::int("efuse", 1, 2, "1: internal 5 V, 2: external supply").required(),
                Field::flag("state", "on or off").required(),
                Field::int("delay_ms", 0, 600_000, "switch this much later; the reply comes at once").unit("ms").or("0"),
            ])
            .data(Data::Object(&[
                Out::int("efuse", "the rail"),
                Out::bit("enabled", "as requested"),
                Out::int("delay_ms", "as requested").unit("ms"),
            ]))
            .examples(&[Example::new(r#"{"cmd":"target_power","efuse":1,"state":1}"#)]),
        Command::light("target_status", "The switches of both rails.")
            .in_safe_mode()
            .data(Data::Object(&[
                Out::new("efuse1", Shape::Object(FUSE), "internal 5 V"),
                Out::new("efuse2", Shape::Object(FUSE), "external supply"),
                Out::bool("status_supported", "always true"),
            ]))
            .examples(&[Example::new(r#"{"cmd":"target_status"}"#)]),
        Command::light("power_status", "Voltage and current of both rails and of the pod.")
            .in_safe_mode()
            .data(Data::Object(&[
                Out::new("internal", Shape::Object(MONITOR), "internal 5 V"),
                Out::new("external", Shape::Object(MONITOR), "external supply"),
                Out::new("pod", Shape::Object(POD_MONITOR), "the pod itself").when("on boards with that monitor"),
            ]))
            .examples(&[Example::new(r#"{"cmd":"power_status"}"#)]),
        Command::new("nrst", Tier::Instrument, "Reads, holds, releases or pulses the target's reset line (open drain).")
            .gates(&[Gate::BoardV3])
            .waits(&["pulse_ms"])
            .in_safe_mode()
            .fields(&[
                Field::int("pulse_ms", 1, 1000, "hold it this long; the reply comes after; wins over `assert`").unit("ms").outside(Outside::ClampedAbove),
                Field::flag("assert", "hold or release").or("only read"),
            ])
            .data(Data::Object(&[
                Out::bool("supported", "always true"),
                Out::bool("asserted", "the line is held low"),
            ]))
            .examples(&[
                Example::new(r#"{"cmd":"nrst","pulse_ms":50}"#),
                Example::new(r#"{"cmd":"nrst","assert":true}"#),
            ]),
        Command::light("usb_cc", "What the source behind the USB-C plug offers.")
            .gates(&[Gate::BoardV3])
            .data(Data::Object(&[
                Out::bool("supported", "always true"),
                Out::text("orientation", "`cc1`, `cc2` or `none`: the higher line, from 200 mV on"),
                Out::text("advertised", "`none`, `default` (below 660 mV), `1.5A` (below 1230 mV) or `3.0A`"),
                Out::int("advertised_ma", "0, 500, 1500 or 3000").unit("mA"),
                Out::int("cc1_mv", "first line").unit("mV"),
                Out::int("cc2_mv", "second line").unit("mV"),
            ]))
            .examples(&[Example::new(r#"{"cmd":"usb_cc"}"#)]),
        Command::new("power_profile", Tier::Instrument, "Samples a rail's current and voltage over time. `start` and `status` answer in one line, the others with the result in lines. It survives the connection that started it; the result is kept until it is read or the next start.")
            .chunks(PROFILE_CHUNK)
            .own_connection(OwnConnection::Unless("action", &["start", "status"]))
            .waits(&["duration_ms"])
            .fields(PROFILE)
            .data(Data::Object(PROFILE_LINE))
            .denials(&[
                Denied::new("a power profile is running", "a second start", &[r#"{"cmd":"power_profile","action":"start"}"#, r#"{"cmd":"power_profile","action":"start"}"#]),
                Denied::new("no power profile to read", "`stop` without a result", &[r#"{"cmd":"power_profile","action":"stop"}"#]),
            ])
            .examples(&[
                Example::new(r#"{"cmd":"power_profile","efuse":1,"rate_hz":500,"keep_samples":16,"duration_ms":200}"#),
                Example::new(r#"{"cmd":"power_profile","action":"start","efuse":1,"max_duration_ms":1000}"#),
                Example::after(&[r#"{"cmd":"power_profile","action":"start"}"#], r#"{"cmd":"power_profile","action":"status"}"#),
                Example::after(&[r#"{"cmd":"power_profile","action":"start"}"#], r#"{"cmd":"power_profile","action":"stop"}"#),
            ]),
    ],
};
