//! The SPI master.

use super::{Command, Data, Denied, Example, Field, Gate, Group, Kind, Out, Tier};

const START: &str = r#"{"cmd":"spi_start","sck":1,"mosi":2,"miso":3,"cs":4,"hz":1000000,"mode":0}"#;

const CS: Field =
    Field::word("cs", &["release", "hold"], "the select line afterwards").or("`release`");

const IDLE: &str = "no SPI session";

const STARTED: &[Out] = &[
    Out::int("sck", "channel of the clock"),
    Out::int("mosi", "channel of the output"),
    Out::int("miso", "channel of the input"),
    Out::int("cs", "channel of the select line"),
    Out::int("hz", "24 MHz / 2n, n 2 to 63, not above the request").unit("Hz"),
    Out::int("mode", "0 or 3"),
];

const STATUS: &[Out] = &[
    Out::bool("active", "a session is open"),
    Out::int("sck", "channel").when("open"),
    Out::int("mosi", "channel").when("open"),
    Out::int("miso", "channel").when("open"),
    Out::int("cs", "channel").when("open"),
    Out::int("hz", "rate").unit("Hz").when("open"),
    Out::int("mode", "0 or 3").when("open"),
    Out::bool("cs_held", "the select line is held").when("open"),
];

const FLASH: &[Field] = &[
    Field::word(
        "op",
        &["id", "read", "erase", "write", "chip_erase"],
        "what to do",
    )
    .required(),
    Field::int("addr", 0, 0xff_ffff, "where").required_when("op", &["read", "erase", "write"]),
    Field::int("len", 1, 1_048_576, "how many; at most 1024 for `read`")
        .unit("bytes")
        .required_when("op", &["read", "erase"]),
    Field::new(
        "data",
        Kind::Bytes(1, 768),
        "bytes to program, which only clears bits",
    )
    .required_when("op", &["write"]),
    Field::flag("verify", "read back and compare").or("true"),
];

const FLASHED: &[Out] = &[
    Out::text("id", "JEDEC id, 6 hex digits").when("`id`"),
    Out::bool("present", "the id is neither all 00 nor all FF").when("`id`"),
    Out::int("size", "from the id; 0: unknown")
        .unit("bytes")
        .when("`id`"),
    Out::int("status", "status register").when("`id`"),
    Out::int("addr", "start; of an erase the sector's").when("`read`, `erase`, `write`"),
    Out::int("len", "length; of an erase whole sectors")
        .unit("bytes")
        .when("`read`, `erase`, `write`"),
    Out::text("data", "bytes as unpadded base64url").when("`read`"),
    Out::bool("verified", "it was read back").when("`write`"),
    Out::int("ms", "how long it took")
        .unit("ms")
        .when("`erase`, `write`, `chip_erase`"),
];

pub(super) const GROUP: Group = Group {
    title: "SPI master",
    commands: &[
        Command::new("spi_start", Tier::Instrument, "Opens a session on four channels; the select line idles high. Excludes an SWD session.")
            .gates(&[Gate::LaVoltage])
            .fields(&[
                Field::la("sck", "clock").required(),
                Field::la("mosi", "output").required(),
                Field::la("miso", "input").required(),
                Field::la("cs", "select").required(),
                Field::int("hz", 190_477, 100_000_000, "bit rate, not to be exceeded").unit("Hz").or("1000000"),
                Field::new("mode", Kind::OneOf(&[0, 3]), "clock polarity and phase").or("0"),
            ])
            .data(Data::Object(STARTED))
            .denials(&[
                Denied::new("sck, mosi, miso and cs must differ", "a channel twice", &[r#"{"cmd":"spi_start","sck":1,"mosi":2,"miso":3,"cs":3}"#]),
                Denied::new("an SPI session is open", "a second session", &[START, START]),
                Denied::new("pin conflict: LA4 is in use by gpio", "another function owns a channel", &[r#"{"cmd":"gpio","la":4,"mode":"output"}"#, START]),
            ])
            .examples(&[Example::new(START)]),
        Command::new("spi_stop", Tier::Instrument, "Closes the session and frees its channels.")
            .data(Data::Object(&[Out::bool("active", "false")]))
            .examples(&[Example::after(&[START], r#"{"cmd":"spi_stop"}"#)]),
        Command::light("spi_status", "The session.")
            .data(Data::Object(STATUS))
            .examples(&[
                Example::new(r#"{"cmd":"spi_status"}"#),
                Example::after(&[START], r#"{"cmd":"spi_status"}"#),
            ]),
        Command::new("spi_xfer", Tier::Instrument, "Sends bytes and receives as many.")
            .fields(&[
                Field::new("tx", Kind::Bytes(1, 768), "bytes to send").required(),
                CS,
            ])
            .data(Data::Object(&[
                Out::text("rx", "bytes received, unpadded base64url"),
                Out::text("cs", "`released` or `held`"),
            ]))
            .denials(&[Denied::new(IDLE, "before `spi_start`", &[r#"{"cmd":"spi_xfer","tx":"nwAAAA"}"#])])
            .examples(&[Example::after(&[START], r#"{"cmd":"spi_xfer","tx":"nwAAAA","cs":"release"}"#)]),
        Command::new("spi_stream", Tier::Instrument, "Sends a head and the first bytes of what `load_bin` with `psram` staged, in one frame; on the connection that staged, or after it closed.")
            .fields(&[
                Field::int("len", 0, 8_388_608, "staged bytes to send").unit("bytes").required(),
                Field::new("head", Kind::Bytes(0, 64), "bytes before them").or("none"),
                CS,
            ])
            .data(Data::Object(&[
                Out::int("sent", "head and staged bytes").unit("bytes"),
                Out::int("ms", "how long it took").unit("ms"),
                Out::text("cs", "`released` or `held`"),
            ]))
            .denials(&[Denied::new(IDLE, "before `spi_start`", &[r#"{"cmd":"spi_stream","len":0}"#])])
            .examples(&[Example::after(&[START, r#"{"cmd":"load_bin","total":64,"psram":true}"#], r#"{"cmd":"spi_stream","len":64,"head":"AgAA","cs":"release"}"#)]),
        Command::new("spi_flash", Tier::Instrument, "Reads, erases and programs a NOR flash with 3-byte addresses.")
            .fields(FLASH)
            .data(Data::Object(FLASHED))
            .denials(&[
                Denied::new(IDLE, "before `spi_start`", &[r#"{"cmd":"spi_flash","op":"id"}"#]),
                Denied::new("verify failed at address 0x100", "the read-back differs", &[START, r#"{"cmd":"spi_flash","op":"write","addr":256,"data":"AAAA"}"#, r#"{"cmd":"spi_flash","op":"write","addr":256,"data":"____"}"#]),
            ])
            .examples(&[
                Example::after(&[START], r#"{"cmd":"spi_flash","op":"id"}"#),
                Example::after(&[START], r#"{"cmd":"spi_flash","op":"read","addr":0,"len":16}"#),
                Example::after(&[START], r#"{"cmd":"spi_flash","op":"erase","addr":5,"len":4096}"#),
                Example::after(&[START], r#"{"cmd":"spi_flash","op":"write","addr":256,"data":"3q2-7w","verify":true}"#),
                Example::after(&[START], r#"{"cmd":"spi_flash","op":"chip_erase"}"#),
            ]),
    ],
};
