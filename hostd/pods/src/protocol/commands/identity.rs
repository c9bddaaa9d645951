//! Who the pod is and how it is.

use super::{Command, Data, Denied, Example, Field, Group, Out, OwnConnection, Shape, Tier};

const IDENTITY: &str = "Signs a nonce with the pod's key: proof that the pod holds it.";

const BLOB: &[Out] = &[
    Out::text("name", "`gw0`, `gw1` (gateware images) or `esp` (wireless)"),
    Out::text("state", "`ok`, `outdated`, `missing` or `unknown`"),
    Out::bool("present", "it is in the flash"),
    Out::int("size", "its length").unit("bytes"),
    Out::text("version", "its version"),
    Out::text("sha256", "its hash in hex"),
];

const STATUS: &[Out] = &[
    Out::text("device", "always `benchpod`"),
    Out::text(
        "board",
        "the board's microcontroller, such as `stm32h563`; never empty",
    ),
    Out::text("version", "firmware version"),
    Out::text("board_rev", "`v2`, `v3` or `unknown`"),
    Out::int(
        "board_rev_mv",
        "the revision strap: 3000 on v3, −1 when not fitted",
    )
    .unit("mV"),
    Out::int("gateware", "version of the gateware that runs"),
    Out::int("gateware_embedded", "version the firmware brings; 0: none"),
    Out::int("la_vccio_mv", "selected LA voltage; 0: none yet").unit("mV"),
    Out::bool("analog", "the board has the analog front end"),
    Out::bool("nrst_pin", "the board has the reset line"),
    Out::bool("usb_cc", "the board sees the USB-C source"),
    Out::new("caps", Shape::Texts, "what the pod can do, by name"),
    Out::int("flash_kb", "size of the firmware flash").unit("KiB"),
    Out::text("last_crash", "`none` or empty without one"),
    Out::text("reset", "cause of the last start"),
    Out::bool(
        "loop_tripped",
        "the control loop tripped and was not armed since",
    ),
    Out::int("uptime_ms", "time since the start").unit("ms"),
    Out::int("adc_bits", "bits of a count").when("with the front end"),
    Out::int("adc_channels", "ADC channels").when("with the front end"),
    Out::int("adc_fullscale_mv", "nominal full scale")
        .unit("mV")
        .when("with the front end"),
    Out::int(
        "adc_cal_a_uv",
        "front connector: voltage at unwrapped count 0",
    )
    .unit("µV")
    .when("with the front end"),
    Out::int("adc_cal_b_nv", "front connector: voltage per count")
        .unit("nV")
        .when("with the front end"),
    Out::bool(
        "adc_cal_unwrap",
        "counts below 32768 stand for count + 65536",
    )
    .when("with the front end"),
];

pub(super) const GROUP: Group = Group {
    title: "Identity and housekeeping",
    commands: &[
        Command::light("ping", "Says that the pod is there.")
            .in_safe_mode()
            .data(Data::Text("pong"))
            .examples(&[Example::new(r#"{"cmd":"ping"}"#)]),
        Command::light("status", "What the pod is, what it can do and how it is.")
            .in_safe_mode()
            .data(Data::Object(STATUS))
            .examples(&[Example::new(r#"{"cmd":"status"}"#)]),
        Command::light("identity_public", "The pod's public key.")
            .in_safe_mode()
            .data(Data::Object(&[Out::text("public", "Ed25519 key as unpadded base64url, 43 characters")]))
            .examples(&[Example::new(r#"{"cmd":"identity_public"}"#)]),
        Command::light("identity_pop", IDENTITY)
            .in_safe_mode()
            .fields(&[Field::text("nonce", "what the other side chose, printed and not secret").required()])
            .data(Data::Object(&[Out::text("signature", "Ed25519 signature as unpadded base64url, 86 characters")]))
            .examples(&[Example::new(r#"{"cmd":"identity_pop","nonce":"9f2c4be1"}"#)]),
        Command::light("identity_wipe", "Always refused: only the USB console wipes the key.")
            .in_safe_mode()
            .denials(&[Denied::new("identity_wipe", "always", &[r#"{"cmd":"identity_wipe"}"#])]),
        Command::light("blob_status", "The images in the pod's flash.")
            .in_safe_mode()
            .data(Data::Object(&[Out::new("blobs", Shape::Objects(BLOB), "one entry for each")]))
            .examples(&[Example::new(r#"{"cmd":"blob_status"}"#)]),
        Command::new("speedtest", Tier::Instrument, "Measures the throughput of a tunnel; works on tunnels only.")
            .own_connection(OwnConnection::Always)
            .raw("`bytes` bytes one way; while `down`, the client acknowledges every 8 KiB; then the line `{\"speedtest\":\"done\",\"bytes\":N}`")
            .fields(&[
                Field::word("dir", &["up", "down"], "from the client, or to it").required(),
                Field::int("bytes", 1, 67_108_864, "how many").unit("bytes").or("1 MiB"),
            ]),
    ],
};
