//! The work: what comes in, what goes out.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The body is not the JSON that was expected, or the stored value is not JSON.
#[derive(Debug)]
pub struct BadRequest(pub serde_json::Error);

#[derive(Deserialize)]
struct Sampled {
    id: String,
    values: Vec<i64>,
    options: Options,
    note: String,
}

#[derive(Deserialize)]
struct Options {
    verbose: bool,
    rate: f64,
    mode: String,
}

#[derive(Serialize)]
struct Summary<'a> {
    ok: bool,
    id: &'a str,
    sum: i64,
    count: usize,
    mode: &'a str,
    rate: f64,
    verbose: bool,
    note: &'a str,
    stored: Option<&'a RawValue>,
}

/// Answer `body`; `get` looks up a key.
///
/// # Errors
/// Anything that is not the expected JSON.
pub fn answer(
    body: &[u8],
    get: impl FnOnce(&str) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, BadRequest> {
    let sampled: Sampled = serde_json::from_slice(body).map_err(BadRequest)?;
    let stored = get(&sampled.id);
    let stored = stored
        .as_deref()
        .map(serde_json::from_slice::<&RawValue>)
        .transpose()
        .map_err(BadRequest)?;
    serde_json::to_vec(&Summary {
        ok: true,
        id: &sampled.id,
        sum: sampled.values.iter().sum(),
        count: sampled.values.len(),
        mode: &sampled.options.mode,
        rate: sampled.options.rate,
        verbose: sampled.options.verbose,
        note: &sampled.note,
        stored,
    })
    .map_err(BadRequest)
}
