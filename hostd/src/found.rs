//! What a search finds, as a line of JSON.

use search::Hit;
use serde::Serialize;

#[derive(Serialize)]
struct Line<'h> {
    from: u64,
    to: u64,
    text: &'h str,
}

/// A line with its end.
pub(crate) fn line(hit: &Hit) -> String {
    let line = Line {
        from: hit.from,
        to: hit.to,
        text: &hit.text,
    };
    let text = serde_json::to_string(&line);
    text.expect("numbers and texts have JSON") + "\n"
}
