//! The evaluation on the store is that of a naive evaluator on every sample, for random captures.

use fastrand::Rng;
use pipeline::rules::parse;
use rules::{Goldens, Verdict};

use crate::naive;
use crate::support::Samples;

/// Captures for each kind of rule.
const ROUNDS: u64 = 600;

fn capture(rng: &mut Rng) -> Samples {
    let length = rng.usize(1..400);
    let mut word = rng.u16(..8);
    // From signals that change all the time to such that rarely do.
    let rest = rng.u32(1..40);
    let words = (0..length).map(|_| {
        if rng.u32(..rest) == 0 {
            word ^= 1 << rng.u32(..3);
        }
        word
    });
    let words = words.collect();
    let mut level = rng.i32(2500..3500);
    let counts = (0..length).map(|_| {
        level += rng.i32(-60..=60) + (3000 - level) / 8;
        u16::try_from(level.clamp(0, 5000)).unwrap()
    });
    Samples {
        counts: counts.collect(),
        rate_hz: [1_000_000, 12_000_000, 4_800_000, 333_333][rng.usize(..4)],
        words,
        names: vec!["a", "b", "c"],
        trigger: if rng.bool() {
            0
        } else {
            rng.u32(..u32::try_from(length).unwrap())
        },
    }
}

/// A time of so many samples, more or less.
fn time(rng: &mut Rng, samples: &Samples, most: i64) -> String {
    let whole = rng.i64(0..=most) * 1_000_000_000 / i64::from(samples.rate_hz);
    let ns = (whole + rng.i64(-1..=1)).max(1);
    format!("{ns}ns")
}

fn edge(rng: &mut Rng) -> String {
    let channel = ["a", "b", "c"][rng.usize(..3)];
    let direction = ["rising", "falling", "any"][rng.usize(..3)];
    format!("{channel} {direction}")
}

fn when(rng: &mut Rng) -> &'static str {
    ["always", "once"][rng.usize(..2)]
}

fn rule(rng: &mut Rng, kind: &str, samples: &Samples) -> String {
    let channel = ["a", "b", "c"][rng.usize(..3)];
    match kind {
        "frequency" => {
            let value = u64::from(samples.rate_hz) / rng.u64(2..60);
            let tolerance = match rng.bool() {
                true => format!("{}%", rng.u32(0..150)),
                false => format!("{}Hz", value / rng.u64(1..10)),
            };
            format!("frequency: {{ channel: {channel}, value: {value}Hz, tolerance: {tolerance} }}")
        }
        "duty" => {
            let (value, tolerance) = (rng.u32(20..80), rng.u32(0..40));
            format!("duty: {{ channel: {channel}, value: {value}%, tolerance: {tolerance}% }}")
        }
        "within" => {
            let (one, other, when) = (edge(rng), edge(rng), when(rng));
            let time = time(rng, samples, 60);
            format!("within: {{ edge: {one}, after: {other}, time: {time}, when: {when} }}")
        }
        "count" => {
            let (edge, min) = (edge(rng), rng.u32(0..20));
            let max = min + rng.u32(0..30);
            format!("count: {{ edge: {edge}, min: {min}, max: {max} }}")
        }
        "pulse" => {
            let level = ["", ", level: high", ", level: low"][rng.usize(..3)];
            match rng.bool() {
                true => format!(
                    "pulse: {{ channel: {channel}{level}, min: {} }}",
                    time(rng, samples, 5)
                ),
                false => format!(
                    "pulse: {{ channel: {channel}{level}, max: {} }}",
                    time(rng, samples, 200)
                ),
            }
        }
        "level" => {
            let is = ["high", "low"][rng.usize(..2)];
            let at = time(rng, samples, 80);
            match rng.bool() {
                true => format!("level: {{ channel: {channel}, is: {is}, at: {at} }}"),
                false => {
                    let (edge, when) = (edge(rng), when(rng));
                    format!(
                        "level: {{ channel: {channel}, is: {is}, at: {at}, after: {edge}, when: {when} }}"
                    )
                }
            }
        }
        "analog" => {
            let (min, max) = (rng.u32(2500..3000), rng.u32(3000..3500));
            format!("analog: {{ channel: ADC, min: {min}mV, max: {max}mV }}")
        }
        _ => {
            let (tolerance, within) = (rng.u32(1..400), time(rng, samples, 300));
            let after = match rng.bool() {
                true => String::new(),
                false => format!(", after: {}", edge(rng)),
            };
            format!(
                "settles: {{ channel: ADC, to: 3V, tolerance: {tolerance}mV, within: {within}{after} }}"
            )
        }
    }
}

