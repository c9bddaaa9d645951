//! `.sr` files: quirks of their metadata, damage of every kind, and bombs.

#[path = "support/traffic.rs"]
#[allow(dead_code, reason = "the equality tests use all of it")]
mod traffic;

use decode::sr::{Archive, Limits, Recording, SrError, Writer, load_edges};
use decode::{DecodeError, Spec, decode_sr};
use std::ops::ControlFlow;
use traffic::Rng;

/// Offset of the unpacked size in a directory record.
const SIZE_AT: usize = 24;

/// A zip archive of stored entries.
fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut directory = Vec::new();
    for (name, bytes) in entries {
        let at = u32::try_from(file.len()).expect("small").to_le_bytes();
        let size = u32::try_from(bytes.len()).expect("small").to_le_bytes();
        let name_len = u16::try_from(name.len()).expect("small").to_le_bytes();
        let mut header = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        header.extend(libdeflater::crc32(bytes).to_le_bytes());
        header.extend(size);
        header.extend(size);
        header.extend(name_len);
        header.extend([0, 0]);
        file.extend(b"PK\x03\x04");
        file.extend(&header);
        file.extend(name.as_bytes());
        file.extend(*bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&header);
        directory.extend([0; 10]);
        directory.extend(at);
        directory.extend(name.as_bytes());
    }
    let at = u32::try_from(file.len()).expect("small");
    let len = u32::try_from(directory.len()).expect("small");
    let count = u16::try_from(entries.len()).expect("small").to_le_bytes();
    file.append(&mut directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend(count);
    file.extend(count);
    file.extend(len.to_le_bytes());
    file.extend(at.to_le_bytes());
    file.extend([0, 0]);
    file
}

fn with_metadata(lines: &str) -> Vec<u8> {
    let text = format!("[global]\nsigrok version=0.5\n[device 1]\n{lines}\n");
    zip(&[
        ("version", b"2"),
        ("metadata", text.as_bytes()),
        ("logic-1", &[1, 2, 3]),
    ])
}

fn parse(file: &[u8]) -> Result<Archive<'_>, SrError> {
    Archive::parse(file, &Limits::default())
}

fn error(file: &[u8]) -> SrError {
    parse(file).expect_err("the file is refused")
}

fn all_samples(file: &[u8]) -> Result<Vec<u8>, SrError> {
    let mut all = Vec::new();
    let flow = parse(file)?.visit(&mut |raw| {
        all.extend_from_slice(raw);
        ControlFlow::Continue(())
    })?;
    assert!(flow.is_continue());
    Ok(all)
}

#[test]
fn sample_rates_are_read_as_sigrok_reads_them() {
    for (line, rate) in [
        ("samplerate=5 Hz", Some(5.0)),
        ("samplerate = 200 kHz", Some(200e3)),
        ("samplerate=2 mHz", Some(2e6)),
        ("samplerate=1.5 MHz", Some(1.5e6)),
        ("samplerate=33.333333 MHz", Some(33_333_333.0)),
        ("samplerate=20MHz", Some(20e6)),
        ("samplerate=1 GHz", Some(1e9)),
        ("samplerate=24000000", Some(24e6)),
        ("total probes=1", None),
    ] {
        let file = with_metadata(line);
        assert_eq!(
            parse(&file).expect("sound").sample_rate_hz(),
            rate,
            "{line}"
        );
    }
    for line in [
        "samplerate=",
        "samplerate=fast",
        "samplerate=-1 Hz",
        "samplerate=0",
        "samplerate=1 THz",
    ] {
        let refused = error(&with_metadata(line));
        assert!(
            matches!(
                refused,
                SrError::Metadata {
                    key: "samplerate",
                    ..
                }
            ),
            "{line}: {refused}"
        );
    }
}

#[test]
fn channels_have_names_or_numbers() {
    let lines = " probe1 = Clock #1 \n trigger1 = 0\nprobe4=D\ntotal probes = 5\nunitsize = 1";
    let file = with_metadata(lines);
    let archive = parse(&file).expect("sound");
    assert_eq!(archive.channels(), ["Clock #1", "1", "2", "D", "4"]);
    assert_eq!((archive.unit_size(), archive.total_samples()), (1, 3));
    // Without a number of channels: as many as a sample has bits.
    let file = with_metadata("unitsize=2");
    let archive = parse(&file).expect("sound");
    assert_eq!((archive.channels().len(), archive.total_samples()), (16, 1));
    for lines in [
        "unitsize=0",
        "unitsize=9",
        "total probes=99999",
        "probe0=x",
        "probe70000=x",
    ] {
        let refused = error(&with_metadata(lines));
        assert!(
            matches!(refused, SrError::Metadata { .. }),
            "{lines}: {refused}"
        );
    }
}

