//! Patterns of a job's `ref`, its branch or tag: `main`, `release/*`. What is for some refs alone is listed so.

use crate::limits::PATH_CHARS_MAX;
use crate::pattern::Pattern;

/// Patterns of one list.
pub const REFS_MAX: usize = 16;

/// Longest such pattern, in characters.
pub const REF_CHARS_MAX: usize = PATH_CHARS_MAX;

/// Checks a list of patterns.
///
/// # Errors
/// There are too many, or one is no pattern: a fragment that follows the name of the list, `must be …`.
pub fn check(patterns: &[String]) -> Result<(), String> {
    if patterns.len() > REFS_MAX {
        return Err(format!("must be at most {REFS_MAX} patterns"));
    }
    for text in patterns {
        if let Err(error) = Pattern::parse(text) {
            return Err(format!(
                "must be patterns as `main` or `release/*`: {error}"
            ));
        }
    }
    Ok(())
}

/// Whether one of the patterns has the whole of this branch or tag. A job without one fits none.
#[must_use]
pub fn any_has(patterns: &[String], reference: Option<&str>) -> bool {
    let fits = |text: &String| {
        let pattern = Pattern::parse(text);
        // What cannot be read has nothing.
        pattern.is_ok_and(|pattern| reference.is_some_and(|of| pattern.matches_whole(of)))
    };
    patterns.iter().any(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_whole_refs_alone() {
        let list = ["main", "release/*", "v?.*"].map(str::to_owned);
        for (reference, is_in) in [
            (Some("main"), true),
            (Some("release/2"), true),
            (Some("v1.0"), true),
            (Some("main/x"), false),
            (Some("refs/heads/main"), false),
            (Some("release/2/x"), false),
            (Some(""), false),
            (None, false),
        ] {
            assert_eq!(any_has(&list, reference), is_in, "{reference:?}");
        }
        assert!(!any_has(&[], Some("main")));
        // What an older version has stored and this one cannot read has nothing.
        assert!(!any_has(&["[main]".to_owned()], Some("[main]")));
    }

    #[test]
    fn a_list_has_bounds() {
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&vec!["main".to_owned(); REFS_MAX]), Ok(()));
        let long = "x".repeat(REF_CHARS_MAX + 1);
        let many = vec!["main".to_owned(); REFS_MAX + 1];
        for wrong in [vec![long], many, vec![String::new()], vec!["/a".to_owned()]] {
            assert!(check(&wrong).unwrap_err().starts_with("must be "));
        }
    }
}
