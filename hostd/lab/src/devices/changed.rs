//! What of a device has changed, in the words of the news.

/// What has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    Name,
    /// Board, serial number, firmware or capabilities.
    Pod,
    /// It owes no safe state any more.
    Safe,
    /// Jobs get it again.
    Trusted,
}

impl Changed {
    /// `name`, `pod`, `safe`, `trusted`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Pod => "pod",
            Self::Safe => "safe",
            Self::Trusted => "trusted",
        }
    }
}
