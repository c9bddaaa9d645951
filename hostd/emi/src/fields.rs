//! The physics of the EMI analysis: lines, spectra, radiation, cables, resonances and limits.
//!
//! Plain functions over SI units (metres, hertz, seconds, volts, amperes, ohms) without state, files or clocks. A result
//! is an [`Estimate`]: the number, the [`Method`] that gave it (formula, source, assumptions, range) and every input that
//! lies outside the method's range. A number outside the range is still given, but never silently. Input that no formula
//! can take, such as NaN or a negative width, is an [`InputError`].
//!
//! ```
//! use emi::fields::line;
//!
//! // 0.3 mm wide, 35 µm thick, 0.2 mm above its plane, FR-4.
//! let estimate = line::microstrip(0.3e-3, 0.2e-3, 35e-6, 4.3)?;
//! assert!((estimate.value.impedance_ohm - 55.1).abs() < 0.05);
//! assert!(!estimate.outside_validity());
//! # Ok::<(), emi::fields::InputError>(())
//! ```

mod complex;
pub mod constants;
pub mod crosstalk;
mod dense;
pub mod emission;
mod estimate;
pub mod inductance;
pub(crate) mod input;
pub mod limits;
pub mod line;
pub mod radiation;
pub mod resonance;
pub mod section;
pub mod spectrum;
pub mod wire;

pub use complex::Complex;
pub use estimate::{Estimate, Excess, Method};
pub use input::InputError;
