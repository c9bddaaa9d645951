//! What the plugin has to say to the organisation's webhooks.

use serde_json::Value;

use crate::Error;
#[cfg(target_arch = "wasm32")]
use crate::bindings::handler::hostd::plugin::notify as wit;
#[cfg(not(target_arch = "wasm32"))]
use crate::testing::with;

/// Tell webhooks that listen to `x.<plugin id>.<kind>` an object. It is stored when this returns.
///
/// # Errors
/// It was not granted, is no object or too large, or too many messages wait.
pub fn send(kind: &str, json: &Value) -> Result<(), Error> {
    on!(
        Ok(wit::send(kind, &json.to_string())?),
        with(|double| {
            double.notices.push((kind.to_owned(), json.clone()));
            Ok(())
        })
    )
}
