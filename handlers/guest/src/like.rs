//! Texts of which more is asked than their length: how that is checked, and the pattern by which the document says so. A host
//! asks the same once more, and trusts no guest.

use std::ops::RangeInclusive;

use crate::shape::{Shape, alike};

/// A text of which more is asked than [`text`](crate::text) does, and how it is said.
#[derive(Debug)]
pub struct Like {
    /// For the document: a pattern of JSON Schema that excludes control characters, too.
    pub pattern: &'static str,
    /// The same as a check.
    pub fits: fn(&str) -> bool,
    /// What follows the name of the field: `must be …`.
    pub rule: &'static str,
    /// One that fits.
    pub example: &'static str,
}

/// Names for people, whose white space at the ends is left out.
pub static NAME: Like = Like {
    pattern: r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$",
    fits: |text| !text.trim().is_empty(),
    rule: "must not be white space alone",
    example: "night shift",
};

/// Characters of an id of something that is listed.
const ULID_CHARS: usize = 26;

static CURSOR: Like = Like {
    pattern: "^[0-7][0-9A-HJKMNP-TV-Z]{25}$",
    fits: is_ulid,
    rule: "must be the next_cursor of a page",
    example: "01JGZ5V9T3N8W2K4Q7R6D1M0XC",
};

/// Whether a text is an id of something that is listed.
#[must_use]
pub fn is_ulid(text: &str) -> bool {
    let is_digit = |b: u8| {
        b.is_ascii_digit() || b.is_ascii_uppercase() && !matches!(b, b'I' | b'L' | b'O' | b'U')
    };
    text.len() == ULID_CHARS
        && text.starts_with(|first| matches!(first, '0'..='7'))
        && text.bytes().all(is_digit)
}

/// Where a page of a list begins: the last id of the page before.
pub fn cursor() -> impl Shape<Value = String> {
    alike(ULID_CHARS..=ULID_CHARS, &CURSOR)
}

static SINCE: Like = Like {
    pattern: "^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)?$",
    fits: is_since,
    rule: "must be a day, as 2026-01-31, or a second of it in UTC, as 2026-01-31T09:30:00Z",
    example: "2026-01-31",
};

fn is_since(text: &str) -> bool {
    let fits = |at: usize, len: usize, low: u32, high: u32| {
        let digits = text.get(at..at + len);
        let digits = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        let number = digits.and_then(|digits| digits.parse::<u32>().ok());
        number.is_some_and(|number| (low..=high).contains(&number))
    };
    let has = |at: usize, sign: &str| text.get(at..at + 1) == Some(sign);
    let is_day =
        fits(0, 4, 0, 9999) && has(4, "-") && fits(5, 2, 1, 12) && has(7, "-") && fits(8, 2, 1, 31);
    let is_time = || {
        has(10, "T")
            && fits(11, 2, 0, 23)
            && has(13, ":")
            && fits(14, 2, 0, 59)
            && has(16, ":")
            && fits(17, 2, 0, 59)
            && has(19, "Z")
    };
    is_day && (text.len() == 10 || text.len() == 20 && is_time())
}

/// A day, or a second of it in UTC: what is older is left out.
pub fn since() -> impl Shape<Value = String> {
    alike(10..=20, &SINCE)
}

static PATH: Like = Like {
    pattern: r"^(?:[^/.\u0000-\u001f\u007f-\u009f][^/\u0000-\u001f\u007f-\u009f]*|\.|\.[^/.\u0000-\u001f\u007f-\u009f][^/\u0000-\u001f\u007f-\u009f]*|\.\.[^/\u0000-\u001f\u007f-\u009f]+)(?:/(?:[^/.\u0000-\u001f\u007f-\u009f][^/\u0000-\u001f\u007f-\u009f]*|\.|\.[^/.\u0000-\u001f\u007f-\u009f][^/\u0000-\u001f\u007f-\u009f]*|\.\.[^/\u0000-\u001f\u007f-\u009f]+)?)*$",
    fits: |text| !text.starts_with('/') && text.split('/').all(|part| part != ".."),
    rule: "must be a path below a folder: relative, and without ..",
    example: "ci/pipeline.yml",
};

/// A path below a folder.
pub fn path(chars: RangeInclusive<usize>) -> impl Shape<Value = String> {
    alike(chars, &PATH)
}

