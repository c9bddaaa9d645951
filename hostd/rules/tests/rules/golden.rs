//! Golden captures: made, compared edge by edge, and aligned.

use fastrand::Rng;
use pipeline::rules::{Align, Quantity, Time};
use rules::{Golden, Goldens, Judged, Make, Verdict};

use crate::support::Samples;

fn make(samples: &Samples, align: Align) -> Goldens {
    let stored = samples.stored();
    let make = Make {
        channels: &[],
        time: Time(2_000),
        amplitude: Some(Quantity::parse("20mV").unwrap()),
        align,
    };
    let golden = Golden::make(&stored.capture(), &make).unwrap();
    let bytes = golden.to_bytes().unwrap();
    assert_eq!(Golden::read(&bytes).unwrap(), golden);
    let mut goldens = Goldens::default();
    goldens.add("good.json", &bytes).unwrap();
    goldens
}

fn compare(good: &Samples, align: Align, other: &Samples) -> Judged {
    let goldens = make(good, align);
    other
        .stored()
        .judged("golden: { file: good.json }", &goldens)
}

fn of(levels: &[&str]) -> Samples {
    Samples::of(levels)
}

#[test]
fn edges_are_compared_one_by_one() {
    let good = of(&["000000011110000000011111110000000"]);
    let told = |levels: &str| {
        let judged = compare(&good, Align::Trigger, &of(&[levels]));
        (judged.verdict, judged.seen, judged.found)
    };
    let (verdict, seen, _) = told("000000011110000000011111110000000");
    assert_eq!(
        (verdict, &*seen),
        (
            Verdict::Passed,
            "4 edges as they were, aligned by the trigger"
        )
    );
    // 2 samples late, and 3.
    assert_eq!(told("000000011110000000000111110000000").0, Verdict::Passed);
    let (verdict, seen, found) = told("000000011110000000000011110000000");
    assert_eq!((verdict, found), (Verdict::Failed, 1));
    assert!(
        seen.starts_with("the rising edge of a at 22 us is 3 us late; 1 place wrong, 3 edges as"),
        "{seen}"
    );
    let (_, seen, found) = told("000000011110000000000000000000000");
    assert_eq!(found, 2);
    assert!(
        seen.starts_with("the rising edge of a at 19 us is missing; 2 places"),
        "{seen}"
    );
    let (_, seen, found) = told("000000011110010000011111110000000");
    assert_eq!(found, 2);
    assert!(
        seen.starts_with("a has another rising edge at 13 us; 2 places"),
        "{seen}"
    );
    let (_, seen, _) = told("111111100001111111100000001111111");
    assert!(
        seen.starts_with("a begins high, where it was low"),
        "{seen}"
    );
    // The capture ends before the last two edges.
    let (verdict, seen, found) = told("00000001111000000");
    assert_eq!((verdict, found), (Verdict::Failed, 2));
    assert!(seen.contains("at 19 us is missing"), "{seen}");
}

#[test]
fn a_margin_says_how_near_it_was() {
    let good = of(&["000000011111111000000"]);
    let judged = compare(&good, Align::Trigger, &of(&["000000001111111000000"]));
    assert!((judged.margin.unwrap().value - 1e-6).abs() < 1e-12);
    assert_eq!(judged.place.unwrap().from_sample, 8);
    let judged = compare(&good, Align::Trigger, &of(&["000011111111111000000"]));
    assert!((judged.margin.unwrap().value + 1e-6).abs() < 1e-12);
    let place = judged.place.unwrap();
    assert_eq!((place.from_sample, place.to_sample), (4, 7));
}

#[test]
fn captures_are_laid_over_each_other_as_is_asked() {
    let signal = "0001110000001111100011";
    let quiet = |count: usize| "0".repeat(count);
    let good = of(&[&format!("{}{signal}{}", quiet(10), "1".repeat(9))]);
    let late = of(&[&format!("{}{signal}{}", quiet(31), "1".repeat(30))]);
    assert_eq!(
        compare(&good, Align::Trigger, &late).verdict,
        Verdict::Failed
    );
    for align in [Align::FirstEdge, Align::Best] {
        let judged = compare(&good, align, &late);
        assert_eq!(judged.verdict, Verdict::Passed, "{judged:?}");
        assert!(judged.seen.contains("(21 us)"), "{}", judged.seen);
    }
    // A spike before it is the first edge; most edges fit all the same, and the spike is one too many.
    let spiked = of(&[&format!(
        "{}1{}{signal}{}",
        quiet(26),
        quiet(4),
        "1".repeat(30)
    )]);
    let judged = compare(&good, Align::Best, &spiked);
    assert!(
        judged.seen.contains("(21 us)") && judged.found == 2,
        "{}",
        judged.seen
    );
    assert!(compare(&good, Align::FirstEdge, &spiked).found > 2);
    let flat = of(&[&quiet(50)]);
    let judged = compare(&good, Align::Best, &flat);
    assert_eq!(judged.verdict, Verdict::Error);
    assert!(
        judged.seen.contains("use `align: trigger`"),
        "{}",
        judged.seen
    );
    // The triggers, where each has its own.
    let (mut good, mut late) = (good, late);
    (good.trigger, late.trigger) = (10, 31);
    assert_eq!(
        compare(&good, Align::Trigger, &late).verdict,
        Verdict::Passed
    );
}

