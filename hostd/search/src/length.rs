//! Lengths of time, and how many samples they have.

/// A length, above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Length {
    /// In nanoseconds.
    Time(f64),
    Samples(f64),
}

/// Units by their names: nanoseconds of each.
const UNITS: [(&str, f64); 7] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("μs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
];

impl Length {
    /// A number with its unit.
    pub(crate) fn of(number: f64, unit: &str) -> Option<Self> {
        let unit = unit.to_lowercase();
        if matches!(unit.as_str(), "sample" | "samples") {
            return Some(Self::Samples(number));
        }
        let (_, ns) = UNITS.iter().find(|(name, _)| *name == unit)?;
        Some(Self::Time(number * ns))
    }

    /// How many samples it has at a rate.
    pub(crate) fn samples(self, rate_hz: f64) -> f64 {
        match self {
            Self::Time(ns) => decode::length::samples(ns, rate_hz),
            Self::Samples(samples) => decode::length::snapped(samples),
        }
    }
}

/// Samples as a number to compute with.
pub(crate) fn float(samples: u64) -> f64 {
    samples as f64
}

/// The fewest whole samples that are no less than a length, one at least.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and lengths are above 0"
)]
pub(crate) fn whole(samples: f64) -> u64 {
    (samples.ceil() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_samples() {
        for (number, unit, rate, samples) in [
            (1.0, "us", 1e6, 1.0),
            (1.5, "MS", 1e6, 1500.0),
            (0.1, "µs", 24e6, 2.4),
            (10.0, "ns", 1e8, 1.0),
            (3.0, "samples", 5.0, 3.0),
            (2.0, "min", 10.0, 1200.0),
        ] {
            let length = Length::of(number, unit).unwrap();
            assert!((length.samples(rate) - samples).abs() < 1e-9, "{unit}");
        }
        assert_eq!(Length::of(1.0, "h"), None);
        assert_eq!((whole(0.2), whole(2.0), whole(2.1)), (1, 2, 3));
    }
}
