//! Both lines of a UART as one conversation.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/stored.rs"]
#[allow(dead_code, reason = "each test uses some of it")]
mod stored;
#[path = "support/traffic.rs"]
#[allow(dead_code, reason = "the equality tests use all of it")]
mod traffic;

use decode::segment::Segment;
use decode::{CodePath, Decoding, Format, Plan, Spec, Value, sr};
use std::ops::ControlFlow;
use std::path::Path;
use stored::{all_of, found_raw, store};

/// Samples of a bit at 100,000 baud.
const BIT: usize = 10;

fn spec(options: &[(&str, &str)]) -> Spec {
    let names = ["RX", "TX"].map(str::to_owned);
    let map = [("rx", "RX"), ("tx", "TX")];
    let mut all = vec![("baudrate", "100000")];
    all.extend(options);
    Spec::parse("uart-conversation", &map, &all, None, &names).unwrap()
}

/// RX is bit 0, TX bit 1: each byte begins at a sample.
fn samples(length: usize, rx: &[(usize, u8)], tx: &[(usize, u8)]) -> Vec<u8> {
    let mut samples = vec![3; length];
    for (line, bytes) in [(1, rx), (2, tx)] {
        for (at, byte) in bytes {
            let frame = u16::from(*byte) << 1 | 1 << 9;
            for (index, sample) in samples[*at..*at + 10 * BIT].iter_mut().enumerate() {
                if frame >> (index / BIT) & 1 == 0 {
                    *sample &= !line;
                }
            }
        }
    }
    samples
}

fn words(spec: &Spec, samples: &[u8]) -> Vec<String> {
    let found = found_raw(spec, samples, Plan::Sequential(CodePath::best()));
    let words = found.iter().map(|annotation| spec.words(annotation));
    words.collect()
}

#[test]
fn request_and_reply_follow_each_other() {
    let tx = [(100, b'H'), (200, b'i'), (900, b'!')];
    let rx = [(450, b'O'), (550, b'k')];
    let all = samples(2000, &rx, &tx);
    assert_eq!(
        words(&spec(&[]), &all),
        ["TX 48 69 |Hi|", "RX 4F 6B |Ok|", "TX 21 |!|"]
    );
    assert_eq!(
        words(&spec(&[("show", "hex")]), &all),
        ["TX 48 69", "RX 4F 6B", "TX 21"]
    );
    let found = found_raw(&spec(&[]), &all, Plan::best());
    let classes: Vec<&str> = found
        .iter()
        .map(|one| {
            spec(&[]).decoder().classes[usize::from(one.class)]
                .id
                .clone()
        })
        .map(|id| if id == "tx-data" { "tx" } else { "rx" })
        .collect();
    assert_eq!(classes, ["tx", "rx", "tx"]);
    let mut json = Vec::new();
    Format::Json
        .write(&spec(&[]), &found[..1], &mut json)
        .unwrap();
    assert_eq!(
        String::from_utf8(json).unwrap(),
        "{\"start\":110,\"end\":290,\"decoder\":\"uart-conversation\",\"class\":\"tx-data\",\
         \"text\":\"TX 48 69 |Hi|\",\"values\":[72,105]}\n"
    );
}

#[test]
fn an_idle_time_ends_a_run() {
    // Twenty bits between the stop bit and the next start bit are not too long; twenty-one and two samples are.
    let near = samples(1000, &[(100, b'a'), (200 + 20 * BIT, b'b')], &[]);
    assert_eq!(words(&spec(&[]), &near), ["RX 61 62 |ab|"]);
    let far = samples(1000, &[(100, b'a'), (203 + 20 * BIT, b'b')], &[]);
    assert_eq!(words(&spec(&[]), &far), ["RX 61 |a|", "RX 62 |b|"]);
    assert_eq!(
        words(&spec(&[("gap_bits", "0")]), &near),
        ["RX 61 |a|", "RX 62 |b|"]
    );
}

#[test]
fn an_echo_at_the_same_time_ends_nothing_and_one_in_between_does() {
    let tx: Vec<(usize, u8)> = (0..5).map(|n| (100 + n * 100, b'a')).collect();
    let echo: Vec<(usize, u8)> = (0..5).map(|n| (220 + n * 100, b'a')).collect();
    assert_eq!(
        words(&spec(&[("show", "ascii")]), &samples(2000, &echo, &tx)),
        ["TX aaaaa", "RX aaaaa"]
    );
    let typed = [(100, b'a'), (350, b'b')];
    let echoed = [(220, b'a'), (470, b'b')];
    assert_eq!(
        words(&spec(&[("show", "ascii")]), &samples(2000, &echoed, &typed)),
        ["TX a", "RX a", "TX b", "RX b"]
    );
}

#[test]
fn runs_end_at_a_word_or_a_length_and_show_what_is_not_text() {
    let line: Vec<(usize, u8)> = b"on\roff\r"
        .iter()
        .enumerate()
        .map(|(n, byte)| (100 + n * 100, *byte))
        .collect();
    let all = samples(1500, &[], &line);
    let ascii = [("show", "ascii"), ("delimiter", "13")];
    assert_eq!(words(&spec(&ascii), &all), ["TX on[0D]", "TX off[0D]"]);
    assert_eq!(
        words(&spec(&[("length", "3")]), &all),
        ["TX 6F 6E 0D |on.|", "TX 6F 66 66 |off|", "TX 0D |.|"]
    );
}

