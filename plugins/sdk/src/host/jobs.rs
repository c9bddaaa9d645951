//! Jobs of the organisation.

use serde_json::Value;

use crate::Error;
#[cfg(target_arch = "wasm32")]
use crate::bindings::handler::hostd::plugin::jobs as wit;
#[cfg(not(target_arch = "wasm32"))]
use crate::testing::with;

/// What the API shows of a job.
///
/// # Errors
/// It was not granted, the caller lacks the scope, or there is none.
pub fn get(id: &str) -> Result<Value, Error> {
    let text = on!(
        wit::get(id).map_err(Error::from),
        with(|double| double.job(id).map(|job| job.json.to_string()))
    )?;
    serde_json::from_str(&text).map_err(|error| Error::new("bad_answer", error.to_string()))
}

/// The last `limit` lines of its log, at most 1,000.
///
/// # Errors
/// As [`get`].
pub fn log_tail(id: &str, limit: u32) -> Result<Vec<String>, Error> {
    on!(
        Ok(wit::log_tail(id, limit)?),
        with(|double| Ok(double.job(id)?.tail(limit)))
    )
}
