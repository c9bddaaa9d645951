//! The language: what is read, what is found, what is refused and with which words.

use decode::segment::Segment;
use search::limits::{BYTES_MAX, QUERY_CHARS_MAX, SETTINGS_MAX};
use search::{Known, Query};

use crate::support::{drawn, found, names, stored};

fn texts(query: &str, samples: &[u8]) -> Vec<String> {
    let found = found(query, samples).into_iter();
    found
        .map(|(from, to, text)| format!("{from}-{to} {text}"))
        .collect()
}

const A: &str = "..###.#....####....";
const B: &str = "....####.......#...";

#[test]
fn signals_are_found() {
    let samples = drawn(&[(0, A), (1, B)]);
    for (query, hits) in [
        (
            "pulse on A shorter than 3 us",
            &["5-6 low pulse on A, 1 us", "6-7 high pulse on A, 1 us"][..],
        ),
        (
            "pulse on A longer than 3us high",
            &["11-15 high pulse on A, 4 us"],
        ),
        (
            "LOW pulse on A longer than 3 samples",
            &["7-11 low pulse on A, 4 us"],
        ),
        (
            "pulse on A low shorter than 0.002ms",
            &["5-6 low pulse on A, 1 us"],
        ),
        (
            "no edge on A for 4 us",
            &[
                "7-11 no edge on A for 4 us",
                "11-15 no edge on A for 4 us",
                "15-19 no edge on A for 4 us",
            ],
        ),
        (
            "no edge for 3 us",
            &[
                "8-11 no edge for 3 us",
                "11-15 no edge for 4 us",
                "16-19 no edge for 3 us",
            ],
        ),
        (
            "no rising edge on B for 8 us",
            &["4-15 no rising edge on B for 11 us"],
        ),
        (
            "rising edge on B",
            &["4-5 rising edge on B", "15-16 rising edge on B"],
        ),
    ] {
        assert_eq!(texts(query, &samples), hits, "{query}");
    }
}

#[test]
fn edges_and_levels_are_found() {
    let samples = drawn(&[(0, A), (1, B)]);
    for (query, hits) in [
        (
            "edge on A within 1 us of edge on B",
            &[
                "4-6 falling edge on A, 1 us after rising edge on B",
                "7-9 falling edge on A, 1 us before falling edge on B",
                "15-16 falling edge on A with rising edge on B",
            ][..],
        ),
        (
            "falling edge on A within 3 us after rising edge on B",
            &[
                "4-6 falling edge on A, 1 us after rising edge on B",
                "4-8 falling edge on A, 3 us after rising edge on B",
                "15-16 falling edge on A with rising edge on B",
            ],
        ),
        (
            "rising edge on A not within 2 us before edge on B",
            &["11-12 rising edge on A, without B"],
        ),
        (
            "rising edge on A within 3 us after falling edge on A",
            &["5-7 rising edge on A, 1 us after falling edge on A"],
        ),
        (
            "level of A high for 3 us",
            &["2-5 A high for 3 us", "11-15 A high for 4 us"],
        ),
        (
            "level on B high",
            &["4-8 B high for 4 us", "15-16 B high for 1 us"],
        ),
        (
            "no edge on \"4 four\" for 19 us",
            &["0-19 no edge on 4 four for 19 us"],
        ),
        ("no edge for 20 us", &[]),
    ] {
        assert_eq!(texts(query, &samples), hits, "{query}");
    }
}

/// An I²C exchange: the bits of bytes, each with its answer, between a start and a stop.
fn exchange(samples: &mut Vec<u8>, bytes: &[(u8, bool)]) {
    let mut put = |scl: bool, sda: bool| {
        let sample = u8::from(scl) << 4 | u8::from(sda) << 5;
        samples.extend([sample; 3]);
    };
    put(true, true);
    put(true, false);
    for (byte, nack) in bytes {
        for bit in (0..8).rev().map(|bit| byte >> bit & 1 != 0).chain([*nack]) {
            put(false, bit);
            put(true, bit);
        }
    }
    put(false, false);
    put(true, false);
    put(true, true);
}

#[test]
fn protocols_are_found() {
    let mut samples = Vec::new();
    exchange(&mut samples, &[(0xec, true)]);
    exchange(&mut samples, &[(0xec, false), (0xd0, false)]);
    exchange(&mut samples, &[(0xed, false), (0x60, true)]);
    exchange(&mut samples, &[(0xa0, true)]);
    let count = |query: &str| found(query, &samples).len();
    for (query, hits) in [
        ("address 0x76 NACK", 1),
        ("i2c address 0x76 nack", 1),
        ("i2c 0x76 read", 1),
        ("0x76", 3),
        ("0x76 write ack", 1),
        ("i2c address nack", 2),
        ("i2c nack", 3),
        ("NACK", 3),
        ("i2c start", 4),
        ("i2c repeated start", 0),
        ("i2c stop", 4),
        ("i2c read", 1),
        ("i2c 0x50 read", 0),
        ("bytes D0 on i2c", 1),
        ("bytes 60 on sda", 1),
        ("i2c bytes ??", 2),
        ("i2c 0x76 write bytes d0", 1),
        ("i2c 0x76 read bytes d0", 0),
        ("i2c 0x50 bytes ?? with scl=scl, sda=SDA", 0),
    ] {
        assert_eq!(count(query), hits, "{query}");
    }
    let refused = found("address 0x76 nack", &samples);
    assert_eq!(refused[0].2, "i2c 0x76 write, NACK");
    // From the first bit of the address to the end of the answer.
    assert_eq!((refused[0].0, refused[0].1), (9, 63));
    let read = found("i2c bytes 60", &samples);
    assert_eq!(read[0].2, "60 on sda");
}

