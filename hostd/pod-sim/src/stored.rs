//! What the pod stores in its flash: it survives a restart.

use super::calibration::Calibration;
use super::limits::Limits;

/// Stored settings of the front end.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub(crate) calibration: Calibration,
    pub(crate) limits: Option<Limits>,
}
