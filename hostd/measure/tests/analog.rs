//! Analog channels: signals whose measurements are known.
#![allow(clippy::unwrap_used, reason = "helpers of tests end them")]

use std::f64::consts::TAU;

use decode::analog::{AnalogEncoder, AnalogSegment};
use measure::{Analog, Scale, Window, analog, analog_while, spectrum, spectrum_while};

const RATE_HZ: f64 = 100_000.0;

/// -10 V to 10 V.
const SCALE: Scale = Scale {
    offset: -10.0,
    per_count: 20.0 / 65_536.0,
};

/// The same range on a front end that inverts.
const INVERTED: Scale = Scale {
    offset: 10.0,
    per_count: -20.0 / 65_536.0,
};

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is in range"
)]
fn encoded(scale: Scale, samples: usize, signal: impl Fn(f64) -> f64) -> Vec<u8> {
    let counts: Vec<u16> = (0..samples)
        .map(|at| {
            let seconds = float(at) / RATE_HZ;
            ((signal(seconds) - scale.offset) / scale.per_count).round() as u16
        })
        .collect();
    let mut encoder = AnalogEncoder::new(RATE_HZ).unwrap();
    encoder.push(&counts);
    encoder.finish()
}

#[expect(clippy::cast_precision_loss, reason = "tests are short")]
fn float(number: usize) -> f64 {
    number as f64
}

fn near(what: &str, value: f64, expected: f64, error: f64) {
    assert!(
        (value - expected).abs() <= error,
        "{what}: {value} is not {expected}"
    );
}

#[test]
fn a_sine_has_its_levels_and_frequency() {
    for scale in [SCALE, INVERTED] {
        // 2 V and a swing of 3 V at 440 Hz, for a second.
        let bytes = encoded(scale, 100_000, |t| 2.0 + 3.0 * (TAU * 440.0 * t).sin());
        let segment = AnalogSegment::open(&bytes).unwrap();
        let found = analog(&segment, scale, 0..u64::MAX).unwrap();
        assert_eq!(found.samples, 100_000);
        near("min", found.min, -1.0, 1e-3);
        near("max", found.max, 5.0, 1e-3);
        near("peak to peak", found.peak_to_peak, 6.0, 2e-3);
        near("mean", found.mean, 2.0, 1e-3);
        near("rms", found.rms, (4.0f64 + 4.5).sqrt(), 1e-3);
        near("deviation", found.deviation, 3.0 / 2.0f64.sqrt(), 1e-3);
        near("frequency", found.frequency_hz.unwrap(), 440.0, 0.01);
        near("top", found.top, 5.0, 0.03);
        near("base", found.base, -1.0, 0.03);
        // From 10 to 90 % of a sine: asin(0.8) to both sides.
        let rise = 2.0 * 0.8f64.asin() / (TAU * 440.0);
        for stats in [found.rise.unwrap(), found.fall.unwrap()] {
            assert!((439..=441).contains(&stats.count));
            near("rise", stats.mean, rise, rise * 0.01);
            near("p99", stats.p99, rise, rise * 0.02);
        }
    }
}

/// A pulse train of 1 kHz between 0 and 5 V, whose edges are straight lines of 50 us, and later in each level a spike of 0.5 V above and
/// 0.25 V below.
fn train(t: f64) -> f64 {
    let phase = (t * 1000.0).fract();
    let (rises, top, falls) = (0.05, 0.5, 0.55);
    match phase {
        p if p < rises => p / rises * 5.0,
        p if (0.1..0.12).contains(&p) => 5.5,
        p if p < top => 5.0,
        p if p < falls => (falls - p) / (falls - top) * 5.0,
        p if (0.6..0.62).contains(&p) => -0.25,
        _ => 0.0,
    }
}

#[test]
fn a_pulse_train_has_its_edges() {
    let bytes = encoded(SCALE, 200_000, train);
    let segment = AnalogSegment::open(&bytes).unwrap();
    let found = analog(&segment, SCALE, 0..200_000).unwrap();
    near("top", found.top, 5.0, 1e-3);
    near("base", found.base, 0.0, 1e-3);
    near("overshoot", found.overshoot.unwrap(), 0.1, 1e-3);
    near("undershoot", found.undershoot.unwrap(), 0.05, 1e-3);
    near("frequency", found.frequency_hz.unwrap(), 1000.0, 1e-3);
    // 80 % of 50 us.
    near("rise", found.rise.unwrap().mean, 40e-6, 0.2e-6);
    near("fall", found.fall.unwrap().mean, 40e-6, 0.2e-6);
    assert_eq!(found.fall.unwrap().count, 2000);
    // One period has no other to begin after it.
    let short = analog(&segment, SCALE, 0..90).unwrap();
    assert_eq!((short.frequency_hz, short.rise.unwrap().count), (None, 1));
}

