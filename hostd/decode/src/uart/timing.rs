//! When a frame's bits are sampled.

use super::{Config, Parity};

/// Start bit, nine data bits, parity, stop.
const POINTS_MAX: usize = 12;

/// Sample points closer than this to a whole sample are computed in floating point, because in
/// sigrok its rounding decides them. Far larger than the error of any sum below, far smaller than
/// any other distance that occurs.
const TIE: f64 = 1e-3;

/// Up to this sample number, adding a fraction of `TIE` is exact enough in an `f64`.
const EXACT_MAX: u64 = 1 << 40;

/// The shape of a frame, in samples.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    width: f64,
    /// From the start edge to the first sample point.
    lead: f64,
    /// Whole samples from the start edge to each sample point, if no sum is near a tie.
    offsets: Option<[u64; POINTS_MAX]>,
    /// From a sample point back to where its bit is drawn to begin, and forward to its end.
    before: u64,
    after: u64,
    data_bits: u32,
    has_parity: bool,
    points: u8,
    break_min: u64,
}

impl Timing {
    /// `None` when a bit is shorter than a sample.
    pub(super) fn new(config: &Config, sample_rate_hz: f64) -> Option<Self> {
        let width = sample_rate_hz / config.baud_rate;
        if width < 1.0 {
            return None;
        }
        let has_parity = config.parity != Parity::None;
        let bits = 1.0 + f64::from(config.data_bits) + f64::from(u8::from(has_parity));
        let lead = (width - 1.0) * (config.sample_point / 100.0);
        let mut timing = Self {
            width,
            lead,
            offsets: None,
            before: whole((width / 2.0).floor()),
            after: whole((width / 2.0).ceil()),
            data_bits: config.data_bits,
            has_parity,
            points: 0,
            break_min: whole(((bits + config.stop_bits) * width).ceil()),
        };
        timing.points = u8::try_from(timing.stop() + 1).expect("a frame has 12 bits at most");
        timing.offsets = timing.offsets();
        Some(timing)
    }

    fn offsets(&self) -> Option<[u64; POINTS_MAX]> {
        let sum = |index: u32| self.lead + f64::from(index) * self.width;
        // Halves of whole widths add up without rounding.
        let exact = (self.width * 2.0).fract() == 0.0 && (self.lead * 4.0).fract() == 0.0;
        let near_tie = |at: f64| (at - at.round()).abs() < TIE;
        let mut indices = 0..=self.stop();
        if !exact && indices.any(|index| near_tie(sum(index))) {
            return None;
        }
        let mut offsets = [0; POINTS_MAX];
        for (offset, index) in offsets.iter_mut().zip(0u32..) {
            *offset = whole(sum(index).ceil());
        }
        Some(offsets)
    }

    /// Sample number at which bit `index` is sampled, in a frame that starts at `start`.
    #[inline(always)]
    pub(super) fn point(&self, start: u64, index: u32) -> u64 {
        match &self.offsets {
            Some(offsets) if start < EXACT_MAX => start + offsets[index as usize],
            _ => self.point_by_rounding(start, index),
        }
    }

    #[cold]
    #[expect(clippy::cast_precision_loss, reason = "the rounding is the point")]
    fn point_by_rounding(&self, start: u64, index: u32) -> u64 {
        whole((start as f64 + self.lead + f64::from(index) * self.width).ceil())
    }

    /// The range in which the bit sampled at `point` is drawn.
    pub(super) fn extent(&self, point: u64) -> (u64, u64) {
        (point.saturating_sub(self.before), point + self.after)
    }

    /// Bits of data.
    #[inline(always)]
    pub(super) fn data_bits(&self) -> u32 {
        self.data_bits
    }

    /// Index of the parity bit, if there is one.
    pub(super) fn parity(&self) -> Option<u32> {
        self.has_parity.then_some(self.data_bits + 1)
    }

    /// Index of the stop bit.
    #[inline(always)]
    pub(super) fn stop(&self) -> u32 {
        self.data_bits + u32::from(self.has_parity) + 1
    }

    /// Bits of a frame, start and stop included.
    #[inline(always)]
    pub(super) fn points(&self) -> u8 {
        self.points
    }

    /// Samples of a frame, start and stop bit included.
    pub(super) fn frame(&self) -> u64 {
        whole((f64::from(self.points) * self.width).ceil())
    }

    /// Shortest active level that is a break, in samples.
    #[inline(always)]
    pub(super) fn break_min(&self) -> u64 {
        self.break_min
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, and `as` saturates"
)]
fn whole(samples: f64) -> u64 {
    samples as u64
}
