//! What the operator has set.

use serde::de::DeserializeOwned;

use crate::Error;
#[cfg(target_arch = "wasm32")]
use crate::bindings::handler::hostd::plugin::config as wit;
#[cfg(not(target_arch = "wasm32"))]
use crate::testing::with;

/// The configuration, every member of the manifest's `[config]` with a value or its default.
///
/// # Errors
/// `T` does not fit the manifest.
pub fn get<T: DeserializeOwned>() -> Result<T, Error> {
    let text = on!(wit::get(), with(|double| double.config.to_string()));
    serde_json::from_str(&text).map_err(|error| Error::new("bad_config", error.to_string()))
}
