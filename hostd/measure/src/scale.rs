//! What a converter's counts mean.

/// A straight line from counts to values: `offset + count * per_count`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Value of count 0, in the channel's unit.
    pub offset: f64,
    /// Change of the value from one count to the next; negative where the front end inverts.
    pub per_count: f64,
}

impl Scale {
    /// Value of a count.
    #[must_use]
    pub fn value(self, count: f64) -> f64 {
        self.offset + count * self.per_count
    }

    /// The same line on counts that rise with the value, and whether counts must be turned for that.
    pub(crate) fn rising(self) -> (Self, bool) {
        if self.per_count >= 0.0 {
            return (self, false);
        }
        let turned = Self {
            offset: self.value(f64::from(u16::MAX)),
            per_count: -self.per_count,
        };
        (turned, true)
    }
}

/// Turns counts over, so that the highest becomes the lowest.
pub(crate) fn turn(counts: &mut [u16]) {
    for count in counts {
        *count = u16::MAX - *count;
    }
}
