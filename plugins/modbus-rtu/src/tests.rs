//! Frames as a serial port would send them, and what is said of them.

use hostd_plugin::decoder::{Annotation, Value, decode, setup};

use crate::crc::crc;
use crate::{BYTE, EXCEPTION, Modbus, REQUEST, RESPONSE, WARNING};

const RATE_HZ: f64 = 1e6;

/// Levels of one capture, sent bit by bit.
struct Wire {
    /// Samples of a bit.
    bit: f64,
    parity: Option<bool>,
    at: f64,
    changes: Vec<(u64, u8)>,
}

impl Wire {
    fn new(baud: f64) -> Self {
        Self {
            bit: RATE_HZ / baud,
            parity: Some(false),
            at: 0.0,
            changes: vec![(0, 0b111)],
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a drawing is short and begins at 0"
    )]
    fn now(&self) -> u64 {
        self.at.round() as u64
    }

    fn set(&mut self, mask: u8, high: bool) {
        let (before, now) = (self.changes.last().unwrap().1, self.now());
        let levels = if high { before | mask } else { before & !mask };
        if levels != before {
            self.changes.push((now, levels));
        }
    }

    fn quiet(&mut self, characters: f64) {
        self.at += characters * 11.0 * self.bit;
    }

    fn byte(&mut self, mask: u8, byte: u8) {
        let odd = byte.count_ones() % 2 == 1;
        let mut bits = vec![false];
        bits.extend((0..8).map(|bit| byte >> bit & 1 == 1));
        bits.extend(self.parity.map(|is_odd| odd != is_odd));
        bits.push(true);
        for high in bits {
            self.set(mask, high);
            self.at += self.bit;
        }
        self.set(mask, true);
    }

    /// A frame with its checksum and a silence behind it.
    fn frame(&mut self, mask: u8, body: &[u8]) {
        let check = crc(body.iter().copied()).to_le_bytes();
        for byte in body.iter().copied().chain(check) {
            self.byte(mask, byte);
        }
        self.quiet(4.0);
    }

    fn decoded(&self, roles: &[&str], options: &[(&str, &str)]) -> Vec<Annotation> {
        let setup = setup::<Modbus>(RATE_HZ, roles, options);
        decode::<Modbus>(&setup, &self.changes, self.now()).unwrap()
    }
}

/// What is said with a class.
fn texts(found: &[Annotation], classes: &[u32]) -> Vec<String> {
    let said = found.iter().filter(|f| classes.contains(&f.class));
    said.map(|found| match &found.value {
        Value::Text(text) => text.clone(),
        other => format!("{other:?}"),
    })
    .collect()
}

const FRAMES: [u32; 4] = [REQUEST, RESPONSE, EXCEPTION, WARNING];

const BUS: u8 = 1;
const TX: u8 = 2;
const RX: u8 = 4;

