//! What the endpoints about leases share: how long one lasts, why it is refused, and what became of one that was to end.

use schemars::JsonSchema;
use serde::Serialize;

use crate::leases::{Error, Released};
use crate::{ApiError, Shape, Time, integer};

/// Life of a lease when the caller does not say, in seconds.
pub const TTL_S_DEFAULT: u32 = 120;

/// Life of a lease, in seconds.
pub fn ttl_s() -> impl Shape<Value = u32> {
    integer(15..=600_u32)
}

/// The answer to a request about a lease that fails. `device` is what was asked for.
#[must_use]
pub fn refusal(error: Error, device: &str) -> ApiError {
    match error {
        Error::NotFound => ApiError::not_found("device", device),
        Error::Busy(busy) => ApiError::held(busy),
        Error::Invalid((field, rule)) => ApiError::field(field, rule),
        Error::Forbidden(message) => ApiError::forbidden(message),
        Error::Other(cause) => ApiError::internal(cause),
    }
}

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
