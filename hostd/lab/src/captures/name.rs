//! What a capture may be called, however it is made. The API's document gives the same bound.

use super::plan::PlanError;

/// Longest capture name, in characters: what a list shows on one line.
const NAME_CHARS_MAX: usize = 128;

/// Check the name of a new capture.
///
/// # Errors
/// It is empty, too long, or holds control characters.
pub(super) fn check_name(name: Option<&str>) -> Result<(), PlanError> {
    let invalid = |message: String| PlanError::Invalid {
        field: "name".to_owned(),
        message,
    };
    match name {
        Some(name) if !(1..=NAME_CHARS_MAX).contains(&name.chars().count()) => {
            Err(invalid(format!("must be 1 to {NAME_CHARS_MAX} characters")))
        }
        Some(name) if name.chars().any(char::is_control) => {
            Err(invalid("must not hold control characters".to_owned()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn as_long_as_documented_and_no_longer() {
        assert!(check_name(None).is_ok());
        assert!(check_name(Some("n")).is_ok());
        assert!(check_name(Some(&"é".repeat(128))).is_ok());
        for bad in ["", &"n".repeat(129), "a\nb"] {
            assert!(check_name(Some(bad)).is_err(), "{bad}");
        }
    }
}