#[test]
fn what_is_wrong_names_its_line() {
    let mut all = samples(2000, &[(100, b'U')], &[]);
    // The stop bit of the first word is missing, and later the line breaks.
    all[190..200].fill(2);
    all[600..1200].fill(2);
    let found = words(&spec(&[("gap_bits", "5")]), &all);
    assert_eq!(found[..2], ["RX 55 |U|", "RX frame error"]);
    assert!(found.contains(&"RX break".to_owned()), "{found:?}");
    let only = [("rx", "RX"), ("tx", "TX")];
    let names = ["RX", "TX"].map(str::to_owned);
    let options = [("baudrate", "100000")];
    let spec = Spec::parse("uart-conversation", &only, &options, Some("data"), &names).unwrap();
    assert!(
        words(&spec, &all)
            .iter()
            .all(|words| !words.contains("error"))
    );
}

/// Random words on both lines, with idle times of up to so many bits.
fn both(gap: u64, seed: u64) -> Vec<u8> {
    let line = |seed| traffic::uart(400_000, 8.68, gap, seed);
    let pairs = line(seed).into_iter().zip(line(seed + 100));
    pairs.map(|(rx, tx)| rx & 1 | (tx & 1) << 1).collect()
}

/// Every word of both lines is in some run, once and in order, whatever the signal and however it arrives.
#[test]
fn no_word_is_lost_on_any_path() {
    let map = [("rx", "RX"), ("tx", "TX")];
    let names = ["RX", "TX"].map(str::to_owned);
    for (seed, all) in [
        (1, both(30, 1)),
        (2, both(2, 2)),
        (3, traffic::noise(200_000, 40, 3)),
        (4, traffic::noise(200_000, 7, 4)),
    ] {
        let options = [("baudrate", "115200")];
        let uart = Spec::parse("uart", &map, &options, Some("rx-data,tx-data"), &names);
        let plain = found_raw(&uart.unwrap(), &all, Plan::Sequential(CodePath::best()));
        let view = Spec::parse("uart-conversation", &map, &options, None, &names).unwrap();
        let found = found_raw(&view, &all, Plan::Sequential(CodePath::Portable));
        for class in [0, 1] {
            let plain = plain.iter().filter(|one| one.class == class);
            let plain: Vec<u64> = plain
                .map(|one| match one.value {
                    Value::Number(number) => number,
                    _ => panic!("{one:?}"),
                })
                .collect();
            let runs = found.iter().filter(|one| one.class == class);
            let runs: Vec<u64> = runs
                .flat_map(|one| match &one.value {
                    Value::Words(words) => words.to_vec(),
                    _ => panic!("{one:?}"),
                })
                .collect();
            assert!(!plain.is_empty(), "{seed}");
            assert_eq!(runs, plain, "{seed}");
        }
        let runs: Vec<u64> = found
            .iter()
            .filter(|one| one.class < 2)
            .map(|one| one.start)
            .collect();
        assert!(runs.is_sorted(), "{seed}");
        for plan in [Plan::Parallel(640), Plan::Parallel(20_000)] {
            assert!(found_raw(&view, &all, plan) == found, "{seed} {plan:?}");
        }
        let stored = store(&all);
        let segment = Segment::open(&stored).unwrap();
        let from_store = all_of(Decoding::of_segment(&segment, &view).unwrap());
        assert!(from_store == found, "{seed}, stored");
    }
}

/// A display that reports its position, and a controller that answers.
#[test]
fn a_real_capture_becomes_a_conversation() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/captures/uart_amulet_bootup/bootup.sr");
    let bytes = std::fs::read(file).unwrap();
    let archive = sr::Archive::parse(&bytes, &sr::Limits::default()).unwrap();
    let map = [("rx", "Pin 1"), ("tx", "Pin 3")];
    let options = [("baudrate", "115200")];
    let channels = archive.channels();
    let spec = Spec::parse("uart-conversation", &map, &options, Some("data"), channels).unwrap();
    let mut lines = Vec::new();
    decode::decode_sr(&archive, &spec, &mut |found| {
        lines.extend(found.iter().map(|one| spec.words(one)));
        ControlFlow::Continue(())
    })
    .unwrap();
    let rx = lines.iter().filter(|line| line.starts_with("RX ")).count();
    assert!(0 < rx && rx < lines.len(), "{lines:?}");
    assert!(lines.contains(&"RX D5 34 30 35 36 |.4056|".to_owned()));
    let version = lines.iter().position(|line| line == "RX D2 39 46 |.9F|");
    let version = version.expect("the display is asked for its version");
    assert_eq!(
        lines[version + 1..],
        ["TX E2 39 46 31 2E 32 33 20 00 |.9F1.23 .|", "RX F0 |.|"]
    );
}