#[test]
fn entries_are_read_in_order_and_samples_may_straddle_them() {
    let metadata = b"[device 1]\ncapturefile=logic-1\nunitsize=3\n".as_slice();
    let samples: Vec<u8> = (0..=89).collect();
    let file = zip(&[
        ("logic-1-10", &samples[50..]),
        ("analog-1-1-1", &[9; 40]),
        ("logic-1-2", &samples[4..50]),
        ("logic-1-1", &samples[..4]),
        ("metadata", metadata),
    ]);
    assert_eq!(all_samples(&file).expect("sound"), samples);
    let doubled = zip(&[
        ("logic-1-1", &[1]),
        ("logic-1-01", &[2]),
        ("metadata", metadata),
    ]);
    assert_eq!(
        error(&doubled),
        SrError::RepeatedEntry {
            entry: "logic-1-01".to_owned()
        }
    );
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(error(b""), SrError::NotZip);
    assert_eq!(error(&[0; 100]), SrError::NotZip);
    assert_eq!(error(&zip(&[("logic-1", &[1])])), SrError::NoMetadata);
    let analog_only = zip(&[
        ("metadata", b"[device 1]\n"),
        ("analog-1-1-1", &[1, 2, 3, 4]),
    ]);
    assert_eq!(error(&analog_only), SrError::NoLogic);
}

#[test]
fn limits_hold_before_anything_is_unpacked() {
    let file = Writer::new(1_000_000, &["A"])
        .push(&vec![0; 3_000_000])
        .finish();
    let refused = |limits: Limits| Archive::parse(&file, &limits).expect_err("refused");
    let limits = Limits::default();
    let small = Limits {
        unpacked_bytes_max: 2_000_000,
        ..limits
    };
    assert!(matches!(
        refused(small),
        SrError::TooLarge {
            limit: 2_000_000,
            ..
        }
    ));
    let tight = Limits {
        ratio_max: 10,
        ..limits
    };
    assert!(matches!(refused(tight), SrError::Bomb { limit: 10, .. }));
    let few = Limits {
        entries_max: 2,
        ..limits
    };
    assert_eq!(
        refused(few),
        SrError::TooManyEntries {
            entries: 3,
            limit: 2
        }
    );
    let terse = Limits {
        metadata_bytes_max: 10,
        ..limits
    };
    assert!(matches!(
        refused(terse),
        SrError::TooLarge { limit: 10, .. }
    ));
}

#[test]
fn a_directory_that_lies_about_sizes_is_caught() {
    let samples = vec![0; 3_000_000];
    let file = Writer::new(1_000_000, &["A"]).push(&samples).finish();
    let name_at = file
        .windows(9)
        .rposition(|name| name == b"logic-1-1")
        .expect("it is there");
    for lie in [1u32, 2_999_999, 3_000_001, 20_000_000] {
        let mut lying = file.clone();
        let at = name_at - 46 + SIZE_AT;
        lying[at..at + 4].copy_from_slice(&lie.to_le_bytes());
        // The archive as a whole must not look like a bomb, or that would be the error found.
        lying.splice(0..0, []);
        let limits = Limits {
            ratio_max: u64::MAX,
            ..Limits::default()
        };
        let archive = Archive::parse(&lying, &limits).expect("the directory is well-formed");
        let result = archive.visit(&mut |_| ControlFlow::Continue(()));
        let error = result.expect_err("the lie is found");
        assert!(matches!(error, SrError::WrongSize { .. }), "{lie}: {error}");
    }
}

#[test]
fn damaged_samples_are_noticed() {
    let mut rng = Rng::new(7);
    let samples: Vec<u8> = (0..200_000).map(|_| rng.byte() & 3).collect();
    let file = Writer::new(1_000_000, &["A"]).push(&samples).finish();
    assert_eq!(all_samples(&file).expect("sound"), samples);
    for _ in 0..200 {
        let mut damaged = file.clone();
        let at = usize::try_from(rng.range(400, 40_000)).expect("small");
        damaged[at] ^= 1 << rng.range(0, 8);
        assert!(all_samples(&damaged).is_err(), "a bit flipped at {at}");
    }
}

#[test]
fn truncated_files_are_refused() {
    let file = Writer::new(1_000_000, &["A", "B"])
        .push(&[0, 1, 2, 3])
        .push(&[3; 9])
        .finish();
    for len in 0..file.len() {
        assert!(
            parse(&file[..len]).is_err(),
            "{len} of {} bytes",
            file.len()
        );
    }
}

