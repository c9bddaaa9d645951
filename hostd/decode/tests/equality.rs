//! Every path through the crate gives the same result as the naive decoders: AVX2, portable
//! arithmetic, chunks of any size on all threads, blocks split anywhere, samples of any width, and
//! stored segments; on orderly traffic and on noise.

#[path = "support/naive.rs"]
mod naive;
#[path = "support/traffic.rs"]
mod traffic;

use decode::segment::{Encoder, EncoderSpec, Segment};
use decode::{Annotation, CodePath, Plan, RawDecoder, Spec};
use naive::{SpiRules, UartRules};
use std::ops::ControlFlow;
use traffic::{Load, Rng, noise};

const RATE_HZ: f64 = 1e6;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|index| index.to_string()).collect()
}

fn spec(protocol: &str, map: &[(&str, &str)], options: &[(&str, &str)]) -> Spec {
    Spec::parse(protocol, map, options, None, &names(64)).expect("the spec is valid")
}

fn run(spec: &Spec, plan: Plan, unit: usize, pieces: &[&[u8]]) -> Vec<Annotation> {
    let mut decoder = RawDecoder::new(spec, Some(RATE_HZ), unit, plan).expect("the rate is enough");
    let mut all = Vec::new();
    let mut sink = |part: &[Annotation]| {
        all.extend_from_slice(part);
        ControlFlow::Continue(())
    };
    for piece in pieces {
        assert!(decoder.feed(piece, &mut sink).is_continue());
    }
    assert!(decoder.finish(&mut sink).1.is_continue());
    all
}

/// The same samples in wider words; the other bits are noise that must not matter.
fn widen(samples: &[u8], unit: usize, shift: usize, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut wide = Vec::with_capacity(samples.len() * unit);
    for sample in samples {
        let other = rng.next() & !(0xff << shift);
        let word = other | u64::from(*sample) << shift;
        wide.extend_from_slice(&word.to_le_bytes()[..unit]);
    }
    wide
}

fn assert_same(what: &str, got: &[Annotation], expected: &[Annotation]) {
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert_eq!(got, expected, "{what}, annotation {index}");
    }
    assert_eq!(got.len(), expected.len(), "{what}");
}

fn random_cut<'a>(raw: &'a [u8], unit: usize, rng: &mut Rng) -> Vec<&'a [u8]> {
    let mut rest = raw;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let longest = match rng.range(0, 3) {
            0 => 3,
            1 => 70,
            _ => 5000,
        };
        let samples = usize::try_from(rng.range(0, longest)).expect("small");
        let (piece, later) = rest.split_at(rest.len().min(samples * unit));
        pieces.push(piece);
        rest = later;
    }
    pieces
}

/// Checks all paths. `spec_at` makes the spec for lines that start at a given bit.
fn check(what: &str, samples: &[u8], expected: &[Annotation], spec_at: &dyn Fn(usize) -> Spec) {
    assert!(!expected.is_empty(), "{what}: a comparison of nothing");
    let spec = spec_at(0);
    let mut rng = Rng::new(samples.len() as u64);
    for path in [CodePath::Portable, CodePath::Avx2] {
        let plan = Plan::Sequential(path);
        assert_same(what, &run(&spec, plan, 1, &[samples]), expected);
        let pieces = random_cut(samples, 1, &mut rng);
        assert_same(
            &format!("{what}, cut"),
            &run(&spec, plan, 1, &pieces),
            expected,
        );
    }
    for chunk in [64, 192, 1000, 20_000, 1 << 20] {
        let got = run(&spec, Plan::Parallel(chunk), 1, &[samples]);
        assert_same(&format!("{what}, chunks of {chunk}"), &got, expected);
    }
    let pieces = random_cut(samples, 1, &mut rng);
    assert_same(what, &run(&spec, Plan::Parallel(640), 1, &pieces), expected);
    for (unit, shift) in [
        (2, 0),
        (2, 7),
        (3, 11),
        (4, 24),
        (5, 3),
        (6, 40),
        (7, 41),
        (8, 56),
    ] {
        let wide = widen(samples, unit, shift, 1);
        let spec = spec_at(shift);
        for plan in [
            Plan::Sequential(CodePath::Avx2),
            Plan::Sequential(CodePath::Portable),
        ] {
            let got = run(&spec, plan, unit, &random_cut(&wide, unit, &mut rng));
            assert_same(&format!("{what}, {unit} bytes"), &got, expected);
        }
    }
    let mut encoder = Encoder::new(EncoderSpec {
        channels: 8,
        sample_rate_hz: RATE_HZ,
    });
    let encoder = encoder.as_mut().expect("the spec is valid");
    for piece in random_cut(samples, 1, &mut rng) {
        encoder.push_raw(piece, 1);
    }
    let spare = Encoder::new(EncoderSpec {
        channels: 1,
        sample_rate_hz: 1.0,
    })
    .expect("valid");
    let stored = std::mem::replace(encoder, spare).finish();
    let segment = Segment::open(&stored).expect("what was just written is sound");
    let mut got = Vec::new();
    let decoded = decode::decode_segment(&segment, &spec, &mut |part| {
        got.extend_from_slice(part);
        ControlFlow::Continue(())
    });
    assert_eq!(
        decoded.expect("the segment is sound").samples,
        samples.len() as u64
    );
    assert_same(&format!("{what}, stored"), &got, expected);
}

