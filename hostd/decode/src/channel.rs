//! Finds the channel of a capture that a text refers to.
//!
//! Channels are referred to by name. A bare number is a shorthand where it can mean only one thing:
//! on the channels of a pod, whose names count from 1, `3` is `LA3`. Elsewhere a number could be a
//! name or an index, so it is taken as a name if both mean the same channel or there is no such
//! index, and refused otherwise. A name in double quotes is never taken for an index.

use crate::spec::{SpecError, nearest};

/// Prefix of the names of a pod's logic channels; the number follows.
const POD_PREFIX: &str = "LA";

/// Name of a pod's analog channel, which has no number.
const POD_ANALOG: &str = "ADC";

/// The index in `names` of the channel that `text` refers to.
///
/// # Errors
/// There is no such channel, or it could be one of two.
pub fn find_channel(text: &str, names: &[String]) -> Result<usize, SpecError> {
    let unquoted = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    let place = |wanted: &str| names.iter().position(|name| name == wanted);
    let found = match (unquoted, number(text)) {
        (Some(name), _) => place(name),
        (None, Some(number)) if are_of_pod(names) => place(&format!("{POD_PREFIX}{number}")),
        (None, Some(number)) => {
            let named = place(text);
            if named.is_none() || (number < names.len() && named != Some(number)) {
                return Err(SpecError::AmbiguousChannel {
                    role: String::new(),
                    number: text.to_owned(),
                    valid: names.join(", "),
                });
            }
            named
        }
        (None, None) => place(text),
    };
    let valid: Vec<&str> = names.iter().map(String::as_str).collect();
    found.ok_or_else(|| SpecError::UnknownChannel {
        role: String::new(),
        name: text.to_owned(),
        hint: nearest(text, &valid),
        valid: valid.join(", "),
    })
}

/// A bare number: digits and nothing else.
fn number(text: &str) -> Option<usize> {
    let bare = text.bytes().all(|byte| byte.is_ascii_digit());
    bare.then(|| text.parse().ok()).flatten()
}

/// Whether all names are names of a pod's channels.
fn are_of_pod(names: &[String]) -> bool {
    let counted = |name: &String| name.strip_prefix(POD_PREFIX).is_some_and(is_count);
    names.iter().all(|name| name == POD_ANALOG || counted(name))
}

fn is_count(text: &str) -> bool {
    !text.starts_with('0') && number(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::{SpecError, find_channel};

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|&name| name.to_owned()).collect()
    }

    fn found(text: &str, list: &[&str]) -> Option<usize> {
        find_channel(text, &names(list)).ok()
    }

    fn is_ambiguous(text: &str, list: &[&str]) -> bool {
        let refused = find_channel(text, &names(list));
        matches!(refused, Err(SpecError::AmbiguousChannel { .. }))
    }

    #[test]
    fn numbers_are_those_of_the_pod() {
        let pod = ["ADC", "LA1", "LA2", "LA13"];
        for (text, place) in [
            ("LA1", Some(1)),
            ("1", Some(1)),
            ("2", Some(2)),
            ("13", Some(3)),
            ("ADC", Some(0)),
            ("\"LA2\"", Some(2)),
            ("0", None),
            ("3", None),
            ("14", None),
            ("la1", None),
            ("", None),
            ("99999999999999999999999", None),
        ] {
            assert_eq!(found(text, &pod), place, "{text}");
        }
        // Not in the order of their numbers, so the index would be a different channel.
        assert_eq!(found("2", &["LA2", "LA5"]), Some(0));
    }

    #[test]
    fn elsewhere_a_number_must_mean_one_channel() {
        let own = ["SCL", "SDA", "0", "CS#"];
        assert_eq!(found("CS#", &own), Some(3));
        for text in ["0", "1", "3", "4"] {
            assert!(is_ambiguous(text, &own), "{text}");
        }
        assert_eq!(found("\"0\"", &own), Some(2));
        assert_eq!(found("\"1\"", &own), None);
        // The names that many recorders use: name and index agree.
        let counted = ["0", "1", "2"];
        assert_eq!(found("1", &counted), Some(1));
        assert!(is_ambiguous("3", &counted));
        let from_one = ["1", "2", "3"];
        assert!(is_ambiguous("1", &from_one));
        assert_eq!(found("3", &from_one), Some(2), "there is no place 3");
        assert_eq!(found("\"1\"", &from_one), Some(0));
        // A quote alone is a name like any other.
        assert_eq!(found("\"", &["\""]), Some(0));
    }

    #[test]
    fn a_refusal_names_the_channels_there_are() {
        let text = |text: &str, list: &[&str]| {
            let refused = find_channel(text, &names(list));
            refused.expect_err("it is refused").to_string()
        };
        assert_eq!(
            text("LA3", &["LA1", "LA2"]),
            "find channel `LA3` in the capture (did you mean `LA1`?); it has LA1, LA2"
        );
        assert_eq!(
            text("1", &["SCL", "SDA"]),
            "tell whether channel `1` is a name or a place; write one of the names SCL, SDA, \
             between double quotes where it is a number"
        );
    }
}
