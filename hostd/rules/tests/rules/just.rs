//! Each kind of rule holds, and fails by one sample.

use rules::Verdict;

use crate::support::Samples;

/// A rule, a capture on which it holds and one on which it fails, and the places and margins of both.
struct Case {
    rule: &'static str,
    holds: Samples,
    fails: Samples,
    /// First and last sample, and margin in microseconds, hertz, percent, volts or counts.
    near: (u64, u64, f64),
    wrong: (u64, u64, f64),
}

fn check(case: &Case) {
    let told = |samples: &Samples, verdict, (from, to, margin): (u64, u64, f64)| {
        let judged = samples.judged(case.rule);
        assert_eq!(judged.verdict, verdict, "{}: {judged:?}", case.rule);
        let place = judged.place.as_ref().unwrap();
        assert_eq!(
            (place.from_sample, place.to_sample),
            (from, to),
            "{}: {judged:?}",
            case.rule
        );
        let seen = judged.margin.unwrap();
        let scale = if seen.unit == "s" { 1e6 } else { 1.0 };
        assert!(
            (seen.value * scale - margin).abs() < 1e-6,
            "{}: {judged:?}",
            case.rule
        );
        assert_eq!(
            judged.found > 0,
            verdict == Verdict::Failed,
            "{}: {judged:?}",
            case.rule
        );
        assert_eq!(
            judged.places.is_empty() && judged.found > 0,
            judged.found > 0 && is_few(case.rule)
        );
    };
    told(&case.holds, Verdict::Passed, case.near);
    told(&case.fails, Verdict::Failed, case.wrong);
}

/// Too few of something are nowhere in particular.
fn is_few(rule: &str) -> bool {
    rule.contains("count:") && rule.contains("min")
}

fn of(levels: &[&str]) -> Samples {
    Samples::of(levels)
}

#[test]
fn frequency_and_duty() {
    check(&Case {
        rule: "frequency: { channel: a, value: 250kHz, tolerance: 10% }",
        // 3 periods in 13 samples: 230.8 kHz; in 14: 214.3 kHz.
        holds: of(&["011001100110001100"]),
        fails: of(&["0110011001100001100"]),
        near: (9, 14, 25_000.0 - 250_000.0 + 3e6 / 13.0),
        wrong: (9, 15, 25_000.0 - 250_000.0 + 3e6 / 14.0),
    });
    check(&Case {
        rule: "duty: { channel: a, value: 50%, tolerance: 6% }",
        // 5 of 9, 6 of 10 samples are high.
        holds: of(&["0110011100110"]),
        fails: of(&["01100111100110"]),
        near: (5, 10, 6.0 - 5.0 / 9.0 * 100.0 + 50.0),
        wrong: (5, 11, 6.0 - 10.0),
    });
}

#[test]
fn an_edge_within_a_time_of_another() {
    check(&Case {
        rule: "within: { edge: b rising, after: a rising, time: 3us }",
        holds: of(&["0111001110000", "0001100001100"]),
        fails: of(&["0111001110000", "0001100000110"]),
        near: (6, 9, 0.0),
        wrong: (6, 10, -1.0),
    });
    check(&Case {
        rule: "within: { edge: b any, after: a rising, time: 2us, when: once }",
        holds: of(&["0111001110000", "0000000011000"]),
        fails: of(&["0111001110000", "0000000001100"]),
        near: (6, 8, 0.0),
        wrong: (6, 9, -1.0),
    });
    // None comes at all, and the range shows all of the time.
    check(&Case {
        rule: "within: { edge: a falling, after: a rising, time: 3us }",
        holds: of(&["000111000"]),
        fails: of(&["000111111"]),
        near: (3, 6, 0.0),
        wrong: (3, 8, -3.0),
    });
}

