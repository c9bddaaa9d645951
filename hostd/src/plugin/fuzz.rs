//! Fuzz entries for what plugins tell and are asked.

use super::reports;

/// Any bytes that are text, as the name and type of a plugin's document and as the query that asks for one.
///
/// # Panics
/// What is sent of them is not one file name and one media type.
pub fn documents(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        reports::fuzz::document(text);
    }
}
