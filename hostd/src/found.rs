//! What a search finds, as a line of JSON.

use search::Hit;
use serde_json::json;

/// A line with its end.
pub(crate) fn line(hit: &Hit) -> String {
    let Hit { from, to, text } = hit;
    format!("{}\n", json!({"from": from, "to": to, "text": text}))
}
