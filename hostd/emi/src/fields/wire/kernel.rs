//! Potentials of a straight segment whose current is constant or grows from 0 to 1.

use crate::fields::Complex;

/// A straight piece of wire.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) start: [f64; 3],
    /// Unit vector along it.
    pub(super) direction: [f64; 3],
    pub(super) length: f64,
}

impl Segment {
    pub(super) fn point(&self, fraction: f64) -> [f64; 3] {
        let s = fraction * self.length;
        [0, 1, 2].map(|axis| self.start[axis] + s * self.direction[axis])
    }

    /// Its mirror image in the floor. The current of the image runs against [`Self::direction`] of what this returns.
    pub(super) fn image(&self) -> Self {
        let [x, y, z] = self.start;
        let [u, v, w] = self.direction;
        Self {
            start: [x, y, -z],
            direction: [u, v, -w],
            length: self.length,
        }
    }
}

/// ∫ e^(−jkR)/R ds over the segment, with the weights 1 and s/length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Integrals {
    pub(super) even: Complex,
    pub(super) rising: Complex,
}

/// Gauss points and weights on 0..1.
const NEAR: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_727),
    (0.330_009_478_207_571_9, 0.326_072_577_431_273),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273),
    (0.930_568_155_797_026_3, 0.173_927_422_568_727),
];
const FAR: [(f64, f64); 2] = [
    (0.211_324_865_405_187_1, 0.5),
    (0.788_675_134_594_812_9, 0.5),
];

/// From how many lengths away two Gauss points give a segment's potential to six digits.
const FAR_LENGTHS: f64 = 6.0;

/// Integrals at `at` with the reduced kernel R² = d² + radius².
pub(super) fn integrals(segment: &Segment, at: [f64; 3], radius: f64, k: f64) -> Integrals {
    let away = [0, 1, 2].map(|axis| at[axis] - segment.start[axis]);
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let along = dot(away, segment.direction);
    let aside = (dot(away, away) - along * along).max(0.0) + radius * radius;
    let length = segment.length;
    let nearest = along - along.clamp(0.0, length);
    let is_far = nearest * nearest + aside > (FAR_LENGTHS * length).powi(2);
    let mut even = Complex::ZERO;
    let mut rising = Complex::ZERO;
    let mut add = |fraction: f64, value: Complex| {
        even += value;
        rising += value * fraction;
    };
    if is_far {
        for (fraction, weight) in FAR {
            let distance = ((fraction * length - along).powi(2) + aside).sqrt();
            add(
                fraction,
                Complex::unit(-k * distance) * (weight * length / distance),
            );
        }
        return Integrals { even, rising };
    }
    for (fraction, weight) in NEAR {
        let distance = ((fraction * length - along).powi(2) + aside).sqrt();
        let rest = Complex::unit(-k * distance) - Complex::from(1.0);
        add(fraction, rest * (weight * length / distance));
    }
    // The static part, ∫ ds/R and ∫ s/R ds, in closed form.
    let (from, to) = (-along, length - along);
    let (near, far) = ((from * from + aside).sqrt(), (to * to + aside).sqrt());
    let p = aside.sqrt();
    let log = (to / p).asinh() - (from / p).asinh();
    Integrals {
        even: even + Complex::from(log),
        rising: rising + Complex::from((far - near + along * log) / length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_equal_a_fine_sum() {
        let segment = Segment {
            start: [0.1, 0.2, 0.3],
            direction: [0.6, 0.0, 0.8],
            length: 0.05,
        };
        let (radius, k) = (0.002, 3.0);
        for at in [
            segment.point(0.5),
            segment.point(0.25),
            segment.point(1.5),
            [0.1, 0.25, 0.3],
            [2.0, -1.0, 0.5],
        ] {
            let found = integrals(&segment, at, radius, k);
            let steps = 20_000;
            let (mut even, mut rising) = (Complex::ZERO, Complex::ZERO);
            for step in 0..steps {
                let fraction = (f64::from(step) + 0.5) / f64::from(steps);
                let point = segment.point(fraction);
                let square: f64 = (0..3).map(|axis| (at[axis] - point[axis]).powi(2)).sum();
                let distance = (square + radius * radius).sqrt();
                let value =
                    Complex::unit(-k * distance) * (segment.length / (distance * f64::from(steps)));
                even += value;
                rising += value * fraction;
            }
            assert!((found.even - even).abs() < 2e-5 * even.abs(), "{at:?}");
            assert!((found.rising - rising).abs() < 2e-5 * even.abs(), "{at:?}");
        }
    }
}
