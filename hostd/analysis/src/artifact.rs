//! Names of artifacts: a child says them, and they become parts of addresses.

/// Longest name, in characters.
pub(crate) const NAME_MAX: usize = 128;

/// Longest media type.
const TYPE_MAX: usize = 100;

/// What a run found, as `rules.json`.
pub(crate) const RULES: &str = "rules.json";

/// Whether it is a relative path that stays where it is, of letters, digits, `.`, `-` and `_`.
pub(crate) fn is_name(name: &str) -> bool {
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'/');
    name.len() <= NAME_MAX && name.split('/').all(is_part) && name.bytes().all(is_plain)
}

/// Whether it may be the value of a header.
pub(crate) fn is_type(text: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_graphic() || b == b' ';
    (1..=TYPE_MAX).contains(&text.len()) && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_where_they_are() {
        for good in ["rules.json", "layers/F.Cu.svg", "a"] {
            assert!(is_name(good), "{good}");
        }
        let long = "x".repeat(NAME_MAX + 1);
        for bad in [
            "", "/a", "a/", "../a", "a/../b", "a//b", ".", "a\\b", "a b", "a\n", "ä", "a?b", &long,
        ] {
            assert!(!is_name(bad), "{bad}");
        }
        assert!(is_type("text/html; charset=utf-8"));
        for bad in ["", "a\r\nb", &"x".repeat(101)] {
            assert!(!is_type(bad));
        }
    }
}