#[test]
fn counts_pulses_and_levels() {
    check(&Case {
        rule: "count: { edge: a rising, min: 2 }",
        holds: of(&["0010100"]),
        fails: of(&["0011100"]),
        near: (4, 4, 0.0),
        wrong: (0, 6, -1.0),
    });
    check(&Case {
        rule: "count: { edge: a any, max: 2 }",
        holds: of(&["0011100"]),
        fails: of(&["0011101"]),
        near: (5, 5, 0.0),
        wrong: (6, 6, -1.0),
    });
    check(&Case {
        rule: "pulse: { channel: a, level: high, min: 2us }",
        holds: of(&["00110011101"]),
        fails: of(&["00100011101"]),
        near: (2, 4, 0.0),
        wrong: (2, 3, -1.0),
    });
    check(&Case {
        rule: "pulse: { channel: a, max: 3us }",
        holds: of(&["00110001101"]),
        fails: of(&["00110000101"]),
        near: (4, 7, 0.0),
        wrong: (4, 8, -1.0),
    });
    check(&Case {
        rule: "level: { channel: a, is: high, at: 4us }",
        holds: of(&["0000111"]),
        fails: of(&["0000011"]),
        near: (4, 4, 1.0),
        wrong: (4, 4, -1.0),
    });
    check(&Case {
        rule: "level: { channel: b, is: low, at: 2us, after: a rising }",
        holds: of(&["0011001100", "1110000100"]),
        fails: of(&["0011001100", "1111100100"]),
        near: (8, 8, 1.0),
        wrong: (4, 4, -1.0),
    });
}

#[test]
fn analog_values() {
    let analog = Samples::analog;
    check(&Case {
        rule: "analog: { channel: ADC, min: 3.2V, max: 3.4V }",
        holds: analog(&[3300, 3201, 3250, 3400, 3399]),
        fails: analog(&[3300, 3201, 3401, 3402, 3399, 3401]),
        near: (3, 3, 0.0),
        wrong: (2, 3, -0.002),
    });
    check(&Case {
        rule: "settles: { channel: ADC, to: 3V, tolerance: 10%, within: 4us }",
        holds: analog(&[0, 1000, 3000, 3301, 3300, 2700, 3100]),
        fails: analog(&[0, 1000, 3000, 3100, 3301, 2700, 3100]),
        near: (0, 4, 0.0),
        wrong: (0, 5, -1.0),
    });
    let mut both = analog(&[0, 0, 0, 1000, 3000, 3000]);
    both.words = vec![0, 0, 1, 1, 1, 1];
    both.names = vec!["a"];
    let mut late = both.clone();
    late.counts[4] = 2000;
    check(&Case {
        rule: "settles: { channel: ADC, to: 3V, tolerance: 50mV, within: 2us, after: a rising }",
        holds: both,
        fails: late,
        near: (2, 4, 0.0),
        wrong: (2, 5, -1.0),
    });
}

#[test]
fn what_a_capture_lacks_is_no_failure_of_the_signal() {
    let samples = of(&["0011001100"]);
    for (rule, says) in [
        ("pulse: { channel: b, min: 1us }", "channel `b`"),
        (
            "to: 11us, pulse: { channel: a, min: 1us }",
            "ends 10 us after its trigger",
        ),
        (
            "from: 10us, pulse: { channel: a, min: 1us }",
            "before the `from`",
        ),
        (
            "from: -1us, pulse: { channel: a, min: 1us }",
            "begins 0 s before its trigger",
        ),
        (
            "from: 2.1us, to: 2.9us, pulse: { channel: a, min: 1us }",
            "no sample between",
        ),
        (
            "level: { channel: a, is: low, at: 10us }",
            "not in the range",
        ),
        ("analog: { channel: a, min: 1V }", "is digital"),
        ("golden: { file: none.json }", "make it by `hostd golden`"),
    ] {
        let judged = samples.judged(rule);
        assert_eq!(judged.verdict, Verdict::Error, "{rule}: {judged:?}");
        assert!(judged.seen.contains(says), "{rule}: {}", judged.seen);
    }
    let analog = Samples::analog(&[1, 2, 3]);
    for (rule, says) in [
        ("analog: { channel: ADC, min: 1A }", "is in V"),
        ("count: { edge: ADC rising, min: 1 }", "is analog"),
        (
            "settles: { channel: ADC, to: 1V, tolerance: 1%, within: 1us, after: a rising }",
            "`a`",
        ),
    ] {
        let judged = analog.judged(rule);
        assert_eq!(judged.verdict, Verdict::Error, "{rule}: {judged:?}");
        assert!(judged.seen.contains(says), "{rule}: {}", judged.seen);
    }
}

