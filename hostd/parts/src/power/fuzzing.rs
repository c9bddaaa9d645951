//! Entries that fuzzers and the seeded tests feed with what supplies answer.

use super::{answer, hub, usbtmc};
use crate::scan::Switching;

/// Any bytes as answers of a supply, or as what a hub says of itself.
///
/// # Panics
/// If what is read is beyond its bounds.
pub(crate) fn answers(bytes: &[u8]) {
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        if let Some(number) = answer::number(&line) {
            assert!(number.is_finite());
        }
        if let Some(scaled) = answer::scaled(&line, 1e6) {
            assert!(scaled.unsigned_abs() < 1_000_000_000_000_000);
        }
        let _ = answer::switch(&line);
        let _ = answer::bits(&line);
        if let Some((_, text)) = answer::error(&line) {
            assert!(!text.contains(char::is_control));
        }
        assert!(answer::shown(&line).chars().count() <= 80);
    }
    if let Some(tag) = bytes.get(1) {
        if let Switching::EachPort(ports) = hub::told_switching(*tag, bytes) {
            assert!(ports > 0);
        }
        let text = usbtmc::answer(*tag, bytes);
        assert!(text.is_none_or(|text| text.len() <= 3 * bytes.len()));
    }
}
