//! Decoding jobs: what is refused, the error messages, and the text formats.

#[path = "support/traffic.rs"]
#[allow(dead_code, reason = "the equality tests use all of it")]
mod traffic;

use decode::{ByteStream, CodePath, DECODERS, Format, Plan, RawDecoder, Spec, SpecError, VIEWS};
use std::ops::ControlFlow;
use traffic::Rng;

const I2C: &[(&str, &str)] = &[("scl", "SCL"), ("sda", "SDA")];

const NAMES: [&str; 4] = ["SCL", "SDA", "RX", "CS#"];

fn names() -> Vec<String> {
    NAMES.map(str::to_owned).to_vec()
}

fn message(result: Result<Spec, SpecError>) -> String {
    result.expect_err("the spec is refused").to_string()
}

fn parse(
    protocol: &str,
    map: &[(&str, &str)],
    options: &[(&str, &str)],
    annotations: Option<&str>,
) -> Result<Spec, SpecError> {
    Spec::parse(protocol, map, options, annotations, &names())
}

#[test]
fn refusals_say_what_would_be_right() {
    assert_eq!(
        message(parse("i2s", I2C, &[], None)),
        "find protocol `i2s` (did you mean `i2c`?); known are i2c, spi, uart, i2c-registers, \
         uart-conversation"
    );
    assert_eq!(
        message(parse("i2c", &[("clk", "SCL")], &[], None)),
        "map channel role `clk` of i2c; known are scl, sda"
    );
    assert_eq!(
        message(parse("i2c", &[("scl", "SCL"), ("sda", "sdaa")], &[], None)),
        "find channel `sdaa` in the capture (did you mean `SDA`?); it has SCL, SDA, RX, CS#"
    );
    assert_eq!(
        message(parse("i2c", &[("scl", "SCL")], &[], None)),
        "decode i2c without a channel for `sda`"
    );
    assert_eq!(
        message(parse("spi", &[("clk", "SCL")], &[], None)),
        "decode spi without a channel for `miso` or `mosi`"
    );
    assert_eq!(
        message(parse("uart", &[], &[], None)),
        "decode uart without a channel for `rx` or `tx`"
    );
    assert_eq!(
        message(parse("uart", &[("rx", "RX")], &[("parity", "eve")], None)),
        "set option `parity` to `eve` (did you mean `even`?); \
         it takes none, odd, even, zero, one, ignore"
    );
    assert_eq!(
        message(parse(
            "spi",
            &[("clk", "SCL"), ("miso", "SDA")],
            &[("wordsize", "65")],
            None
        )),
        "set option `wordsize` to `65`; it takes whole numbers 1 to 64"
    );
    assert_eq!(
        message(parse("i2c", I2C, &[("address", "shifted")], None)),
        "set option `address` of i2c; known are address_format"
    );
    assert_eq!(
        message(parse("i2c", I2C, &[], Some("addr-dat"))),
        "show annotations `addr-dat` of i2c (did you mean `addr-data`?); known are start, \
         repeat-start, stop, ack, nack, bit, address-read, address-write, data-read, data-write, \
         warnings, bits, addr-data"
    );
    assert_eq!(
        message(parse("i2c", I2C, &[], Some("spi=mosi-data"))),
        "show annotations of `spi` while decoding i2c"
    );
    let twice = [("scl", "SCL"), ("scl", "SDA"), ("sda", "SDA")];
    assert_eq!(
        message(parse("i2c", &twice, &[], None)),
        "map channel role `scl` twice"
    );
    let twice = [("address_format", "shifted"), ("address_format", "shifted")];
    assert_eq!(
        message(parse("i2c", I2C, &twice, None)),
        "set option `address_format` twice"
    );
    let stream = ByteStream::parse("uart", "uart=rxx").expect_err("it is refused");
    assert_eq!(
        stream.to_string(),
        "show byte stream `rxx` of uart (did you mean `rx`?); known are rx, tx, rxtx"
    );
}

#[test]
fn each_role_has_a_channel_of_its_own() {
    let spec = parse("i2c", &[("scl", "RX"), ("sda", "SDA")], &[], None).expect("valid");
    assert_eq!(spec.last_channel(), 2);
    assert_eq!(
        message(parse("i2c", &[("scl", "SDA"), ("sda", "SDA")], &[], None)),
        "map `scl` and `sda` to the same channel SDA; they must differ"
    );
    let spi = [("clk", "SCL"), ("mosi", "SDA"), ("cs", "SDA")];
    assert!(message(parse("spi", &spi, &[], None)).contains("the same channel SDA"));
    let uart = [("rx", "RX"), ("tx", "RX")];
    assert!(message(parse("uart", &uart, &[], None)).contains("the same channel RX"));
}

