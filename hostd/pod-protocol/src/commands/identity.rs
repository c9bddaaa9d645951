//! Who the pod is and how it is.

use super::{Command, Data, Denied, Example, Field, Group, Kind, Out, OwnConnection, Shape, Tier};

const IDENTITY: &str = "Signs a nonce with the pod's key: proof that the pod holds it.";

const BLOB: &[Out] = &[
    Out::text("name", "`gw0`, `gw1` (gateware images) or `esp` (wireless)"),
    Out::text("state", "`ok`, `outdated`, `missing` or `unknown`"),
    Out::bool("present", "it is in the flash"),
    Out::int("size", "its length").unit("bytes"),
    Out::text("version", "its version"),
    Out::text("sha256", "its hash in hex"),
];

const LEASE: &[Out] = &[
    Out::bool("held", "a cloud job holds the pod"),
    Out::text("holder", "who; empty otherwise"),
    Out::int("left_s", "how much longer").unit("s"),
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
    Out::bool(
        "safe_mode",
        "only a rescue is possible, after repeated crashes at boot",
    ),
    Out::text("safe_reason", "why; empty otherwise"),
    Out::new(
        "lease",
        Shape::Object(LEASE),
        "the cloud job that holds the pod",
    ),
    Out::text("sig_policy", "see `sig_policy`"),
    Out::int("sig_keys", "keys an update may be signed with"),
    Out::text("lan_policy", "see `lan_policy`"),
    Out::text(
        "cloud",
        "state of the link to the cloud, see `cloud_status`",
    ),
    Out::text("wifi", "state of the wireless link, see `wifi_status`"),
    Out::bool("ota_sig", "updates may be signed"),
    Out::bool("sig_policy_cmd", "there is `sig_policy`"),
    Out::bool("lan_policy_cmd", "there is `lan_policy`"),
    Out::bool("tunnel_max_tier", "tunnels can be limited to a tier"),
    Out::bool(
        "lease_state",
        "the pod is told of leases and keeps the LAN out meanwhile",
    ),
    Out::bool("cloud_ca", "there is `cloud_ca`"),
    Out::bool("cloud_proxy", "there is `cloud_proxy`"),
    Out::bool("blob_slots", "there is `blob_status`"),
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
            .fields(&[Field::new("nonce", Kind::Bytes(1, 128), "what the other side chose; what is signed is `benchpod-pop:v1`, a zero byte and these bytes").required()])
            .data(Data::Object(&[Out::text("signature", "Ed25519 signature as unpadded base64url, 86 characters")]))
            .examples(&[Example::new(r#"{"cmd":"identity_pop","nonce":"9f2c4be1"}"#)]),
        Command::light("identity_wipe", "Always refused: only the USB console wipes the key.")
            .in_safe_mode()
            .denials(&[Denied::new("identity_wipe: change it on the device", "always", &[r#"{"cmd":"identity_wipe"}"#])]),
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
