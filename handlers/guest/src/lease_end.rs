//! What became of a lease that was to end.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Time;
use crate::leases::Released;

/// How much of a holder's label others see, in characters.
pub const HOLDER_CHARS_MAX: usize = 40;

/// Members of the answers of all endpoints that end a lease.
#[derive(Serialize, JsonSchema)]
pub struct LeaseEnd<'a> {
    /// false: another lease holds the device, and goes on.
    released: bool,
    /// With `released`: the pod has acknowledged the safe state. While it has not, the device is given to no one.
    #[serde(skip_serializing_if = "Option::is_none")]
    safe: Option<bool>,
    /// Without `released`: who holds the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = true))]
    holder: Option<Option<&'a str>>,
    /// Without `released`: until when, if it is not renewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Time>", extend("x-null" = true))]
    expires_at: Option<Option<&'a str>>,
}

impl<'a> From<&'a Released> for LeaseEnd<'a> {
    fn from(released: &'a Released) -> Self {
        let (safe, other) = match released {
            Released::Safe => (Some(true), None),
            Released::MakingSafe => (Some(false), None),
            Released::Other(busy) => (None, Some(busy)),
        };
        Self {
            released: other.is_none(),
            safe,
            holder: other.map(|busy| busy.holder.as_deref()),
            expires_at: other.map(|busy| busy.expires_at.as_deref()),
        }
    }
}