#[test]
fn garbage_never_panics() {
    let mut rng = Rng::new(1);
    let file = Writer::new(1_000_000, &["A", "B"])
        .push(&[0, 1, 2, 3])
        .push(&[3; 900])
        .finish();
    let stored = with_metadata("unitsize=2\nsamplerate=5 Hz\nprobe1=A");
    let limits = Limits {
        unpacked_bytes_max: 1 << 20,
        ..Limits::default()
    };
    let mut accepted = 0;
    for round in 0..20_000 {
        let mut bytes = if round % 2 == 0 {
            file.clone()
        } else {
            stored.clone()
        };
        for _ in 0..rng.range(1, 6) {
            let at = usize::try_from(rng.next()).expect("64 bit") % bytes.len();
            match rng.range(0, 4) {
                0 => bytes[at] = rng.byte(),
                1 => bytes[at] ^= 1 << rng.range(0, 8),
                2 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, [0, 0xff][round % 2]),
            }
        }
        if let Ok(archive) = Archive::parse(&bytes, &limits) {
            let unit = archive.unit_size();
            let visited = archive.visit(&mut |raw| {
                assert!(raw.len().is_multiple_of(unit));
                ControlFlow::Continue(())
            });
            accepted += usize::from(visited.is_ok());
        }
    }
    assert!(accepted > 100, "only {accepted} inputs got anywhere");
}

#[test]
fn recordings_hold_the_channels_asked_for() {
    let file = Writer::new(2_000_000, &["A", "B", "C"])
        .push(&[0b001, 0b001, 0b011, 0b111])
        .push(&[0b111, 0b101, 0b100])
        .finish();
    let archive = parse(&file).expect("sound");
    let recording = load_edges(&archive, &[2, 0], 100).expect("small enough");
    let edges = vec![(0, 0b10), (3, 0b11), (6, 0b01)];
    assert_eq!(
        recording,
        Recording {
            sample_rate_hz: Some(2e6),
            samples: 7,
            edges
        }
    );
    assert_eq!(
        load_edges(&archive, &[2, 0], 2),
        Err(SrError::TooManyEdges { limit: 2 })
    );
    let missing = SrError::NoChannel {
        channel: 3,
        channels: 3,
    };
    assert_eq!(load_edges(&archive, &[3], 100), Err(missing));
}

/// The reader is some blocks ahead of who looks, and must not wait for one who has left.
#[test]
fn who_has_seen_enough_of_a_long_entry_leaves() {
    let file = Writer::new(1_000_000, &["SCL", "SDA"])
        .push(&vec![3; 40 << 20])
        .finish();
    let archive = parse(&file).expect("sound");
    let mut blocks = 0;
    let flow = archive.visit(&mut |_| {
        blocks += 1;
        ControlFlow::Break(())
    });
    assert!(flow.expect("sound").is_break());
    assert_eq!(blocks, 1);
    let panicked = std::panic::catch_unwind(|| archive.visit(&mut |_| panic!("on purpose")));
    assert!(panicked.is_err());
}

#[test]
fn decoding_can_be_broken_off_and_needs_a_rate_for_a_uart() {
    let samples = traffic::i2c(2_000_000, traffic::Load::Dense, 1);
    let file = Writer::new(1_000_000, &["SCL", "SDA"])
        .push(&samples)
        .finish();
    let archive = parse(&file).expect("sound");
    let map = [("scl", "SCL"), ("sda", "SDA")];
    let spec = Spec::parse("i2c", &map, &[], None, archive.channels()).expect("valid");
    let summary = decode_sr(&archive, &spec, &mut |_| ControlFlow::Break(())).expect("sound");
    assert!(
        summary.stopped && summary.samples < 2_000_000,
        "{summary:?}"
    );

    let spec = |rate: &str| {
        let options = [("baudrate", rate)];
        Spec::parse("uart", &[("rx", "SCL")], &options, None, archive.channels()).expect("valid")
    };
    let decode = |archive: &Archive<'_>, spec: &Spec| {
        decode_sr(archive, spec, &mut |_| ControlFlow::Continue(()))
    };
    let too_fast = decode(&archive, &spec("1000001"));
    assert!(
        matches!(too_fast, Err(DecodeError::SampleRateTooLow { .. })),
        "{too_fast:?}"
    );
    assert!(decode(&archive, &spec("1000000")).is_ok());
    let file = with_metadata("probe1=SCL");
    let unknown = decode(&parse(&file).expect("sound"), &spec("9600"));
    assert!(
        matches!(unknown, Err(DecodeError::NoSampleRate)),
        "{unknown:?}"
    );
}
