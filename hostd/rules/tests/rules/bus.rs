//! Rules about buses: addresses, and sequences of bytes.

use decode::{CodePath, Plan, RawDecoder, Spec, Value};
use fastrand::Rng;
use rules::Verdict;
use std::ops::ControlFlow;

use crate::support::{Samples, file};

/// Draws a bus sample by sample.
#[derive(Default)]
struct Pen {
    words: Vec<u16>,
    word: u16,
}

const SCL: u16 = 1;
const SDA: u16 = 2;

impl Pen {
    fn hold(&mut self, samples: usize) {
        self.words.extend(std::iter::repeat_n(self.word, samples));
    }

    fn set(&mut self, mask: u16, level: bool) {
        self.word = if level {
            self.word | mask
        } else {
            self.word & !mask
        };
        self.hold(2);
    }

    fn bit(&mut self, bit: bool) {
        self.set(SDA, bit);
        self.set(SCL, true);
        self.set(SCL, false);
    }

    fn byte(&mut self, byte: u8, ack: bool) {
        for bit in (0..8).rev() {
            self.bit(byte >> bit & 1 != 0);
        }
        self.bit(!ack);
    }

    fn start(&mut self) {
        self.set(SDA, true);
        self.set(SCL, true);
        self.set(SDA, false);
        self.set(SCL, false);
    }

    fn stop(&mut self) {
        self.set(SDA, false);
        self.set(SCL, true);
        self.set(SDA, true);
    }

    fn transfer(&mut self, address: u8, ack: bool, bytes: &[u8]) {
        self.start();
        self.byte(address << 1, ack);
        for byte in bytes {
            self.byte(*byte, true);
        }
        self.stop();
    }

    /// 8N1 on the first channel, 8 samples a bit.
    fn character(&mut self, byte: u8) {
        let bits = (0..8).map(|bit| byte >> bit & 1 != 0);
        for level in [false].into_iter().chain(bits).chain([true]) {
            self.word = u16::from(level);
            self.hold(8);
        }
    }