/// Requests and responses of each function, and what they are called.
const EXCHANGES: &[(&[u8], &[u8], &str, &str)] = &[
    (
        &[17, 3, 0, 107, 0, 3],
        &[17, 3, 6, 0xae, 0x41, 0x56, 0x52, 0x43, 0x40],
        "17: read holding registers 107-109",
        "17: read holding registers = AE41 5652 4340",
    ),
    (
        &[17, 1, 0, 19, 0, 37],
        &[17, 1, 5, 0xcd, 0x6b, 0xb2, 0x0e, 0x1b],
        "17: read coils 19-55",
        "17: read coils = CD 6B B2 0E 1B",
    ),
    // Request and response have the same length here.
    (
        &[9, 2, 0, 1, 0, 24],
        &[9, 2, 3, 1, 2, 3],
        "9: read discrete inputs 1-24",
        "9: read discrete inputs = 01 02 03",
    ),
    (
        &[1, 5, 0, 172, 0xff, 0],
        &[1, 5, 0, 172, 0xff, 0],
        "1: write single coil 172 = on",
        "1: write single coil 172 = on",
    ),
    (
        &[1, 6, 0, 1, 0, 3],
        &[1, 6, 0, 1, 0, 3],
        "1: write single register 1 = 0003",
        "1: write single register 1 = 0003",
    ),
    (
        &[1, 16, 0, 1, 0, 2, 4, 0, 10, 1, 2],
        &[1, 16, 0, 1, 0, 2],
        "1: write multiple registers 1-2 = 000A 0102",
        "1: write multiple registers 1-2",
    ),
    (
        &[1, 15, 0, 19, 0, 10, 2, 0xcd, 1],
        &[1, 15, 0, 19, 0, 10],
        "1: write multiple coils 19-28 = CD 01",
        "1: write multiple coils 19-28",
    ),
    (
        &[1, 22, 0, 4, 0, 0xf2, 0, 0x25],
        &[1, 22, 0, 4, 0, 0xf2, 0, 0x25],
        "1: mask write register 4: and 00F2, or 0025",
        "1: mask write register 4: and 00F2, or 0025",
    ),
    (
        &[1, 23, 0, 3, 0, 2, 0, 14, 0, 1, 2, 0, 0xff],
        &[1, 23, 4, 0, 0xfe, 0x0a, 0xcd],
        "1: read and write multiple registers 3-4, write 14 = 00FF",
        "1: read and write multiple registers = 00FE 0ACD",
    ),
    (
        &[1, 7],
        &[1, 7, 0x6d],
        "1: read exception status",
        "1: read exception status",
    ),
    (
        &[1, 8, 0, 0, 0xa5, 0x37],
        &[1, 8, 0, 0, 0xa5, 0x37],
        "1: diagnostics 0 A537",
        "1: diagnostics 0 A537",
    ),
    (
        &[1, 100, 1],
        &[1, 100, 2],
        "1: function 100",
        "1: function 100",
    ),
];

#[test]
fn exchanges_are_told_on_one_line_and_on_two() {
    for baud in [9_600.0, 115_200.0] {
        let rate = baud.to_string();
        let options = [("baudrate", rate.as_str()), ("parity", "even")];
        let (mut one, mut two) = (Wire::new(baud), Wire::new(baud));
        // Faster lines have silences of a fixed length.
        let pause = if baud > 19_200.0 { 30.0 } else { 1.0 };
        let mut expected = Vec::new();
        for (request, response, asked, answered) in EXCHANGES {
            for (wire, to, from) in [(&mut one, BUS, BUS), (&mut two, TX, RX)] {
                wire.quiet(pause);
                wire.frame(to, request);
                wire.quiet(pause);
                wire.frame(from, response);
            }
            expected.extend([*asked, *answered]);
        }
        one.quiet(pause);
        two.quiet(pause);
        assert_eq!(texts(&one.decoded(&["bus"], &options), &FRAMES), expected);
        assert_eq!(
            texts(&two.decoded(&["tx", "rx"], &options), &FRAMES),
            expected
        );
    }
}

#[test]
fn refusals_are_exceptions() {
    let mut wire = Wire::new(19_200.0);
    wire.quiet(4.0);
    wire.frame(BUS, &[10, 1, 4, 0xa1, 0, 1]);
    wire.frame(BUS, &[10, 0x81, 2]);
    let found = wire.decoded(&["bus"], &[]);
    assert_eq!(
        texts(&found, &FRAMES),
        [
            "10: read coils 1185",
            "10: read coils refused: illegal data address (2)"
        ]
    );
}

#[test]
fn fields_have_their_places() {
    let mut wire = Wire::new(10_000.0);
    wire.at = 2_000.0;
    wire.frame(BUS, &[17, 3, 0, 107, 0, 3]);
    let found = wire.decoded(&["bus"], &[("baudrate", "10000")]);
    let character = 11 * 100;
    let at = |index: u64| 2_000 + index * character;
    let place = |class| {
        let found = found.iter().find(|found| found.class == class).unwrap();
        (found.start, found.end, found.value.clone())
    };
    assert_eq!(place(crate::ADDRESS), (at(0), at(1), Value::Number(17)));
    let words = Value::Words(vec![0, 107, 0, 3]);
    assert_eq!(place(crate::DATA), (at(2), at(6), words));
    assert_eq!(
        place(crate::CHECKSUM),
        (at(6), at(8), Value::Number(0x8776))
    );
    assert_eq!(place(REQUEST).1, at(8));
    let bytes = found.iter().filter(|found| found.class == BYTE);
    assert_eq!(bytes.count(), 8);
}

