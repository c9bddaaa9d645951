//! Power of a device's target.

use crate::Error;
#[cfg(target_arch = "wasm32")]
use crate::bindings::handler::hostd::plugin::power as wit;
#[cfg(not(target_arch = "wasm32"))]
use crate::testing::with;

/// A rail as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rail {
    /// 1 = internal 5 V, 2 = external supply.
    pub id: u8,
    pub on: bool,
    /// The switch has tripped.
    pub fault: bool,
    /// Behind the switch; none where it cannot be measured.
    pub millivolts: Option<i64>,
    /// Signed; none where it cannot be measured.
    pub microamperes: Option<i64>,
}

/// The rails of a device, by its id or name.
///
/// # Errors
/// It was not granted, there is no such device, or it does not answer.
pub fn rails(device: &str) -> Result<Vec<Rail>, Error> {
    on!(
        {
            let rails = wit::rails(device)?.into_iter().map(|rail| Rail {
                id: rail.id,
                on: rail.on,
                fault: rail.fault,
                millivolts: rail.millivolts,
                microamperes: rail.microamperes,
            });
            Ok(rails.collect())
        },
        with(|double| Ok(double.device(device)?.rails.clone()))
    )
}

/// Switch a rail.
///
/// # Errors
/// As [`rails`], or somebody else has leased the device.
pub fn switch(device: &str, rail: u8, on: bool) -> Result<(), Error> {
    on!(
        Ok(wit::switch(device, rail, on)?),
        with(|double| double.switch(device, rail, on))
    )
}
