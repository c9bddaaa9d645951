//! Checks of what callers pass: finite numbers within bounds that keep every formula finite.

/// A number that no formula can take.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{quantity} is {value}; give a number from {min} to {max}")]
pub struct InputError {
    /// The quantity, with its unit unless it is a ratio.
    pub quantity: &'static str,
    /// What was given.
    pub value: f64,
    /// Least number that is taken.
    pub min: f64,
    /// Greatest number that is taken.
    pub max: f64,
}

/// `value`, if it is a number from `min` to `max`.
pub(crate) fn within(
    quantity: &'static str,
    value: f64,
    min: f64,
    max: f64,
) -> Result<f64, InputError> {
    if min <= value && value <= max {
        Ok(value)
    } else {
        Err(InputError {
            quantity,
            value,
            min,
            max,
        })
    }
}

/// Width, height or distance within a board, 10 nm to 10 m.
pub(crate) fn length(quantity: &'static str, value: f64) -> Result<f64, InputError> {
    within(quantity, value, 1e-8, 10.0)
}

/// Thickness of copper, 0 to 10 mm.
pub(crate) fn thickness(value: f64) -> Result<f64, InputError> {
    within("copper thickness (m)", value, 0.0, 0.01)
}

/// Relative permittivity, 1 to 1000.
pub(crate) fn permittivity(value: f64) -> Result<f64, InputError> {
    within("relative permittivity", value, 1.0, 1000.0)
}

/// Frequency, 1 Hz to 1 THz.
pub(crate) fn frequency(value: f64) -> Result<f64, InputError> {
    within("frequency (Hz)", value, 1.0, 1e12)
}

/// Distance to an antenna, 0.1 m to 1 km.
pub(crate) fn distance(value: f64) -> Result<f64, InputError> {
    within("distance (m)", value, 0.1, 1000.0)
}

/// Amplitude of a current, 0 to 1 MA.
pub(crate) fn current(value: f64) -> Result<f64, InputError> {
    within("current (A)", value, 0.0, 1e6)
}
