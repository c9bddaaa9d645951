//! Why no file of a build was selected, for every group that takes one.

use crate::{ApiError, Refusal, builds};

/// The one part of a reported build.
pub const REPORTED: &str = "external";

/// A selection that found no file, or several.
#[must_use]
pub fn refusal(error: builds::Error) -> ApiError {
    match error {
        builds::Error::Ambiguous(names) => ApiError::of(
            Refusal::Ambiguous,
            format!(
                "several files fit, name one with artifact: {}",
                names.join(", ")
            ),
        ),
        builds::Error::Other(cause) => ApiError::internal(cause),
        _ => ApiError::of(
            Refusal::NotFound,
            "not found: no build has a file that fits",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::refusal;
    use crate::builds::Error;

    #[test]
    fn refusals() {
        let names = vec!["a.elf".to_owned(), "b.elf".to_owned()];
        let ambiguous = refusal(Error::Ambiguous(names));
        assert!(ambiguous.message.ends_with("a.elf, b.elf"));
        assert_eq!((ambiguous.status, ambiguous.code), (409, "ambiguous"));
        assert_eq!(refusal(Error::NotFound).status, 404);
        assert_eq!(refusal(Error::Other("disk".into())).status, 500);
    }
}