/// The part of the capture that a rule looks at.
fn range(rng: &mut Rng, samples: &Samples) -> String {
    let length = i64::try_from(samples.words.len()).unwrap();
    let mut range = String::new();
    if rng.u32(..3) == 0 {
        range += &format!("from: {}, ", time(rng, samples, length / 3));
    }
    if rng.u32(..3) == 0 {
        range += &format!("to: {}, ", time(rng, samples, length));
    }
    range
}

#[test]
fn rules_come_to_the_same_sample_by_sample() {
    let kinds = [
        "frequency",
        "duty",
        "within",
        "count",
        "pulse",
        "level",
        "analog",
        "settles",
    ];
    let mut rng = Rng::with_seed(32);
    for kind in kinds {
        // Of passes, failures and errors.
        let mut seen = [0; 3];
        for _ in 0..ROUNDS {
            let samples = capture(&mut rng);
            let one = format!(
                "{}{}",
                range(&mut rng, &samples),
                rule(&mut rng, kind, &samples)
            );
            let text = format!("version: 1\nrules: [{{ name: it, {one} }}]");
            // A range may begin behind its end.
            let Ok(file) = parse(&text) else { continue };
            let report = samples.stored().report(&file, &Goldens::default());
            let judged = &report.rules[0];
            let wanted = match naive::holds(&samples, &file.rules()[0]) {
                Some(true) => Verdict::Passed,
                Some(false) => Verdict::Failed,
                None => Verdict::Error,
            };
            // A frequency of no edge at all is none to the naive one.
            if kind == "frequency" && judged.seen.starts_with("no rising edge") {
                continue;
            }
            assert_eq!(
                judged.verdict,
                wanted,
                "{one} on {} samples at {}: {judged:?}",
                samples.words.len(),
                samples.rate_hz
            );
            if let Some(margin) = judged.margin {
                // What rounding leaves of 0 is on the bound.
                let rounding = if margin.unit == "s" { 1e-14 } else { 1e-9 };
                let is_over = margin.value >= -rounding;
                assert_eq!(is_over, wanted == Verdict::Passed, "{one}: {judged:?}");
            }
            seen[wanted as usize] += 1;
        }
        assert!(seen[0] > 20 && seen[1] > 20, "{kind}: {seen:?}");
    }
}

/// Long captures have many blocks: what is found in the middle of one is found across two.
#[test]
fn blocks_do_not_show() {
    let block = usize::try_from(decode::segment::BLOCK_SAMPLES).unwrap();
    let mut samples = Samples::of(&[""]);
    samples.words = vec![0; 2 * block + 100];
    samples.counts = vec![3000; 2 * block + 100];
    for at in block - 3..block + 2 {
        samples.words[at] = 1;
        samples.counts[at] = 3100;
    }
    let stored = samples.stored();
    let none = Goldens::default();
    let at = (block - 3) as u64;
    for (rule, verdict, from, to) in [
        (
            "pulse: { channel: a, level: high, min: 5us, max: 5us }",
            Verdict::Passed,
            at,
            at + 5,
        ),
        (
            "pulse: { channel: a, level: high, min: 6us }",
            Verdict::Failed,
            at,
            at + 5,
        ),
        (
            "analog: { channel: ADC, max: 3.05V }",
            Verdict::Failed,
            at,
            at + 4,
        ),
        (
            "settles: { channel: ADC, to: 3V, tolerance: 50mV, within: 1h }",
            Verdict::Passed,
            0,
            at + 5,
        ),
        (
            "count: { edge: a any, min: 3 }",
            Verdict::Failed,
            0,
            samples.words.len() as u64 - 1,
        ),
    ] {
        let judged = stored.judged(rule, &none);
        assert_eq!(judged.verdict, verdict, "{rule}: {judged:?}");
        let place = judged.place.unwrap();
        assert_eq!((place.from_sample, place.to_sample), (from, to), "{rule}");
    }
}