#[test]
fn noise_around_the_middle_is_no_period() {
    // 100 Hz, with as much as an eighth of the amplitude of something 50 times as fast.
    let bytes = encoded(SCALE, 100_000, |t| {
        4.0 * (TAU * 100.0 * t).sin() + 0.35 * (TAU * 5001.0 * t).sin()
    });
    let segment = AnalogSegment::open(&bytes).unwrap();
    let found = analog(&segment, SCALE, 0..100_000).unwrap();
    near("frequency", found.frequency_hz.unwrap(), 100.0, 0.5);
    let flat = encoded(SCALE, 1000, |t| 1.0 + 0.0003 * (TAU * 1000.0 * t).sin());
    let flat = AnalogSegment::open(&flat).unwrap();
    let found = analog(&flat, SCALE, 0..1000).unwrap();
    assert_eq!(
        (found.frequency_hz, found.rise, found.overshoot),
        (None, None, None)
    );
    assert_eq!(analog(&flat, SCALE, 7..7).unwrap(), Analog::default());
    assert_eq!(analog_while(&flat, SCALE, 0..1000, &mut || false), Ok(None));
}

#[test]
fn a_tone_has_its_amplitude_under_every_window() {
    // Three tones and a mean; a transform's step is 1 Hz.
    let tones = [(1000.0, 2.0), (7500.0, 0.5), (20_000.0, 0.05)];
    let bytes = encoded(SCALE, 100_000, |t| {
        let sum: f64 = tones
            .iter()
            .map(|(hz, volts)| volts * (TAU * hz * t).sin())
            .sum();
        sum - 1.5
    });
    let segment = AnalogSegment::open(&bytes).unwrap();
    for (window, name) in Window::ALL {
        let found = spectrum(&segment, SCALE, 0..100_000, window, 10_000).unwrap();
        assert_eq!((found.length, found.averages), (100_000, 1));
        assert_eq!(found.amplitudes.len(), 8334, "six steps each: {name}");
        near("step", found.step_hz, 6.0, 1e-9);
        near("mean", found.amplitudes[0], 1.5, 2e-3);
        assert!(found.peaks.len() >= 3, "{name}");
        for (peak, (hz, volts)) in found.peaks.iter().zip(tones) {
            near(name, peak.frequency_hz, hz, 0.01);
            near(name, peak.amplitude, volts, 2e-3);
        }
    }
    let few = spectrum(&segment, SCALE, 0..100_000, Window::Hann, 10).unwrap();
    assert_eq!(few.amplitudes.len(), 10);
    near("highest of a group", few.amplitudes[0], 2.0, 2e-3);
}

#[test]
fn a_tone_between_two_steps_is_found_there() {
    let bytes = encoded(SCALE, 10_000, |t| 2.0 * (TAU * 1234.0 * t).sin());
    let segment = AnalogSegment::open(&bytes).unwrap();
    for (window, hz, volts) in [
        (Window::Hann, 0.5, 0.06),
        (Window::BlackmanHarris, 0.3, 0.04),
        (Window::FlatTop, 3.0, 0.004),
    ] {
        let found = spectrum(&segment, SCALE, 0..10_000, window, 100).unwrap();
        near("frequency", found.peaks[0].frequency_hz, 1234.0, hz);
        near("amplitude", found.peaks[0].amplitude, 2.0, volts);
    }
}

#[test]
fn long_ranges_are_averaged_and_short_ones_have_nothing() {
    let bytes = encoded(SCALE, 1_000_000, |t| (TAU * 12_500.0 * t).sin());
    let segment = AnalogSegment::open(&bytes).unwrap();
    let found = spectrum(&segment, SCALE, 0..1_000_000, Window::Hann, 1000).unwrap();
    assert_eq!((found.length, found.averages), (measure::LENGTH_MAX, 7));
    near("frequency", found.peaks[0].frequency_hz, 12_500.0, 0.1);
    near("amplitude", found.peaks[0].amplitude, 1.0, 0.03);
    let one = spectrum(&segment, SCALE, 5..6, Window::Hann, 1000).unwrap();
    assert_eq!((one.samples, one.amplitudes.len()), (1, 0));
    let mut questions = 0;
    let ended = spectrum_while(
        &segment,
        SCALE,
        0..1_000_000,
        (Window::Hann, 9),
        &mut || {
            questions += 1;
            questions < 3
        },
    );
    assert_eq!((ended, questions), (Ok(None), 3));
}