fn lines(roles: &[&'static str], shift: usize) -> Vec<(&'static str, String)> {
    let numbered = roles.iter().enumerate();
    numbered
        .map(|(index, role)| (*role, (index + shift).to_string()))
        .collect()
}

fn spec_of(
    protocol: &'static str,
    roles: &'static [&'static str],
    options: Vec<(&'static str, String)>,
) -> impl Fn(usize) -> Spec {
    move |shift| {
        let map = lines(roles, shift);
        let map: Vec<(&str, &str)> = map
            .iter()
            .filter(|(role, _)| !role.is_empty())
            .map(|(role, channel)| (*role, channel.as_str()))
            .collect();
        let options: Vec<(&str, &str)> = options
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        spec(protocol, &map, &options)
    }
}

#[test]
fn i2c_is_the_same_on_every_path() {
    let spec_at = spec_of("i2c", &["scl", "sda"], Vec::new());
    for (seed, load) in [(1, Load::Dense), (2, Load::Mixed), (3, Load::Sparse)] {
        let samples = traffic::i2c(300_017, load, seed);
        check(
            &format!("{load:?}"),
            &samples,
            &naive::i2c(&samples),
            &spec_at,
        );
    }
    for seed in 0..6 {
        let samples = noise(
            20_000 + usize::try_from(seed).expect("small"),
            2 + seed * seed * 9,
            seed,
        );
        check(
            &format!("noise {seed}"),
            &samples,
            &naive::i2c(&samples),
            &spec_at,
        );
    }
}

/// A clock that runs without a START or STOP for longer than what is put aside, then traffic, and so on; the end within a byte.
fn mostly_clock(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut samples = Vec::new();
    for load in [Load::Dense, Load::Mixed, Load::Dense, Load::Dense] {
        let count = usize::try_from(rng.range(500_000, 1_500_000)).expect("small");
        samples.extend(traffic::i2c(count, load, seed + 7));
        let mut data = 0;
        for _ in 0..rng.range(10_000, 120_000) {
            if rng.range(0, 3) == 0 {
                data ^= 2;
            }
            samples.extend([data, data, data | 1]);
        }
    }
    samples
}

/// A chip that stays selected for longer than what is put aside, between transfers as usual.
fn mostly_selected(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut samples = traffic::spi(700_000, 3, seed);
    let mut data = 0;
    for at in 0..2_500_000 {
        if rng.range(0, 3) == 0 {
            data ^= 12;
        }
        samples.push(data | u8::from(at % 2 == 0));
    }
    samples.extend(traffic::spi(700_000, 2, seed + 1));
    samples
}

/// Parts of several blocks, decoded side by side without knowing what came before, on one thread and on several.
fn check_parts(spec: &Spec, captures: &[Vec<u8>]) {
    for (number, samples) in captures.iter().enumerate() {
        let plan = Plan::Sequential(CodePath::Portable);
        let expected = run(spec, plan, 1, &[samples]);
        assert!(expected.len() > 1000, "capture {number} has something");
        let mut encoder = Encoder::new(EncoderSpec {
            channels: 8,
            sample_rate_hz: RATE_HZ,
        })
        .expect("the spec is valid");
        encoder.push_raw(samples, 1);
        let stored = encoder.finish();
        let whole = Segment::open(&stored).expect("sound");
        // Without an index, each block is a part.
        let torn = Segment::recover(&stored).expect("the header is there");
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().expect("threads can be started");
            for segment in [&whole, &torn] {
                let mut got = Vec::new();
                let decoded = pool.install(|| {
                    decode::decode_segment(segment, spec, &mut |part| {
                        got.extend_from_slice(part);
                        ControlFlow::Continue(())
                    })
                });
                assert!(decoded.is_ok_and(|summary| !summary.stopped));
                assert_same(&format!("capture {number}"), &got, &expected);
            }
            // It is asked often whether to go on, and stops at once.
            let mut asked = 0;
            let decoded = pool.install(|| {
                decode::decode_segment(&whole, spec, &mut |_| {
                    asked += 1;
                    match asked {
                        1 => ControlFlow::Continue(()),
                        _ => ControlFlow::Break(()),
                    }
                })
            });
            let decoded = decoded.expect("sound");
            assert!(asked == 2 && decoded.stopped && decoded.samples < samples.len() as u64);
        }
    }
}