#[test]
fn what_is_wrong_is_said() {
    let warnings = |wire: &Wire| texts(&wire.decoded(&["bus"], &[]), &FRAMES);
    let begun = || {
        let mut wire = Wire::new(19_200.0);
        wire.quiet(4.0);
        wire
    };

    let mut wire = begun();
    for byte in [1, 3, 0, 0, 0, 1, 0x12, 0x34] {
        wire.byte(BUS, byte);
    }
    wire.quiet(4.0);
    assert_eq!(warnings(&wire), ["checksum is 3412, should be 0A84"]);

    let mut wire = begun();
    wire.byte(BUS, 7);
    wire.byte(BUS, 8);
    assert_eq!(warnings(&wire), ["frame of 2 bytes; the shortest has 4"]);

    let mut wire = begun();
    wire.parity = Some(true);
    wire.frame(BUS, &[1, 7]);
    let all = warnings(&wire);
    assert_eq!(all[..4], ["parity error"; 4]);

    let mut wire = begun();
    let body = [1, 6, 0, 1, 0, 3];
    let check = crc(body).to_le_bytes();
    for byte in body.into_iter().chain(check) {
        wire.byte(BUS, byte);
        if byte == 6 {
            wire.quiet(2.0);
        }
    }
    wire.quiet(4.0);
    assert_eq!(
        warnings(&wire),
        [
            "silence of more than 1.5 characters inside a frame",
            "1: write single register 1 = 0003"
        ]
    );

    // A response that is too short, and one that nobody asked for.
    let mut wire = begun();
    wire.frame(BUS, &[1, 3, 0, 0, 0, 4]);
    wire.frame(BUS, &[1, 3, 2, 0, 1]);
    wire.frame(BUS, &[1, 3, 2, 0, 1]);
    assert_eq!(
        warnings(&wire),
        [
            "1: read holding registers 0-3",
            "1: read holding registers = 0001",
            "it has 2 bytes of data; asked for were 8",
            "1: read holding registers = 0001",
            "it answers no request"
        ]
    );
}

#[test]
fn nobody_answers_a_broadcast() {
    let mut wire = Wire::new(19_200.0);
    wire.quiet(4.0);
    wire.frame(BUS, &[0, 6, 0, 1, 0, 3]);
    wire.frame(BUS, &[0, 6, 0, 1, 0, 3]);
    let found = wire.decoded(&["bus"], &[]);
    let sentence = "all: write single register 1 = 0003";
    assert_eq!(texts(&found, &[REQUEST]), [sentence, sentence]);
    assert!(texts(&found, &[RESPONSE, WARNING]).is_empty());
}

#[test]
fn options_that_cannot_be_are_refused_with_a_sentence() {
    for (rate, roles, options, expected) in [
        (
            1e6,
            &["bus"][..],
            &[("baudrate", "fast")][..],
            "baudrate is \"fast\"",
        ),
        (1e4, &["bus"], &[], "too few for 19200 baud"),
        (1e6, &["bus"], &[("gap_us", "-1")], "gap_us is \"-1\""),
        (1e6, &[], &[], "map a channel to bus"),
    ] {
        let setup = setup::<Modbus>(rate, roles, options);
        let refused = decode::<Modbus>(&setup, &[(0, 1)], 10).unwrap_err();
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn any_levels_are_decoded_without_a_panic() {
    let mut random = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    for _ in 0..200 {
        let mut at = 0;
        let mut changes = vec![(0, 7)];
        for _ in 0..2_000 {
            let longest = if next(20) == 0 { 5_000 } else { 120 };
            at += 1 + next(longest);
            changes.push((at, u8::try_from(next(8)).unwrap()));
        }
        let setup = setup::<Modbus>(RATE_HZ, &["bus", "tx", "rx"], &[]);
        // The end may come at any time after the last change.
        decode::<Modbus>(&setup, &changes, at + 1 + next(100)).unwrap();
    }
}