#[test]
fn a_uart_is_found() {
    let mut samples = vec![0xff; 40];
    let mut frame = |byte: u8, stop: bool| {
        let bits = (0..8).map(|bit| byte >> bit & 1 != 0);
        for bit in [false].into_iter().chain(bits).chain([stop]) {
            samples.extend([0b1011_1111 | u8::from(bit) << 6; 8]);
        }
        samples.extend([0xff; 16]);
    };
    for byte in *b"boot" {
        frame(byte, true);
    }
    frame(0x55, false);
    for byte in [0x55, 0xaa, 0x7, 0x1] {
        frame(byte, true);
    }
    let at = "with baudrate=125000";
    for (query, hits) in [
        ("bytes 55 AA ?? 01 on uart", 1),
        ("bytes 55aa??01 on rx", 1),
        ("bytes 0x6f 0x6f on uart", 1),
        ("uart bytes 6F", 2),
        ("text \"boot\" on uart", 1),
        ("text boot on tx", 0),
        ("uart framing error", 1),
        ("frame error on rx", 1),
        ("uart framing error on tx", 0),
        ("uart parity error", 0),
        ("uart break", 0),
    ] {
        assert_eq!(
            found(&format!("{query} {at}"), &samples).len(),
            hits,
            "{query}"
        );
    }
    let error = found(&format!("uart framing error {at}"), &samples);
    assert_eq!(error[0].2, "frame error on rx");
}

#[test]
fn spi_is_found_within_a_selection() {
    // Clock on A, data on B, select on LA3.
    let mut samples = vec![4; 4];
    let mut transfer = |bytes: &[u8]| {
        samples.extend([0; 2]);
        for byte in bytes {
            for bit in (0..8).rev() {
                let data = (byte >> bit & 1) << 1;
                samples.extend([data, data, data | 1, data | 1]);
            }
        }
        samples.extend([0, 0, 4, 4, 4]);
    };
    transfer(&[0x9f, 0xef, 0x40]);
    transfer(&[0x9f]);
    transfer(&[0xef]);
    let with = "with clk=A mosi=B cs=LA3";
    for (query, hits) in [
        ("spi bytes 9f", 2),
        ("spi bytes 9f ef", 1),
        ("bytes 9f on mosi", 2),
        ("bytes ef 40 on spi", 1),
        ("spi bytes 9f on miso", 0),
    ] {
        assert_eq!(
            found(&format!("{query} {with}"), &samples).len(),
            hits,
            "{query}"
        );
    }
}

/// Queries, and why they are refused.
const REFUSED: &[(&str, &str)] = &[
    (
        "",
        "read the query at character 1: it ends there, expected `pulse`, `edge`, `no edge`, `level`, `i2c`, `spi`, \
             `uart`, `address`, `bytes` or `text`",
    ),
    (
        "pulse on A thinner than 1 us",
        "read the query at character 12: found `thinner`, expected `shorter` or `longer`",
    ),
    (
        "pulse on A shorter than soon",
        "read the query at character 25: found `soon`, expected a length such as `10 us`",
    ),
    (
        "pulse on A shorter than 3",
        "read the query at character 26: it ends there, expected a unit: `ns`, `us`, `ms`, `s`, `min` or `samples`",
    ),
    (
        "pulse on A shorter than 0 us",
        "read the query at character 25: found `0`, expected a length such as `10 us`",
    ),
    (
        "no edges LA1 for 3 s",
        "read the query at character 10: found `LA1`, expected `on` or `for`",
    ),
    (
        "rising on A",
        "read the query at character 8: found `on`, expected `edge`",
    ),
    (
        "edge on A near edge on B",
        "read the query at character 11: found `near`, expected `within`, or the end of the query",
    ),
    (
        "address 76 nack",
        "read the query at character 9: found `76`, expected a 7-bit address such as `0x76`",
    ),
    (
        "i2c 0x80",
        "read the query at character 5: found `0x80`, expected a 7-bit address such as `0x76`",
    ),
    (
        "bytes 55 A on uart",
        "read the query at character 10: found `A`, expected two hexadecimal digits, or `??` for any byte",
    ),
    (
        "bytes on uart",
        "read the query at character 7: found `on`, expected two hexadecimal digits, or `??` for any byte",
    ),
    (
        "uart bytes 55 on miso",
        "read the query at character 18: found `miso`, expected `uart` or `rx` or `tx`",
    ),
    (
        "bytes 55",
        "read the query at character 9: it ends there, expected another byte, or `on` and a line such as `uart`",
    ),
    (
        "i2c nack with scl",
        "read the query at character 18: it ends there, expected `=`",
    ),
    (
        "level of A up",
        "read the query at character 12: found `up`, expected `high` or `low`",
    ),
    (
        "edge on A, B",
        "read the query at character 10: found `,`, expected `within`, or the end of the query",
    ),
    (
        "edge on \"A",
        "read the query at character 9: a double quote is not closed",
    ),
    (
        "uart rx 55",
        "read the query at character 6: found `rx`, expected `bytes`, `text`, `framing error`, `parity error` or \
             `break`",
    ),
];