#[test]
fn times_are_counted_from_the_trigger() {
    let mut samples = of(&["0000000011"]);
    samples.trigger = 5;
    let judged = samples.judged("from: -2us, to: 4us, count: { edge: a rising, min: 1 }");
    assert_eq!(judged.verdict, Verdict::Passed);
    let place = judged.place.unwrap();
    assert_eq!((place.from_sample, place.to_sample), (8, 8));
    assert!((place.from_s - 3e-6).abs() < 1e-12);
    let judged = samples.judged("from: -5us, to: 3us, count: { edge: a rising, min: 1 }");
    assert_eq!(judged.verdict, Verdict::Failed);
    let judged = samples.judged("level: { channel: a, is: high, at: 3us }");
    assert_eq!(judged.verdict, Verdict::Passed);
}

#[test]
fn what_is_not_there_is_told() {
    let samples = of(&["0000000000", "0000000010"]);
    for (rule, says) in [
        (
            "frequency: { channel: b, value: 1kHz, tolerance: 1% }",
            "1 rising edge, and a frequency takes two",
        ),
        (
            "duty: { channel: a, value: 50%, tolerance: 1% }",
            "no whole period",
        ),
        (
            "within: { edge: a rising, after: a falling, time: 1us }",
            "there is no `a falling`",
        ),
        (
            "within: { edge: a rising, after: b rising, time: 5us }",
            "the range ends before the time",
        ),
        (
            "level: { channel: a, is: low, at: 1us, after: a rising }",
            "there is no `a rising`",
        ),
        (
            "level: { channel: a, is: low, at: 3us, after: b rising }",
            "out of the range",
        ),
    ] {
        let judged = samples.judged(rule);
        assert_eq!(judged.verdict, Verdict::Failed, "{rule}: {judged:?}");
        assert!(judged.seen.contains(says), "{rule}: {}", judged.seen);
        assert!(judged.place.is_some(), "{rule}");
    }
    let judged = samples.judged("pulse: { channel: a, min: 1us }");
    assert_eq!(
        (judged.verdict, judged.seen.as_str()),
        (Verdict::Passed, "no pulse")
    );
}

#[test]
fn time_that_is_over_ends_it() {
    let stored = of(&["0101"]).stored();
    let file = crate::support::file("count: { edge: a any, min: 1 }");
    let capture = stored.capture();
    let late = rules::evaluate(&capture, file.rules(), &rules::Goldens::default(), &|| true);
    assert!(late.unwrap_err().to_string().contains("in time"));
    // Also in the middle of a rule.
    let many = Samples::of(&[&"01".repeat(50_000)]).stored();
    let looks = std::sync::atomic::AtomicU32::new(0);
    let stop = || looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 5;
    let late = rules::evaluate(
        &many.capture(),
        file.rules(),
        &rules::Goldens::default(),
        &stop,
    );
    assert!(late.is_err());
}

#[test]
fn places_are_counted_beyond_those_that_are_kept() {
    let judged = of(&[&"01".repeat(100)]).judged("pulse: { channel: a, level: high, min: 2us }");
    // The last one is cut off.
    assert_eq!(judged.found, 99);
    assert_eq!(judged.places.len(), rules::limits::PLACES_MAX);
}