#[test]
fn bare_numbers_are_those_of_the_pod_or_refused() {
    let pod = ["LA1", "LA2", "LA5"].map(str::to_owned);
    let numbers = [("scl", "2"), ("sda", "5")];
    let spec = Spec::parse("i2c", &numbers, &[], None, &pod).expect("valid");
    assert_eq!(spec.last_channel(), 2);
    let from_zero = [("scl", "0"), ("sda", "1")];
    let refused = message(Spec::parse("i2c", &from_zero, &[], None, &pod));
    assert_eq!(
        refused,
        "find channel `0` in the capture; it has LA1, LA2, LA5"
    );
    let refused = parse("i2c", &from_zero, &[], None).expect_err("it could be a place");
    assert!(
        matches!(&refused, SpecError::AmbiguousChannel { role, .. } if role == "scl"),
        "{refused}"
    );
}

#[test]
fn every_default_and_every_listed_value_is_valid() {
    for decoder in DECODERS.iter().chain(VIEWS.iter()) {
        let roles = decoder.channels.iter().map(|role| role.id.as_str());
        let map: Vec<(&str, &str)> = roles.zip(NAMES).collect();
        for option in &decoder.options {
            let mut values = vec![option.default.as_str()];
            if let decode::Accepts::OneOf(list) = &option.accepts {
                values.extend(list.iter().map(String::as_str));
            }
            for value in values {
                let spec = parse(&decoder.id, &map, &[(&option.id, value)], None);
                assert!(spec.is_ok(), "{} {value}: {spec:?}", option.id);
            }
        }
        for class in &decoder.classes {
            assert!(
                parse(&decoder.id, &map, &[], Some(&class.id)).is_ok(),
                "{}",
                class.id
            );
        }
        for row in &decoder.rows {
            assert!(
                parse(&decoder.id, &map, &[], Some(&row.id)).is_ok(),
                "{}",
                row.id
            );
            assert!(
                row.classes
                    .iter()
                    .all(|class| decoder.class(class).is_some())
            );
        }
        for stream in &decoder.byte_streams {
            assert!(ByteStream::parse(&decoder.id, &stream.id).is_ok());
            assert!(
                stream
                    .classes
                    .iter()
                    .all(|class| decoder.class(class).is_some())
            );
        }
    }
    assert!(
        parse("uart", &[("rx", "RX")], &[("stop_bits", "1")], None).is_ok(),
        "1 means 1.0"
    );
}

#[test]
fn garbage_never_panics() {
    let mut rng = Rng::new(11);
    let words = [
        "i2c",
        "spi",
        "uart",
        "scl",
        "sda",
        "rx",
        "tx",
        "clk",
        "mosi",
        "SCL",
        "CS#",
        "0",
        "-1",
        "1e400",
        "NaN",
        "baudrate",
        "wordsize",
        "parity",
        "format",
        "=",
        ":",
        ",",
        "i2c=",
        "",
        "addr-data",
        "é",
        "inf",
    ];
    let word = |rng: &mut Rng| {
        let mut one = || words[usize::try_from(rng.next()).expect("64 bit") % words.len()];
        let (one, other) = (one(), one());
        if one.len() % 2 == 0 {
            format!("{one}{other}")
        } else {
            one.to_owned()
        }
    };
    let mut accepted = 0;
    for _ in 0..20_000 {
        // One or two texts of a valid job are replaced.
        let mut texts =
            ["uart", "rx", "RX", "tx", "SDA", "parity", "odd", "rx-data"].map(str::to_owned);
        for _ in 0..rng.range(1, 3) {
            texts[usize::try_from(rng.range(0, 8)).expect("small")] = word(&mut rng);
        }
        let [protocol, a, b, c, d, e, f, shown] = texts.each_ref().map(String::as_str);
        let map = [(a, b), (c, d)];
        let spec = parse(protocol, &map, &[(e, f)], Some(shown));
        accepted += usize::from(spec.is_ok());
    }
    assert!(
        accepted > 50 && accepted < 19_000,
        "{accepted} of 20000 were valid"
    );
}

