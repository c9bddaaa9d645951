//! Measurements on stored captures.
//!
//! Every function takes a range of samples, is cut to what the capture has, and needs bounded memory however long that is.
//! Times are in seconds, analog values in the channel's unit.
//!
//! - [`digital`]: edges, frequency, duty, widths of pulses and periods of a logic channel.
//! - [`analog`]: levels, frequency, rise and fall of an analog channel.
//! - [`spectrum`]: amplitudes by frequency of an analog channel.
//!
//! The `…_while` forms ask now and then whether to go on, and return nothing once they should not.

#![warn(missing_docs)]

mod analog;
mod digital;
mod scale;
mod spectrum;
mod stats;
mod window;

pub use analog::{Analog, analog, analog_while};
pub use digital::{Digital, digital, digital_while};
pub use scale::Scale;
pub use spectrum::{
    AVERAGES_MAX, LENGTH_MAX, PEAKS_MAX, POINTS_MAX, Peak, Spectrum, spectrum, spectrum_while,
};
pub use stats::{EXACT_BELOW, STATS_ERROR_MAX, Stats};
pub use window::Window;
