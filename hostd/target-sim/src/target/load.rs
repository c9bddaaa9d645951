//! How much charge the chip used.

/// Time and charge since they were last taken, for the power model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Total time, in nanoseconds.
    pub total_ns: u64,
    /// Charge used, in milliampere-nanoseconds.
    pub charge_ma_ns: f64,
}

impl Load {
    #[allow(
        clippy::cast_precision_loss,
        reason = "a charge needs no more than 53 bits"
    )]
    pub(super) fn add(&mut self, duration_ns: u64, current_ma: f64) {
        self.total_ns += duration_ns;
        self.charge_ma_ns += duration_ns as f64 * current_ma;
    }

    /// Mean current, in milliamperes.
    #[must_use]
    pub fn mean_ma(&self) -> f64 {
        if self.total_ns == 0 {
            return 0.0;
        }
        #[allow(
            clippy::cast_precision_loss,
            reason = "a mean needs no more than 53 bits"
        )]
        let total = self.total_ns as f64;
        self.charge_ma_ns / total
    }
}