/// `"` and `\` and a comma as 8N1 bytes, two samples per bit.
fn uart_text(bytes: &[u8]) -> Vec<u8> {
    let mut samples = vec![1; 10];
    for byte in bytes {
        let frame = u16::from(*byte) << 1 | 1 << 9;
        for index in 0..10 {
            samples.extend([u8::from(frame >> index & 1 != 0); 2]);
        }
        samples.extend([1; 4]);
    }
    samples
}

fn text(spec: &Spec, format: Format, samples: &[u8]) -> String {
    let plan = Plan::Sequential(CodePath::best());
    let mut decoder = RawDecoder::new(spec, Some(200_000.0), 1, plan).expect("the rate is enough");
    let mut text = format.header().as_bytes().to_vec();
    let mut sink = |annotations: &[decode::Annotation]| {
        format
            .write(spec, annotations, &mut text)
            .expect("memory takes everything");
        ControlFlow::Continue(())
    };
    assert!(decoder.feed(samples, &mut sink).is_continue());
    assert!(decoder.finish(&mut sink).1.is_continue());
    String::from_utf8(text).expect("annotations are text")
}

#[test]
fn formats_quote_what_must_be_quoted() {
    let samples = uart_text(b"\",\\");
    let options = [
        ("baudrate", "100000"),
        ("format", "ascii"),
        ("rx_packet_len", "3"),
    ];
    let shown = Some("rx-data,rx-packet");
    let spec = parse("uart", &[("rx", "SCL")], &options, shown).expect("valid");
    assert_eq!(
        text(&spec, Format::Csv, &samples),
        "start,end,decoder,class,text\n\
         12,28,uart,rx-data,\"\"\"\"\n\
         36,52,uart,rx-data,\",\"\n\
         60,76,uart,rx-data,\\\n\
         12,76,uart,rx-packet,\"\"\",\\\"\n"
    );
    assert_eq!(
        text(&spec, Format::Json, &samples),
        "{\"start\":12,\"end\":28,\"decoder\":\"uart\",\"class\":\"rx-data\",\"text\":\"\\\"\",\"value\":34}\n\
         {\"start\":36,\"end\":52,\"decoder\":\"uart\",\"class\":\"rx-data\",\"text\":\",\",\"value\":44}\n\
         {\"start\":60,\"end\":76,\"decoder\":\"uart\",\"class\":\"rx-data\",\"text\":\"\\\\\",\"value\":92}\n\
         {\"start\":12,\"end\":76,\"decoder\":\"uart\",\"class\":\"rx-packet\",\"text\":\"\\\",\\\\\",\"values\":[34,44,92]}\n"
    );
}

#[test]
fn refusals_name_their_field() {
    let field = |spec: Result<Spec, SpecError>| spec.expect_err("the spec is refused").field();
    assert_eq!(field(parse("can", I2C, &[], None)), "protocol");
    assert_eq!(field(parse("i2c", &[], &[], None)), "channels");
    assert_eq!(field(parse("i2c", I2C, &[("a", "b")], None)), "options");
    assert_eq!(field(parse("i2c", I2C, &[], Some("bytes"))), "annotations");
}

#[test]
fn without_bits_the_words_and_what_is_wrong_with_them_stay() {
    let all = |spec: &Spec| -> Vec<String> {
        let text = |class: u8| {
            let decoder = spec.decoder();
            decoder.classes[usize::from(class)].id.clone()
        };
        let count = u8::try_from(spec.decoder().classes.len()).unwrap();
        (0..count)
            .filter(|class| spec.shows(*class))
            .map(text)
            .collect()
    };
    let uart = parse("uart", &[("rx", "RX")], &[], None).unwrap();
    assert_eq!(all(&uart).len(), 18);
    let kept = [
        "rx-data",
        "tx-data",
        "rx-parity-err",
        "tx-parity-err",
        "rx-warnings",
        "tx-warnings",
        "rx-break",
        "tx-break",
        "rx-packet",
        "tx-packet",
    ];
    assert_eq!(all(&uart.without_bits()), kept);
    let i2c = parse("i2c", I2C, &[], None).unwrap().without_bits();
    assert_eq!(all(&i2c).len(), 10);
    assert!(!all(&i2c).contains(&"bit".to_owned()));
    let map = [("clk", "SCL"), ("mosi", "SDA")];
    let spi = parse("spi", &map, &[], None).unwrap().without_bits();
    assert_eq!(
        all(&spi),
        [
            "miso-data",
            "mosi-data",
            "warnings",
            "miso-transfer",
            "mosi-transfer"
        ]
    );
}
