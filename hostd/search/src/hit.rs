//! What was found.

/// A place in a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// First sample.
    pub from: u64,
    /// The sample behind the last one.
    pub to: u64,
    /// What is there, for people.
    pub text: String,
}