#[test]
fn what_is_no_query_is_refused_with_its_place() {
    for (query, error) in REFUSED {
        let refused = Query::parse(query).unwrap_err().to_string();
        assert_eq!(refused, *error, "{query}");
    }
}

#[test]
fn a_query_has_bounds() {
    let at = |query: &str| Query::parse(query).map_err(|error| error.at);
    let most = "00".repeat(BYTES_MAX);
    assert!(at(&format!("uart bytes {most}")).is_ok());
    assert_eq!(
        at(&format!("uart bytes {most} 00")).unwrap_err(),
        12 + 2 * BYTES_MAX + 1
    );
    assert_eq!(
        at(&format!("uart text \"{}\"", "x".repeat(BYTES_MAX + 1))).unwrap_err(),
        11
    );
    let settings = "a=b ".repeat(SETTINGS_MAX);
    assert!(at(&format!("i2c stop with {settings}")).is_ok());
    assert_eq!(
        at(&format!("i2c stop with {settings}a=b")).unwrap_err(),
        15 + 4 * SETTINGS_MAX
    );
    let long = format!("edge on {}", "x".repeat(QUERY_CHARS_MAX));
    assert_eq!(at(&long).unwrap_err(), QUERY_CHARS_MAX + 1);
}

fn bound(query: &str, names: &[String], i2c: Option<(&str, &str)>) -> Result<(), String> {
    let query = Query::parse(query).unwrap();
    let known = Known {
        i2c,
        ..Known::default()
    };
    let bound = query.bind(names, &known);
    bound.map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn channels_are_those_of_the_capture() {
    assert_eq!(
        bound("edge on LA4", &names(), None).unwrap_err(),
        "find channel `LA4` in the capture (did you mean `LA3`?); it has A, B, LA3, 4 four, scl, SDA, rx, tx"
    );
    let pod = ["LA1".to_owned(), "LA2".to_owned()];
    assert_eq!(bound("edge on 2", &pod, None), Ok(()));
    assert_eq!(
        bound("i2c stop", &pod, None).unwrap_err(),
        "set up the decoder: failed to decode i2c without a channel for `scl`; name channels and options behind `with`, \
         as `with scl=LA1 sda=LA2`"
    );
    assert_eq!(bound("i2c stop", &pod, Some(("LA1", "LA2"))), Ok(()));
    assert_eq!(bound("i2c stop with scl=1 sda=LA2", &pod, None), Ok(()));
    let twice = bound("i2c stop with scl=1 scl=2", &pod, None).unwrap_err();
    assert!(twice.contains("scl"), "{twice}");
    let option = bound("i2c stop with scl=1 sda=2 speed=9", &pod, None).unwrap_err();
    assert!(option.contains("speed"), "{option}");
    let query = Query::parse("edge on A").unwrap().with("scl", "A");
    assert!(query.bind(&names(), &Known::default()).is_err());
    let query = Query::parse("i2c stop").unwrap();
    let query = query.with("scl", "1").with("sda", "2");
    assert!(query.bind(&pod, &Known::default()).is_ok());
}

#[test]
fn labels_are_names_too() {
    let samples = drawn(&[(0, "..##..")]);
    let stored = stored(&samples);
    let segment = Segment::open(&stored).unwrap();
    let known = Known {
        labels: vec![("reset line", "A"), ("SCL", "B"), ("sda", "A")],
        i2c: None,
    };
    let texts = |query: &str| {
        let search = Query::parse(query).unwrap().bind(&names(), &known).unwrap();
        let mut texts = Vec::new();
        let each = &mut |hit: search::Hit| {
            texts.push(hit.text);
            std::ops::ControlFlow::Continue(())
        };
        search.run(&segment, 0..6, &|| true, each).unwrap();
        texts
    };
    let told = ["high pulse on reset line, 2 us"];
    assert_eq!(texts("pulse on \"reset line\" longer than 1 us"), told);
    assert_eq!(texts("pulse on A longer than 1 us"), told);
    // The roles are labels before they are names.
    assert!(texts("i2c stop").is_empty());
}

#[test]
fn a_rate_that_is_too_low_is_said() {
    let stored = stored(&[0xff; 10]);
    let query = Query::parse("uart break with baudrate=2000000").unwrap();
    let search = query.bind(&names(), &Known::default()).unwrap();
    let segment = Segment::open(&stored).unwrap();
    let each = &mut |_| std::ops::ControlFlow::Continue(());
    let error = search.run(&segment, 0..10, &|| true, each).unwrap_err();
    assert!(error.is_of_capture(), "{error}");
}
