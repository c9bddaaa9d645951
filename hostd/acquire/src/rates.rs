//! The sample rates that an instrument really has.

/// Sample rates, in hertz.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rates {
    /// These and no others, ascending; at least one.
    Listed(Vec<u64>),
    /// Every whole number of steps from the least one on.
    Stepped {
        /// The slowest.
        min: u64,
        /// The fastest.
        max: u64,
        /// What lies between two of them, at least 1.
        step: u64,
    },
    /// The instrument decides by its own settings, and each capture tells which it was.
    Own,
}

impl Rates {
    /// The rate for a wish: the fastest that is no faster, or else the slowest. `None` where the instrument decides.
    #[must_use]
    pub fn fitting(&self, wanted_hz: f64) -> Option<u64> {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "float to integer casts saturate, which is the bound wanted here"
        )]
        let wanted = wanted_hz as u64;
        match self {
            Self::Listed(rates) => {
                let slower = rates.iter().rev().find(|rate| **rate <= wanted);
                slower.or(rates.first()).copied()
            }
            Self::Stepped { min, max, step } => {
                let steps = wanted.clamp(*min, *max) - min;
                Some(min + steps / step * step)
            }
            Self::Own => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_never_faster_than_the_wish_unless_there_is_no_slower_one() {
        let listed = Rates::Listed(vec![20_000, 1_000_000, 24_000_000]);
        let stepped = Rates::Stepped {
            min: 10,
            max: 1_000,
            step: 20,
        };
        for (rates, wanted_hz, expected) in [
            (&listed, 1.0, 20_000),
            (&listed, 999_999.9, 20_000),
            (&listed, 1e6, 1_000_000),
            (&listed, 1e12, 24_000_000),
            (&listed, f64::NAN, 20_000),
            (&stepped, 0.0, 10),
            (&stepped, 49.0, 30),
            (&stepped, 50.0, 50),
            (&stepped, 5e3, 990),
        ] {
            assert_eq!(rates.fitting(wanted_hz), Some(expected), "{wanted_hz}");
        }
        assert_eq!(Rates::Own.fitting(1e6), None);
    }
}
