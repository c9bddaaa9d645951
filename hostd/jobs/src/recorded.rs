//! What the captures of a job are called as files, and how files are named in URLs.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt::Write as _;

/// Letters of a label that a file's name has as they are; the others are `_`.
const PLAIN: &str = "-_.";

/// Most letters of a label that a file's name has.
const NAME_CHARS_MAX: usize = 100;

/// A capture of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded<'r> {
    /// Its id.
    pub id: &'r str,
    /// Run of the job.
    pub run: &'r str,
    /// Number of the attempt.
    pub attempt: u32,
    /// What it is called within the run, as its step.
    pub label: &'r str,
}

/// A file's name for each, in their order, which no other one of the run has: `boot.sr`. Where labels are the same, the first
/// one of the last attempt has that name, and the others have their id behind it.
#[must_use]
pub fn capture_files(captures: &[Recorded<'_>]) -> Vec<String> {
    let mut order: Vec<usize> = (0..captures.len()).collect();
    order.sort_by_key(|place| Reverse(captures[*place].attempt));
    let mut files = vec![String::new(); captures.len()];
    let mut taken = HashSet::new();
    for place in order {
        let Recorded { id, run, label, .. } = captures[place];
        let name = match label {
            "" => plain(id),
            label => plain(label),
        };
        files[place] = match taken.insert((run, name.clone())) {
            true => format!("{name}.sr"),
            false => format!("{name}-{}.sr", plain(id)),
        };
    }
    files
}

fn plain(name: &str) -> String {
    let letter = |c: char| match c.is_ascii_alphanumeric() || PLAIN.contains(c) {
        true => c,
        false => '_',
    };
    name.chars().take(NAME_CHARS_MAX).map(letter).collect()
}

/// A path as part of a URL (RFC 3986, 3.3), or as a value of its query; its slashes stay.
#[must_use]
pub fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => out.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => out.push(byte.into()),
            byte => {
                // Writing to a string cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_capture_has_a_file_of_its_own() {
        let of = |id, run, attempt, label| Recorded {
            id,
            run,
            attempt,
            label,
        };
        let long = "x".repeat(1000);
        let files = capture_files(&[
            of("01A", "b", 1, "boot"),
            of("01B", "b", 2, "boot"),
            of("01C", "b", 2, "the ../bus"),
            of("01D", "c", 1, "boot"),
            of("01E", "b", 2, "boot"),
            of("01F", "b", 2, ""),
            of("01G", "b", 2, &long),
        ]);
        let expected = [
            "boot-01A.sr",
            "boot.sr",
            "the_.._bus.sr",
            "boot.sr",
            "boot-01E.sr",
            "01F.sr",
        ];
        assert_eq!(files[..6], expected);
        assert!(files[6].len() < 120);
    }

    #[test]
    fn paths_are_encoded_but_for_their_slashes() {
        assert_eq!(encoded("a b/ü?#%.elf"), "a%20b/%C3%BC%3F%23%25.elf");
    }
}
