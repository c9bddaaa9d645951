//! Spectra of trapezoids.

use std::f64::consts::{PI, SQRT_2, TAU};

use emi::fields::spectrum::{Spread, Trapezoid, knee_hz, spread_reduction};

use crate::close;

fn clock() -> Trapezoid {
    Trapezoid {
        frequency_hz: 10e6,
        rise_s: 20e-9,
        duty: 0.5,
        amplitude: 1.0,
    }
}

/// Amplitude, not rms, of a harmonic in dB above 1 µV.
fn dbuv(clock: &Trapezoid, order: usize) -> f64 {
    let harmonics = clock.harmonics(1e9).unwrap().value;
    20.0 * (harmonics[order - 1].rms * SQRT_2 * 1e6).log10()
}

#[test]
fn worked_example_of_paul() {
    // Paul, Scully, Steffka: Introduction to Electromagnetic Compatibility, 3rd ed., example 3.5: 1 V, 10 MHz, 50 %; the
    // 11th harmonic is 73.8 dBµV with edges of 20 ns, 90.4 with 5 ns; the bounds are 78.45 and 90.5.
    let slow = clock();
    let fast = Trapezoid {
        rise_s: 5e-9,
        ..slow
    };
    assert!((dbuv(&slow, 11) - 73.8).abs() < 0.05);
    assert!((dbuv(&fast, 11) - 90.4).abs() < 0.05);
    let bound = |clock: &Trapezoid| 20.0 * (clock.envelope(110e6).unwrap() * SQRT_2 * 1e6).log10();
    assert!((bound(&slow) - 78.45).abs() < 0.05);
    assert!((bound(&fast) - 90.5).abs() < 0.05);
}

#[test]
fn harmonics_are_those_of_the_waveform() {
    // A discrete Fourier transform of the drawn trapezoid.
    let clock = Trapezoid {
        frequency_hz: 1e6,
        rise_s: 70e-9,
        duty: 0.3,
        amplitude: 2.0,
    };
    let found = clock.harmonics(25e6).unwrap().value;
    assert_eq!(found.len(), 25);
    let samples = 40_000;
    let (half_rise, width) = (0.5 * 0.07, 0.3);
    let wave = |t: f64| -> f64 {
        let from_middle = (t - 0.5).abs();
        2.0 * ((0.5 * width + half_rise - from_middle) / (2.0 * half_rise)).clamp(0.0, 1.0)
    };
    for harmonic in &found {
        let sum: f64 = (0..samples)
            .map(|k| {
                let t = (f64::from(k) + 0.5) / f64::from(samples);
                wave(t) * (TAU * f64::from(harmonic.order) * (t - 0.5)).cos()
            })
            .sum();
        let rms = (2.0 * sum / f64::from(samples)).abs() / SQRT_2;
        assert!((harmonic.rms - rms).abs() < 1e-6, "{harmonic:?} {rms}");
    }
}

#[test]
fn power_of_all_harmonics_is_that_of_the_waveform() {
    let clock = clock();
    let harmonics: f64 = clock
        .harmonics(100e9)
        .unwrap()
        .value
        .iter()
        .map(|harmonic| harmonic.rms * harmonic.rms)
        .sum();
    // Mean square of a trapezoid: duty − rise/(3T); its mean: duty.
    close(harmonics, 0.5 - 0.2 / 3.0 - 0.25, 1e-6);
}

#[test]
fn the_envelope_is_above_every_harmonic() {
    for duty in [0.1, 0.37, 0.5] {
        for rise_s in [0.0, 1e-9, 9e-9] {
            let clock = Trapezoid {
                duty,
                rise_s,
                ..clock()
            };
            for harmonic in clock.harmonics(5e9).unwrap().value {
                let bound = clock.envelope(harmonic.frequency_hz).unwrap();
                assert!(harmonic.rms <= bound * (1.0 + 1e-12));
            }
        }
    }
}

#[test]
fn even_harmonics_of_a_square_wave_vanish() {
    let harmonics = clock().harmonics(200e6).unwrap().value;
    assert_eq!(harmonics.len(), 20);
    assert!(harmonics[1].rms < 1e-15 && harmonics[0].rms > 0.3);
}

#[test]
fn edges_longer_than_the_pulse_are_outside() {
    let narrow = Trapezoid {
        duty: 0.1,
        ..clock()
    };
    assert!(narrow.harmonics(100e6).unwrap().outside_validity());
    assert!(!clock().harmonics(100e6).unwrap().outside_validity());
    assert!(
        Trapezoid {
            rise_s: 2e-7,
            ..clock()
        }
        .harmonics(1e8)
        .is_err()
    );
}

#[test]
fn knee_of_a_nanosecond() {
    close(knee_hz(1e-9).unwrap(), 1e9 / PI, 1e-12);
}

/// Peak of a triangularly swept carrier behind a Gaussian filter of impulse bandwidth `bandwidth`, relative to the
/// unmodulated one, by summing over the impulse response.
fn swept_peak_db(width: f64, modulation: f64, bandwidth: f64) -> f64 {
    // h(t) = B exp(−π B² t²): gain 1 in the middle, impulse bandwidth B.
    let reach = 1.5 / bandwidth;
    let rate = 2.0 * width * modulation;
    // Around the middle of a sweep the phase is π·rate·t².
    let steps = 20_000;
    let step = 2.0 * reach / f64::from(steps);
    let mut best: f64 = 0.0;
    for shift in -20..=20 {
        let at = f64::from(shift) * 0.05 / bandwidth;
        let (mut re, mut im) = (0.0, 0.0);
        for k in 0..steps {
            let t = -reach + (f64::from(k) + 0.5) * step;
            let weight = bandwidth * (-PI * (bandwidth * t).powi(2)).exp() * step;
            let phase = PI * rate * (at - t).powi(2);
            re += weight * phase.cos();
            im += weight * phase.sin();
        }
        best = best.max(re.hypot(im));
    }
    20.0 * best.log10()
}

#[test]
fn spreading_lowers_a_peak_as_a_swept_filter_does() {
    for (at, deviation, bandwidth) in [
        (500e6, 0.005, 120e3),
        (1e9, 0.01, 120e3),
        (3e9, 0.01, 120e3),
    ] {
        let spread = Spread {
            deviation,
            modulation_hz: 33e3,
        };
        let found = spread_reduction(&spread, at, bandwidth).unwrap().value;
        let simulated = -swept_peak_db(deviation * at, 33e3, bandwidth);
        assert!((found - simulated).abs() < 1.0, "{at}: {found} {simulated}");
    }
    let slow = Spread {
        deviation: 0.005,
        modulation_hz: 30e3,
    };
    assert_eq!(spread_reduction(&slow, 30e6, 120e3).unwrap().value, 0.0);
}

#[test]
fn a_clock_of_half_its_period_has_no_even_harmonics() {
    let clock = Trapezoid {
        frequency_hz: 1e6,
        rise_s: 1e-9,
        duty: 0.5,
        amplitude: 1.0,
    };
    let harmonics = clock.harmonics(10e9).unwrap().value;
    assert_eq!(harmonics.len(), 10_000);
    for harmonic in harmonics {
        // Every thousandth one is where the edge has none.
        let exists = harmonic.order % 2 == 1 && harmonic.order % 1000 != 0;
        assert_eq!(0.0 < harmonic.rms, exists, "{harmonic:?}");
    }
}
