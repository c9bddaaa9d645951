//! Secrets of the organisation.

use crate::Error;
#[cfg(target_arch = "wasm32")]
use crate::bindings::handler::hostd::plugin::secrets as wit;
#[cfg(not(target_arch = "wasm32"))]
use crate::testing::with;

/// The value of a secret that the manifest names and the operator granted.
///
/// # Errors
/// It was not granted, or does not exist.
pub fn get(name: &str) -> Result<String, Error> {
    on!(
        Ok(wit::get(name)?),
        with(|double| {
            let value = double.secrets.get(name).cloned();
            value.ok_or_else(|| {
                Error::new("not_granted", format!("the double has no secret {name}"))
            })
        })
    )
}
