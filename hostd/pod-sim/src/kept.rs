//! The last capture, which can be read again.

use super::adc::AdcRender;
use super::plan::Plan;

/// A capture: its counts can be computed again, but its edges are stored.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) plan: Plan,
    pub(crate) t0_ns: u64,
    pub(crate) adc: AdcRender,
    pub(crate) edges: Vec<(u64, u16)>,
}
