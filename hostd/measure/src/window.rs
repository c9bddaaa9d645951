//! Windows of a spectrum: what samples are multiplied with, so that a tone between two frequencies does not leak into all.

/// A window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// None: for signals that repeat exactly within the samples.
    Rectangular,
    /// For most.
    Hann,
    /// Nearest leakage is lower than with `Hann`, far leakage higher.
    Hamming,
    /// Four terms: leakage below -92 dB.
    BlackmanHarris,
    /// Five terms: amplitudes within 0.01 dB, frequencies far apart.
    FlatTop,
}

impl Window {
    /// All of them, with their names.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Rectangular, "rectangular"),
        (Self::Hann, "hann"),
        (Self::Hamming, "hamming"),
        (Self::BlackmanHarris, "blackman-harris"),
        (Self::FlatTop, "flattop"),
    ];

    /// The window of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|(_, own)| *own == name).map(|(window, _)| window)
    }

    /// Coefficients of cosines of 0, 1, 2 … periods, with alternating signs.
    fn terms(self) -> &'static [f64] {
        match self {
            Self::Rectangular => &[1.0],
            Self::Hann => &[0.5, 0.5],
            Self::Hamming => &[0.54, 0.46],
            Self::BlackmanHarris => &[0.358_75, 0.488_29, 0.141_28, 0.011_68],
            Self::FlatTop => &[
                0.215_578_95,
                0.416_631_58,
                0.277_263_158,
                0.083_578_947,
                0.006_947_368,
            ],
        }
    }

    /// Half the width of what a tone becomes, in steps of frequency.
    pub(crate) fn reach(self) -> usize {
        self.terms().len()
    }

    /// Its values, periodic: the one behind the last is the first again.
    #[expect(clippy::cast_precision_loss, reason = "a spectrum has few samples")]
    pub(crate) fn values(self, length: usize) -> Vec<f64> {
        let turn = std::f64::consts::TAU / length as f64;
        let value = |index: usize| {
            let terms = self.terms().iter().enumerate();
            terms.fold(0.0, |sum, (order, term)| {
                let sign = if order % 2 == 0 { 1.0 } else { -1.0 };
                sum + sign * term * (turn * (order * index) as f64).cos()
            })
        };
        (0..length).map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Window;

    #[test]
    fn windows_are_found_by_name_and_have_their_height() {
        for (window, name) in Window::ALL {
            assert_eq!(Window::named(name), Some(window));
            let values = window.values(64);
            assert!((values[32] - 1.0).abs() < 1e-4, "{name}: 1 in the middle");
            assert!((values[1] - values[63]).abs() < 1e-12, "{name}: periodic");
        }
        assert_eq!(Window::named("kaiser"), None);
    }
}