    fn samples(self, names: &[&'static str]) -> Samples {
        let mut samples = Samples::of(&[]);
        samples.words = self.words;
        samples.names = names.to_vec();
        samples
    }
}

fn i2c(draw: impl FnOnce(&mut Pen)) -> Samples {
    let mut pen = Pen {
        word: SCL | SDA,
        ..Pen::default()
    };
    pen.hold(5);
    draw(&mut pen);
    pen.hold(5);
    pen.samples(&["scl", "sda"])
}

fn verdict(samples: &Samples, rule: &str) -> (Verdict, String) {
    let judged = samples.judged(rule);
    (judged.verdict, judged.seen)
}

#[test]
fn an_address_is_answered_or_not() {
    let samples = i2c(|pen| {
        pen.transfer(0x76, true, &[0xd0]);
        pen.transfer(0x50, false, &[]);
        pen.transfer(0x76, true, &[0xd0, 0x60]);
    });
    let rule = |address: &str, more: &str| {
        verdict(&samples, &format!("i2c: {{ address: {address}, {more} }}"))
    };
    assert_eq!(
        rule("0x76", "answered: true"),
        (Verdict::Passed, "addressed 2 times, answered 2".to_owned())
    );
    assert_eq!(rule("0x50", "answered: false").0, Verdict::Passed);
    let (verdict, seen) = rule("0x50", "answered: true");
    assert_eq!(verdict, Verdict::Failed);
    assert!(
        seen.starts_with("addressed 1 time, answered 0; first at "),
        "{seen}"
    );
    assert_eq!(
        rule("0x51", "answered: true"),
        (
            Verdict::Failed,
            "it is not addressed; there is 3 other addresses".to_owned()
        )
    );
    // Just so: the same address, once not answered.
    let samples = i2c(|pen| {
        pen.transfer(0x76, true, &[]);
        pen.transfer(0x76, false, &[]);
    });
    let judged = samples.judged("i2c: { address: 0x76, answered: true }");
    assert_eq!((judged.verdict, judged.found), (Verdict::Failed, 1));
    assert!(judged.place.unwrap().from_sample > 60);
    assert_eq!(
        samples
            .judged("i2c: { address: 0x76, answered: true, when: once }")
            .verdict,
        Verdict::Passed
    );
}

#[test]
fn bytes_are_seen_within_a_transfer() {
    let samples = i2c(|pen| {
        pen.transfer(0x76, true, &[0xd0, 0x60]);
        pen.transfer(0x50, true, &[0x55, 0xaa, 0x03, 0x01]);
    });
    let rule = |more: &str| samples.judged(&format!("bytes: {{ decoder: i2c, {more} }}"));
    assert_eq!(rule("bytes: D0 60").verdict, Verdict::Passed);
    assert_eq!(
        rule("bytes: \"55 AA ?? 01\", address: 0x50").verdict,
        Verdict::Passed
    );
    assert_eq!(
        rule("bytes: \"55 AA ?? 01\", address: 0x76").verdict,
        Verdict::Failed
    );
    // A stop is between them.
    assert_eq!(rule("bytes: 60 55").verdict, Verdict::Failed);
    let near = rule("bytes: \"55 AA ?? 02\"");
    assert_eq!(near.verdict, Verdict::Failed);
    assert!(
        near.seen
            .contains("not seen in 6 bytes; nearest 55 AA 03 01"),
        "{}",
        near.seen
    );
    assert!(near.seen.ends_with("3 of 4 right"), "{}", near.seen);
    let never = rule("bytes: \"AA ??\", max: 0");
    assert_eq!((never.verdict, never.found), (Verdict::Failed, 1));
    assert_eq!(rule("bytes: AB, max: 0").verdict, Verdict::Passed);
    assert_eq!(
        rule("bytes: \"??\", min: 6, max: 6").verdict,
        Verdict::Passed
    );
    assert_eq!(rule("bytes: \"??\", min: 7").verdict, Verdict::Failed);
}

#[test]
fn characters_are_seen_on_a_line() {
    let mut pen = Pen {
        word: 1,
        ..Pen::default()
    };
    pen.hold(20);
    for byte in b"boot ok" {
        pen.character(*byte);
    }
    pen.hold(20);
    let samples = pen.samples(&["console"]);
    let rule = |bytes: &str| {
        let rule = format!(
            "bytes: {{ decoder: uart, channels: {{ rx: console }}, options: {{ baudrate: 125000 }}, bytes: \"{bytes}\" }}"
        );
        samples.judged(&rule)
    };
    assert_eq!(rule("6F 6B").verdict, Verdict::Passed);
    assert_eq!(rule("6F 6C").verdict, Verdict::Failed);
    let place = rule("62").place.unwrap();
    assert_eq!(place.channel, "console");
    assert!((20..30).contains(&place.from_sample), "{place:?}");
    let wrong = samples.judged("bytes: { decoder: uart, channels: { rx: console }, options: { baudrate: fast }, bytes: 62 }");
    assert_eq!(wrong.verdict, Verdict::Error);
    assert!(wrong.seen.contains("baudrate"), "{}", wrong.seen);
    let wrong = samples.judged("bytes: { decoder: spi, bytes: 62 }");
    assert!(wrong.seen.contains("clk"), "{}", wrong.seen);
}

/// The words that a decoder finds on the samples themselves, by transfer.
fn words(samples: &Samples) -> Vec<Vec<u64>> {
    let names: Vec<String> = samples
        .names
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    let map = [("scl", "scl"), ("sda", "sda")];
    let spec = Spec::parse("i2c", &map, &[], None, &names).unwrap();
    let plan = Plan::Sequential(CodePath::Portable);
    let mut decoder = RawDecoder::new(&spec, Some(1e6), 2, plan).unwrap();
    let mut transfers = vec![Vec::new()];
    let mut sink = |notes: &[decode::Annotation]| {
        for note in notes {
            let class = spec.decoder().classes[usize::from(note.class)].id.as_str();
            match (class, &note.value) {
                ("start" | "stop", _) => transfers.push(Vec::new()),
                ("data-read" | "data-write", Value::Number(word)) => {
                    transfers.last_mut().unwrap().push(*word);
                }
                _ => {}
            }
        }
        ControlFlow::Continue(())
    };
    let raw: Vec<u8> = samples
        .words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let _ = decoder.feed(&raw, &mut sink);
    let _ = decoder.finish(&mut sink);
    transfers
}

#[test]
fn sequences_are_those_of_all_words_one_by_one() {
    let mut rng = Rng::with_seed(7);
    let mut seen = [0; 2];
    for _ in 0..200 {
        let samples = i2c(|pen| {
            for _ in 0..rng.usize(1..6) {
                let bytes: Vec<u8> = (0..rng.usize(0..8)).map(|_| rng.u8(..3)).collect();
                pen.transfer(rng.u8(..3), rng.bool(), &bytes);
            }
        });
        let pattern: Vec<Option<u8>> = (0..rng.usize(1..4))
            .map(|_| (rng.u32(..4) > 0).then(|| rng.u8(..3)))
            .collect();
        let text: Vec<String> = pattern
            .iter()
            .map(|byte| byte.map_or("??".to_owned(), |byte| format!("{byte:02x}")))
            .collect();
        let min = rng.usize(1..4);
        let rule = file(&format!(
            "bytes: {{ decoder: i2c, bytes: \"{}\", min: {min} }}",
            text.join(" ")
        ));
        let is_it = |window: &[u64]| {
            let mut pairs = pattern.iter().zip(window);
            pairs.all(|(byte, word)| byte.is_none_or(|byte| u64::from(byte) == *word))
        };
        let transfers = words(&samples);
        let windows = transfers
            .iter()
            .flat_map(|transfer| transfer.windows(pattern.len()));
        let found = windows.filter(|window| is_it(window)).count();
        let report = samples.stored().report(&rule, &rules::Goldens::default());
        assert_eq!(
            report.has_passed(),
            min <= found,
            "{:?}: {found}",
            report.rules[0]
        );
        seen[usize::from(min <= found)] += 1;
    }
    assert!(seen[0] > 20 && seen[1] > 20, "{seen:?}");
}

/// Transfers to a few addresses, some of them not answered, some cut off by a repeated start or a stop.
fn traffic(rng: &mut Rng) -> Samples {
    i2c(|pen| {
        for _ in 0..rng.usize(0..12) {
            let address = [0x50, 0x51, 0x68, 0x76][rng.usize(..4)];
            let count = rng.usize(0..3);
            let bytes: Vec<u8> = (0..count).map(|_| rng.u8(..)).collect();
            match rng.u32(..6) {
                // The address stops in the middle.
                0 => {
                    pen.start();
                    for bit in 0..rng.u32(1..7) {
                        pen.bit(address >> bit & 1 != 0);
                    }
                    pen.stop();
                }
                // No stop: a repeated start follows, or the end.
                1 => {
                    pen.start();
                    pen.byte(address << 1 | 1, rng.bool());
                }
                _ => pen.transfer(address, rng.bool(), &bytes),
            }
            pen.hold(rng.usize(0..20));
        }
    })
}

/// Addresses with where each begins, where its answer begins, and whether it is one, by looking at every sample.
fn addressed(samples: &Samples) -> Vec<(u8, usize, usize, bool)> {
    let is = |at: usize, mask: u16| samples.words[at] & mask != 0;
    let (mut found, mut bits): (_, Option<Vec<(usize, bool)>>) = (Vec::new(), None);
    for at in 1..samples.words.len() {
        let clock = (is(at - 1, SCL), is(at, SCL));
        let data = (is(at - 1, SDA), is(at, SDA));
        match (clock, data) {
            ((true, true), (true, false)) => bits = Some(Vec::new()),
            ((true, true), (false, true)) => bits = None,
            ((false, true), _) => {
                let Some(seen) = &mut bits else { continue };
                seen.push((at, is(at, SDA)));
                if seen.len() == 9 {
                    let address = seen[..7]
                        .iter()
                        .fold(0, |sum, (_, bit)| sum << 1 | u8::from(*bit));
                    found.push((address, seen[0].0, seen[8].0, !seen[8].1));
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn addresses_are_answered_as_they_are_sample_by_sample() {
    let mut rng = Rng::with_seed(77);
    let mut seen = [0; 3];
    for _ in 0..400 {
        let samples = traffic(&mut rng);
        let address = [0x50, 0x68, 0x77][rng.usize(..3)];
        let (answered, once) = (rng.bool(), rng.bool());
        let judged: Vec<bool> = addressed(&samples)
            .into_iter()
            .filter(|(own, ..)| *own == address)
            .map(|(.., ack)| ack == answered)
            .collect();
        let right = judged.iter().filter(|right| **right).count();
        let wanted = match once {
            _ if judged.is_empty() => false,
            true => right > 0,
            false => right == judged.len(),
        };
        let when = if once { "once" } else { "always" };
        let rule =
            format!("i2c: {{ address: {address:#04x}, answered: {answered}, when: {when} }}");
        let told = samples.judged(&rule);
        assert_eq!(told.verdict == Verdict::Passed, wanted, "{rule}: {told:?}");
        if !wanted {
            assert_eq!(
                told.found,
                (judged.len() - right) as u64,
                "{rule}: {told:?}"
            );
        }
        seen[match (judged.is_empty(), wanted) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        }] += 1;
    }
    assert!(seen.iter().all(|count| *count > 30), "{seen:?}");
}
