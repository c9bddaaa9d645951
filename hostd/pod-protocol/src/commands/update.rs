//! Updates of firmware, gateware and certificates.

use super::{Command, Data, Denied, Example, Field, Gate, Group, Kind, Out, Tier};

const SESSION: &[Out] = &[
    Out::text(
        "state",
        "`idle`, `receiving`, `verified`, `error` or `installed`",
    ),
    Out::text("target", "what is updated; empty: firmware"),
    Out::int("received", "bytes so far").unit("bytes"),
    Out::int("size", "bytes in all").unit("bytes"),
    Out::int("frames_seen", "`ota_data` requests so far"),
    Out::text(
        "sig",
        "`none`, `ok`, `format`, `unknown-key`, `signature`, `target` or `image`",
    ),
    Out::text("sig_key", "id of the key that signed"),
    Out::text("owner", "who updates: `cloud`, `usb`, `lan:<n>` or empty"),
    Out::text("error", "what went wrong; empty when nothing did"),
];

const BEGIN: &[Field] = &[
    Field::int(
        "size",
        1,
        8_388_608,
        "bytes of the image; firmware has at most half the flash, a CA 16384, a LAN certificate with its key 7664",
    )
    .unit("bytes")
    .required(),
    Field::text("sha256", "hash of the image, 64 hex digits").required(),
    Field::word(
        "target",
        &["gw0", "gw1", "esp", "ca", "tls"],
        "gateware image, wireless firmware, company CA, LAN certificate",
    )
    .or("the firmware"),
    Field::text("version", "version of the image"),
    Field::text("sig", "signature, 128 bytes as unpadded base64url"),
];

/// An image of one zero byte, from begin to end.
const ONE_BYTE: &str = r#"{"cmd":"ota_begin","size":1,"sha256":"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d","target":"gw0"}"#;
const ITS_DATA: &str = r#"{"cmd":"ota_data","offset":0,"data":"AA"}"#;
const ITS_END: &str = r#"{"cmd":"ota_end"}"#;

pub(super) const GROUP: Group = Group {
    title: "Updates",
    commands: &[
        Command::new("ota_begin", Tier::Firmware, "Begins an update: begin, data, end, commit. Nothing is written before `ota_end` succeeded. One link at a time; another may take over after 30 s without a request.")
            .gates(&[Gate::CaptureHardware])
            .fields(BEGIN)
            .data(Data::Object(SESSION))
            .denials(&[Denied::new("busy: ", "another link is updating: `busy: <target> update from <holder> is in progress`", &[])])
            .examples(&[Example::new(ONE_BYTE)]),
        Command::new("ota_data", Tier::Firmware, "A piece of the image, in order.")
            .fields(&[
                Field::int("offset", 0, 8_388_608, "where it goes").unit("bytes").required(),
                Field::new("data", Kind::Bytes(1, 768), "the piece").required(),
            ])
            .data(Data::Object(SESSION))
            .examples(&[Example::after(&[ONE_BYTE], ITS_DATA)]),
        Command::new("ota_end", Tier::Firmware, "Checks length, hash, signature and fit of what was sent.")
            .data(Data::Object(SESSION))
            .examples(&[Example::after(&[ONE_BYTE, ITS_DATA], ITS_END)]),
        Command::new("ota_commit", Tier::Firmware, "Installs the checked image. Firmware: the pod restarts after the reply.")
            .data(Data::Object(SESSION))
            .examples(&[Example::after(&[ONE_BYTE, ITS_DATA, ITS_END], r#"{"cmd":"ota_commit"}"#)]),
        Command::new("ota_abort", Tier::Firmware, "Drops the update.")
            .data(Data::Object(SESSION))
            .examples(&[Example::after(&[ONE_BYTE], r#"{"cmd":"ota_abort"}"#)]),
        Command::light("ota_status", "The update session.")
            .data(Data::Object(SESSION))
            .examples(&[Example::new(r#"{"cmd":"ota_status"}"#)]),
        Command::new("ota_selftest", Tier::Firmware, "Says that the running firmware works.")
            .data(Data::Object(&[Out::text("selftest", "`pass`")]))
            .examples(&[Example::new(r#"{"cmd":"ota_selftest"}"#)]),
    ],
};