#[test]
fn rates_may_differ() {
    let good = of(&["000000011110000000011111110000000"]);
    let mut fast = of(&[""]);
    fast.rate_hz = 4_000_000;
    fast.words = good.words.iter().flat_map(|word| [*word; 4]).collect();
    assert_eq!(
        compare(&good, Align::Trigger, &fast).verdict,
        Verdict::Passed
    );
    fast.words.splice(0..0, [0; 9]);
    assert_eq!(
        compare(&good, Align::Trigger, &fast).verdict,
        Verdict::Failed
    );
}

#[test]
fn values_stay_as_near_as_the_amplitude_says() {
    let ramp: Vec<u16> = (0..200).map(|at| 1000 + at * 10).collect();
    let good = Samples::analog(&ramp);
    let mut other = ramp.clone();
    // 20 mV, and what two samples of the ramp are.
    other[100] += 40;
    assert_eq!(
        compare(&good, Align::Trigger, &Samples::analog(&other)).verdict,
        Verdict::Passed
    );
    other[95..106].iter_mut().for_each(|value| *value += 60);
    let judged = compare(&good, Align::Trigger, &Samples::analog(&other));
    assert_eq!(judged.verdict, Verdict::Failed, "{judged:?}");
    assert!(judged.seen.starts_with("ADC is "), "{}", judged.seen);
}

#[test]
fn a_file_that_is_none_is_refused() {
    for (text, says) in [
        ("", "make it by `hostd golden`"),
        ("{}", "missing field"),
        (
            "{\"hostd_golden\":2,\"trigger_s\":0,\"align\":\"trigger\",\"time_ns\":0}",
            "form 2",
        ),
        (
            "{\"hostd_golden\":1,\"trigger_s\":0,\"align\":\"trigger\",\"time_ns\":-1}",
            "out of its bounds",
        ),
        (
            "{\"hostd_golden\":1,\"trigger_s\":0,\"align\":\"trigger\",\"time_ns\":1,\"logic\":[{\"name\":\"a\",\"sample_rate_hz\":0,\"samples\":1,\"level\":0,\"edges\":[]}]}",
            "out of its bounds",
        ),
        (
            "{\"hostd_golden\":1,\"trigger_s\":0,\"align\":\"trigger\",\"time_ns\":1,\"logic\":[{\"name\":\"a\",\"sample_rate_hz\":1,\"samples\":9,\"level\":0,\"edges\":[18446744073709551615,2]}]}",
            "out of its bounds",
        ),
    ] {
        let refused = Golden::read(text.as_bytes()).unwrap_err().to_string();
        assert!(refused.contains(says), "{text}: {refused}");
    }
    let large = vec![b' '; rules::limits::GOLDEN_BYTES_MAX + 1];
    assert!(
        Golden::read(&large)
            .unwrap_err()
            .to_string()
            .contains("more than")
    );
}

/// Where nothing happens near the ends, a capture is golden if each channel has the same edges, each as near as the tolerance.
#[test]
fn verdicts_are_those_of_edge_lists() {
    let mut rng = Rng::with_seed(5);
    let mut seen = [0; 2];
    for _ in 0..400 {
        let gap = |rng: &mut Rng| rng.usize(1..30);
        let list = |rng: &mut Rng| {
            let mut at = 10;
            let count = rng.usize(0..8);
            (0..count)
                .map(|_| {
                    at += gap(rng);
                    at
                })
                .collect::<Vec<usize>>()
        };
        let good: Vec<Vec<usize>> = (0..2).map(|_| list(&mut rng)).collect();
        let mut other = good.clone();
        for edges in &mut other {
            for edge in edges.iter_mut() {
                if rng.u32(..6) == 0 {
                    *edge = edge.saturating_add_signed(rng.isize(-3..=3));
                }
            }
            edges.sort_unstable();
            edges.dedup();
        }
        let drawn = |lists: &[Vec<usize>]| {
            let mut samples = of(&["", ""]);
            samples.words = (0..300)
                .map(|at| {
                    let lanes = lists.iter().enumerate();
                    lanes.fold(0, |word, (lane, edges)| {
                        let before = edges.iter().filter(|edge| **edge <= at).count();
                        word | u16::from(before % 2 == 1) << lane
                    })
                })
                .collect();
            samples
        };
        let is_same = good
            .iter()
            .zip(&other)
            .all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= 2));
        let judged = compare(&drawn(&good), Align::Trigger, &drawn(&other));
        assert_eq!(
            judged.verdict == Verdict::Passed,
            is_same,
            "{good:?} {other:?} {judged:?}"
        );
        seen[usize::from(is_same)] += 1;
    }
    assert!(seen[0] > 50 && seen[1] > 50, "{seen:?}");
}