static BASE64: Like = Like {
    pattern: "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$",
    fits: is_base64,
    rule: "must be padded standard base64",
    example: "AIAAgA==",
};

/// Bytes in standard base64, padded.
pub fn base64(chars: RangeInclusive<usize>) -> impl Shape<Value = String> {
    alike(chars, &BASE64)
}

/// Whether a text is the one way to write its bytes: a last digit has no bits that none of them takes.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let is_digit = |b: u8| b.is_ascii_alphanumeric() || b == b'+' || b == b'/';
    let last = digits.bytes().last().unwrap_or(b'A');
    let is_ended = match (digits.len() % 4, text.len() - digits.len()) {
        (0, 0) => true,
        (2, 2) => b"AQgw".contains(&last),
        (3, 1) => b"AEIMQUYcgkosw048".contains(&last),
        _ => false,
    };
    is_ended && digits.bytes().all(is_digit)
}

static REFS: Like = Like {
    pattern: r"^(?:\./+)*(?:\*\*|\*(?:[^/*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?)*|[^/.*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?(?:[^/*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?)*|\.\*(?:[^/*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?)*|\.[^/.*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?(?:[^/*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?)*|\.\.(?:\*|[^/*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?)(?:[^/*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?)*)(?:/(?:\*\*|\*(?:[^/*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?)*|[^/.*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?(?:[^/*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?)*|\.|\.\*(?:[^/*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?)*|\.[^/.*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?(?:[^/*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?)*|\.\.(?:\*|[^/*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?)(?:[^/*\[\]{}\\!\u0000-\u001f\u007f-\u009f]\*?)*)?)*$",
    fits: is_pattern,
    rule: "must be patterns as `main` or `release/*`: relative, with `*` and `?`, and `**` alone between slashes",
    example: "release/*",
};

/// A pattern of branches and tags.
pub fn ref_pattern(chars: RangeInclusive<usize>) -> impl Shape<Value = String> {
    alike(chars, &REFS)
}

fn is_pattern(text: &str) -> bool {
    let is_sound = |part: &str| part != ".." && (part == "**" || !part.contains("**"));
    let names = |part: &str| !matches!(part, "" | ".");
    !text.contains(['[', ']', '{', '}', '\\', '!'])
        && !text.starts_with('/')
        && text.split('/').all(is_sound)
        && text.split('/').any(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_each_kind() {
        let all: [(&Like, &[&str], &[&str]); 5] = [
            (
                &CURSOR,
                &["01JGZ5V9T3N8W2K4Q7R6D1M0XC"],
                &[
                    "81JGZ5V9T3N8W2K4Q7R6D1M0XC",
                    "01JGZ5V9T3N8W2K4Q7R6D1M0XU",
                    "01JGZ5V9T3N8W2K4Q7R6D1M0X",
                    "01JGZ5V9T3N8W2K4Q7R6D1M0XCC",
                    "",
                ],
            ),
            (
                &SINCE,
                &["2026-01-31", "2026-12-01T23:59:59Z"],
                &[
                    "2026-00-31",
                    "2026-01-32",
                    "2026-01-31T24:00:00Z",
                    "2026-01-31T09:30:00",
                    "2026-01-31 09:30:00Z",
                    "+026-01-31",
                    "2026-01-3ä",
                ],
            ),
            (
                &PATH,
                &["a", "a/b.yml", ".", "./a", ".a/..b", "...", "a//b/"],
                &["/a", "..", "../a", "a/../b", "a/.."],
            ),
            (
                &BASE64,
                &["", "AA==", "AAA=", "AAAA", "+/+/AQ=="],
                &["A", "AB==", "AAB=", "AA=", "AA", "AA==AAAA", "A-A_", "===="],
            ),
            (
                &REFS,
                &[
                    "main",
                    "release/*",
                    "**/v?.*",
                    ".a",
                    "./a/",
                    "*",
                    "..*",
                    "a/./b",
                    "a*b*",
                ],
                &[
                    "", ".", "./", "/a", "a/..", "a**", "**a", "***", "a[b]", "a!", "a/{b}",
                ],
            ),
        ];
        for (like, good, bad) in all {
            let fits = |text: &&&str| (like.fits)(text);
            assert!((like.fits)(like.example), "{}", like.rule);
            assert_eq!(good.iter().find(|text| !fits(text)), None, "{}", like.rule);
            assert_eq!(bad.iter().find(fits), None, "{}", like.rule);
        }
    }
}
