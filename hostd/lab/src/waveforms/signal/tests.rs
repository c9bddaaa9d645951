//! Worked examples, and random signals against a reference that does each step in the simplest way.

use super::*;
use base::seeded::Random;

#[allow(clippy::cast_precision_loss, reason = "53 bits are what a float holds")]
fn level(random: &mut Random) -> f64 {
    let unit = (random.next() >> 11) as f64 / (1u64 << 53) as f64;
    unit * 40.0 - 20.0
}

/// What the client does, one list after the other.
fn reference(
    levels: &[f64],
    (start, len): (usize, Option<usize>),
    most: usize,
    mapping: Mapping,
    span: Span,
    fault: Option<Fault>,
) -> Vec<u16> {
    let mut kept = Vec::new();
    for (i, level) in levels.iter().enumerate() {
        if i >= start && len.is_none_or(|len| i - start < len) {
            kept.push(*level);
        }
    }
    let mut means = kept.clone();
    if kept.len() > most {
        let block = kept.len() / most + usize::from(!kept.len().is_multiple_of(most));
        means.clear();
        let mut at = 0;
        while at < kept.len() {
            let part = &kept[at..(at + block).min(kept.len())];
            means.push(part.iter().sum::<f64>() / f64::from(u32::try_from(part.len()).unwrap()));
            at += block;
        }
    }
    let (mut low, mut high) = (span.low, span.high);
    if mapping == Mapping::Fit {
        low = means.iter().copied().reduce(f64::min).unwrap_or(0.0);
        high = means.iter().copied().reduce(f64::max).unwrap_or(0.0);
    }
    let mut codes: Vec<u16> = Vec::new();
    for level in &means {
        if mapping == Mapping::Fit && high <= low {
            codes.push(32768);
            continue;
        }
        let exact = (level - low) / (high - low) * 65535.0;
        // The nearest of all codes, the even one of two equally near.
        let mut best = 0.0f64;
        for near in [exact.floor(), exact.ceil()] {
            let near = near.clamp(0.0, 65535.0);
            let (new, old) = ((near - exact).abs(), (best - exact).abs());
            let even = near.rem_euclid(2.0) == 0.0;
            if new < old || ((new - old).abs() == 0.0 && even) {
                best = near;
            }
        }
        codes.push(format!("{best}").parse().unwrap());
    }
    if let Some(fault) = fault {
        for (i, code) in codes.iter_mut().enumerate() {
            if i >= fault.start && fault.width.is_none_or(|width| i - fault.start < width) {
                *code = fault.level;
            }
        }
    }
    codes
}

fn pipeline(
    levels: &[f64],
    (start, len): (usize, Option<usize>),
    most: usize,
    mapping: Mapping,
    span: Span,
    fault: Option<Fault>,
) -> Vec<u16> {
    let kept = &levels[window(levels.len(), start, len)];
    let means = averages(kept.iter().copied(), block(kept.len(), most));
    let mut codes = codes(&means, mapping, span);
    if let Some(fault) = fault {
        spoil(&mut codes, fault);
    }
    codes
}

#[test]
fn random_signals_agree_with_the_plain_reference() {
    let mut random = Random(0x5EED_0A7E);
    for case in 0..2_000 {
        let count = random.index(300);
        let flat = random.index(8) == 0;
        let first = level(&mut random);
        let levels: Vec<f64> = (0..count)
            .map(|_| if flat { first } else { level(&mut random) })
            .collect();
        let some = |random: &mut Random| (random.index(3) > 0).then(|| random.index(350));
        let kept = (random.index(350), some(&mut random));
        let most = 1 + random.index(320);
        let mapping = [Mapping::Faithful, Mapping::Fit][random.index(2)];
        let outputs = [Output::V3, Output::V5, Output::V12, Output::Current];
        let span = Span::of(outputs[random.index(4)]);
        let fault = (random.index(2) == 0).then(|| Fault {
            start: random.index(350),
            width: some(&mut random),
            level: u16::try_from(random.index(65_536)).unwrap(),
        });
        let found = pipeline(&levels, kept, most, mapping, span, fault);
        let wanted = reference(&levels, kept, most, mapping, span, fault);
        assert_eq!(found, wanted, "case {case}");
        assert!(found.len() <= most);
    }
}

#[test]
fn levels_become_the_nearest_codes() {
    let volts = |output: Output, level: f64| Span::of(output).code(level);
    assert_eq!(volts(Output::V3, 0.0), 0);
    assert_eq!(volts(Output::V3, 3.3), 65_535);
    assert_eq!(volts(Output::V12, 0.0), 32_768);
    assert_eq!(volts(Output::V12, -12.0), 0);
    assert_eq!(volts(Output::V5, -1.0), 0);
    assert_eq!(volts(Output::V5, 7.0), 65_535);
    assert_eq!(volts(Output::V5, f64::NAN), 0);
    assert_eq!(volts(Output::Current, 12.0), 32_768);
    let counts = Span {
        low: 0.0,
        high: 65_535.0,
    };
    // Halves go to the even code.
    assert_eq!((counts.code(2.5), counts.code(3.5)), (2, 4));
}

#[test]
fn a_flat_signal_is_stretched_to_the_middle() {
    let span = Span::of(Output::V5);
    assert_eq!(codes(&[1.0, 1.0], Mapping::Fit, span), [32_768, 32_768]);
    assert_eq!(
        codes(&[1.0, 3.0, 2.0], Mapping::Fit, span),
        [0, 65_535, 32_768]
    );
    assert!(codes(&[], Mapping::Fit, span).is_empty());
}

#[test]
fn blocks_are_contiguous_and_the_last_may_be_short() {
    assert_eq!(block(5, 2), 3);
    assert_eq!(block(4, 4), 1);
    assert_eq!(block(0, 4), 1);
    let means = averages([1.0, 2.0, 3.0, 10.0, 20.0].into_iter(), 3);
    assert_eq!(means, [2.0, 15.0]);
}

#[test]
fn faults_end_where_the_codes_do() {
    let spoilt = |start, width| {
        let mut codes = [1, 2, 3, 4];
        let fault = Fault {
            start,
            width,
            level: 9,
        };
        spoil(&mut codes, fault);
        codes
    };
    assert_eq!(spoilt(1, Some(2)), [1, 9, 9, 4]);
    assert_eq!(spoilt(2, None), [1, 2, 9, 9]);
    assert_eq!(spoilt(2, Some(usize::MAX)), [1, 2, 9, 9]);
    assert_eq!(spoilt(4, None), [1, 2, 3, 4]);
}

#[test]
fn segments_are_drawn_point_by_point() {
    let segment = |shape, duration_ms, from_level, to_level| Segment {
        shape,
        duration_ms,
        from_level,
        to_level,
    };
    let drawn = levels(
        &[
            segment(Shape::Ramp, 4.0, 0.0, 3.0),
            segment(Shape::Hold, 2.0, 1.0, 9.0),
            segment(Shape::Step, 1.0, 1.0, 5.0),
            segment(Shape::Ramp, 0.001, 1.0, 2.0),
        ],
        1000.0,
    );
    assert_eq!(drawn, [0.0, 1.0, 2.0, 3.0, 1.0, 1.0, 5.0, 2.0]);
}
