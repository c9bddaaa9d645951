//! CAN.

use super::{Command, Data, Denied, Example, Field, Group, Kind, Out, Outside, Shape, Tier};

const FRAME: &[Out] = &[
    Out::int("id", "identifier"),
    Out::bool("ext", "29 bits"),
    Out::bool("rtr", "remote request"),
    Out::new("data", Shape::Ints, "its bytes"),
    Out::int("dlc", "how many"),
    Out::int("ts", "the pod's time at reception, above 0").unit("ms"),
];

const STATUS: &[Out] = &[
    Out::bool("enabled", "it runs"),
    Out::text("mode", "as configured"),
    Out::int("bitrate", "as configured").unit("bit/s"),
    Out::bool("term", "termination on"),
    Out::int("tec", "transmit error counter"),
    Out::int("rec", "receive error counter"),
    Out::bool("bus_off", "off the bus"),
    Out::bool("error_passive", "error passive"),
    Out::int("bus_off_recoveries", "returns to the bus"),
    Out::int("rx_pending", "frames in the ring, at most 31"),
    Out::int("rx_overflow", "frames dropped since `can_config`"),
    Out::int("responder_rules", "rules"),
    Out::int("responder_hits", "frames they answered"),
];

const CONFIG: &str = r#"{"cmd":"can_config","bitrate":500000,"mode":"internal","term":false}"#;

pub(super) const GROUP: Group = Group {
    title: "CAN",
    commands: &[
        Command::new("can_config", Tier::Instrument, "Starts the controller; clears the ring and its overflow count.")
            .in_safe_mode()
            .fields(&[
                Field::int("bitrate", 1, 3_125_000, "25 MHz / (bitrate · q) must be 1 to 512 for some q of 8 to 25").unit("bit/s").or("500000"),
                Field::word("mode", &["normal", "internal", "external", "listen"], "the loopbacks bring written frames back").or("`normal`"),
                Field::flag("term", "termination").or("false"),
                Field::flag("fd", "accepted and ignored"),
            ])
            .data(Data::Object(&[
                Out::int("bitrate", "as requested").unit("bit/s"),
                Out::text("mode", "as requested"),
                Out::bool("term", "as requested"),
            ]))
            .denials(&[Denied::new("CAN cannot do 777777 bit/s", "a rate the clock does not make", &[r#"{"cmd":"can_config","bitrate":777777}"#])])
            .examples(&[Example::new(CONFIG)]),
        Command::new("can_write", Tier::Instrument, "Sends a frame.")
            .in_safe_mode()
            .fields(&[
                Field::int("id", 0, 0x7ff, "identifier; up to 0x1fffffff with `ext`").required(),
                Field::flag("ext", "29 bits").or("false"),
                Field::flag("rtr", "remote request").or("false"),
                Field::new("data", Kind::ByteList, "its bytes").or("none"),
            ])
            .data(Data::Object(&[
                Out::int("id", "as requested"),
                Out::bool("ext", "as requested"),
                Out::int("dlc", "bytes"),
            ]))
            .denials(&[Denied::new("CAN is disabled", "before `can_config`", &[r#"{"cmd":"can_write","id":1}"#])])
            .examples(&[Example::after(&[CONFIG], r#"{"cmd":"can_write","id":291,"ext":false,"rtr":false,"data":[1,2,3]}"#)]),
        Command::new("can_read", Tier::Read, "Takes received frames out of the ring, the oldest first.")
            .in_safe_mode()
            .fields(&[Field::int("max", 1, 8, "at most so many").or("8").outside(Outside::ClampedAbove)])
            .data(Data::Object(&[
                Out::new("frames", Shape::Objects(FRAME), "the frames"),
                Out::int("overflow", "frames dropped so far"),
            ]))
            .examples(&[Example::after(&[CONFIG, r#"{"cmd":"can_write","id":291,"data":[1,2]}"#], r#"{"cmd":"can_read","max":8}"#)]),
        Command::light("can_status", "The controller and its counters.")
            .in_safe_mode()
            .data(Data::Object(STATUS))
            .examples(&[Example::new(r#"{"cmd":"can_status"}"#)]),
        Command::new("can_term", Tier::Instrument, "Switches the termination, also while disabled.")
            .in_safe_mode()
            .fields(&[Field::flag("on", "on or off").required()])
            .data(Data::Object(&[Out::bool("term", "as requested")]))
            .examples(&[Example::new(r#"{"cmd":"can_term","on":true}"#)]),
        Command::new("can_respond", Tier::Instrument, "Adds a rule that answers a received frame in the same instant, the first match; at most 8. `clear` drops them all and zeroes the hits.")
            .in_safe_mode()
            .fields(&[
                Field::flag("clear", "drop all rules"),
                Field::int("match_id", 0, 0x7ff, "identifier to answer; up to 0x1fffffff with `ext`; required without `clear`"),
                Field::flag("ext", "its length").or("false"),
                Field::int("reply_id", 0, 0x7ff, "identifier of the answer; required without `clear`"),
                Field::flag("reply_ext", "its length").or("false"),
                Field::new("reply_data", Kind::ByteList, "bytes of the answer").or("none"),
            ])
            .data(Data::Object(&[
                Out::int("rule", "its number, from 0").when("a new rule"),
                Out::int("rules", "rules there are"),
            ]))
            .denials(&[Denied::new("missing match_id", "neither a rule nor `clear`", &[r#"{"cmd":"can_respond"}"#])])
            .examples(&[
                Example::new(r#"{"cmd":"can_respond","match_id":291,"reply_id":292,"reply_data":[9]}"#),
                Example::new(r#"{"cmd":"can_respond","clear":true}"#),
            ]),
        Command::new("can_disable", Tier::Instrument, "Stops the controller and clears the ring; rules stay.")
            .in_safe_mode()
            .data(Data::Object(&[Out::bool("enabled", "false")]))
            .examples(&[Example::new(r#"{"cmd":"can_disable"}"#)]),
    ],
};
