//! Which build of the server answers, so that an open page notices an update.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use http::{HeaderName, HeaderValue};

/// In every answer.
pub(super) const HEADER: HeaderName = HeaderName::from_static("hostd-version");

/// The version, and what tells one build of it from another.
static VALUE: LazyLock<HeaderValue> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    let text = build().map_or_else(
        || version.to_owned(),
        |build| format!("{version}+{build:016x}"),
    );
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(env!("CARGO_PKG_VERSION")))
});

/// Its value: `0.4.0+9f86d081884c7d65`.
#[must_use]
pub(super) fn value() -> HeaderValue {
    VALUE.clone()
}

/// From size and time of the program: an update replaces it.
fn build() -> Option<u64> {
    let program = std::env::current_exe().ok()?;
    let found = program.metadata().ok()?;
    let mut hasher = DefaultHasher::new();
    (found.len(), found.modified().ok()?).hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn one_build_says_the_same_each_time() {
        let text = value().to_str().unwrap().to_owned();
        let (version, build) = text.split_once('+').unwrap();
        assert_eq!((version, build.len()), (env!("CARGO_PKG_VERSION"), 16));
        assert_eq!(value(), text);
    }
}