#[test]
fn stored_i2c_is_the_same_in_parts() {
    let map = [("scl", "0"), ("sda", "1")];
    let spec = Spec::parse("i2c", &map, &[], Some("addr-data"), &names(8)).expect("valid");
    let captures = [
        traffic::i2c(9_000_000, Load::Dense, 4),
        traffic::i2c(150_000_000, Load::Sparse, 5),
        mostly_clock(1),
        mostly_clock(2),
        noise(3_000_000, 3, 9),
        noise(12_000_000, 90, 10),
    ];
    check_parts(&spec, &captures);
}

#[test]
fn what_stands_on_a_decoder_is_the_same_in_parts() {
    let map = [("scl", "0"), ("sda", "1")];
    let parts: Vec<String> = (8..120).map(|at| format!("ds1307@{at}")).collect();
    let options = [("parts", &*parts.join(","))];
    let spec = Spec::parse("i2c-registers", &map, &options, None, &names(8)).expect("valid");
    check_parts(&spec, &[traffic::i2c(9_000_000, Load::Dense, 4)]);
}

#[test]
fn stored_spi_is_the_same_in_parts() {
    let map = [("clk", "0"), ("cs", "1"), ("mosi", "2"), ("miso", "3")];
    let shown = Some("mosi-data,miso-data,mosi-transfer,miso-transfer");
    let spec = Spec::parse("spi", &map, &[], shown, &names(8)).expect("valid");
    let captures = [
        traffic::spi(4_000_000, 4, 1),
        mostly_selected(3),
        noise(3_000_000, 3, 9),
        noise(12_000_000, 90, 10),
    ];
    check_parts(&spec, &captures);
}

#[test]
fn spi_is_the_same_on_every_path() {
    for (seed, (has_cs, mode, lsb_first, word_bits)) in (0u64..).zip([
        (true, "0", false, 8),
        (false, "0", false, 8),
        (true, "1", true, 5),
        (false, "1", true, 13),
        (true, "0", true, 64),
        (false, "0", false, 1),
    ]) {
        let rules = SpiRules {
            has_cs,
            sample_rising: mode == "0",
            lsb_first,
            word_bits,
        };
        let order = if lsb_first { "lsb-first" } else { "msb-first" };
        let options = vec![
            ("cpha", mode.to_owned()),
            ("bitorder", order.to_owned()),
            ("wordsize", word_bits.to_string()),
        ];
        let roles: &[&str] = if has_cs {
            &["clk", "cs", "mosi", "miso"]
        } else {
            &["clk", "", "mosi", "miso"]
        };
        let spec_at = spec_of("spi", roles, options);
        let samples = traffic::spi(80_011, 1 + seed, seed);
        check(
            &format!("rules {seed}"),
            &samples,
            &naive::spi(&samples, rules),
            &spec_at,
        );
        let samples = noise(30_003, 2 + seed * 7, seed);
        check(
            &format!("noise {seed}"),
            &samples,
            &naive::spi(&samples, rules),
            &spec_at,
        );
    }
}

#[test]
fn uart_is_the_same_on_every_path() {
    for (seed, (baud_rate, data_bits, even_parity)) in (0u64..).zip([
        (41_666.0, 8, false),
        (115_200.0, 8, true),
        (120_000.0, 7, false),
        (300_000.0, 5, true),
        (9_600.0, 9, false),
        (700_000.0, 8, false),
    ]) {
        let width = RATE_HZ / baud_rate;
        let frame_bits = 1.0 + f64::from(data_bits) + f64::from(u8::from(even_parity)) + 1.0;
        let rules = UartRules {
            width,
            data_bits,
            even_parity,
            frame_bits,
        };
        let parity = if even_parity { "even" } else { "none" };
        let options = vec![
            ("baudrate", baud_rate.to_string()),
            ("data_bits", data_bits.to_string()),
            ("parity", parity.to_owned()),
        ];
        let spec_at = spec_of("uart", &["rx", "tx"], options);
        let rx = traffic::uart(100_009, width, 0, seed);
        let tx = traffic::uart(100_009, width * 1.01, 3000, seed + 100);
        let samples: Vec<u8> = rx.iter().zip(&tx).map(|(rx, tx)| rx | tx << 1).collect();
        check(
            &format!("rules {seed}"),
            &samples,
            &naive::uart(&samples, rules),
            &spec_at,
        );
        let samples = noise(30_003, 2 + seed * seed * 20, seed);
        check(
            &format!("noise {seed}"),
            &samples,
            &naive::uart(&samples, rules),
            &spec_at,
        );
    }
}
