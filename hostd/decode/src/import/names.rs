//! Names of channels.

use std::collections::HashSet;

/// Longest name of a channel, in characters.
const CHARS_MAX: usize = 64;

/// Unique, printable names: decoders are given channels by name.
pub fn unique_names(given: &[String]) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut names = Vec::with_capacity(given.len());
    for (index, name) in given.iter().enumerate() {
        let plain = name.chars().filter(|c| !c.is_control());
        let plain: String = plain.take(CHARS_MAX).collect();
        let plain = plain.trim();
        let mut unique = match plain {
            "" => index.to_string(),
            some => some.to_owned(),
        };
        while !taken.insert(unique.clone()) {
            unique.push('\'');
        }
        names.push(unique);
    }
    names
}
