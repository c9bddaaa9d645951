//! What the endpoints about badges share: who may make them, the record, the refusals.

use guest::badges::{self, Badge, Word};
use guest::{ApiError, Credential, Operation, Refusal, Request, Time, words};
use schemars::JsonSchema;
use serde::Serialize;

/// A badge tells strangers something, so sessions that programs get are not enough to make one.
pub(crate) const CREDENTIALS: &[Credential] = &[Credential::ApiKey, Credential::UserSession];

/// To manage badges.
pub(crate) const SCOPE: Option<&str> = Some("bench:admin");

words! {
    pub(crate) const WORDS: Word = {
        Unknown = "unknown",
        Running = "running",
        Passing = "passing",
        Failing = "failing",
        Infrastructure = "infrastructure",
    };
}

/// Badge id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

/// Document the badge id in the path.
pub(crate) fn describe_id(operation: &mut Operation) {
    operation.path("id", "Badge id.");
}

/// A badge.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Badge")]
pub(crate) struct Record<'a> {
    /// Whoever knows it may see the picture.
    id: &'a str,
    /// Jobs of this name.
    name: &'a str,
    /// Of this branch or tag alone; null = any.
    r#ref: Option<&'a str>,
    /// What it says before the word.
    label: &'a str,
    /// How the newest job that has ended stands, without cancelled ones.
    #[schemars(extend("enum" = WORDS.all()))]
    word: &'static str,
    /// Path of the picture, which needs no credential.
    image: String,
    /// User who made it.
    user: &'a str,
    #[schemars(with = "Time")]
    created_at: &'a str,
}

impl<'a> From<&'a Badge> for Record<'a> {
    fn from(badge: &'a Badge) -> Self {
        Self {
            id: &badge.id,
            name: &badge.name,
            r#ref: badge.ref_.as_deref(),
            label: &badge.label,
            word: WORDS.word(badge.word),
            image: format!("/api/badges/{}/badge.svg", badge.id),
            user: &badge.user,
            created_at: &badge.created_at,
        }
    }
}

/// A badge, for the documentation.
pub(crate) fn example() -> Badge {
    Badge {
        id: "5T8cYdR1uZpL7wHfA6eGnX".into(),
        name: "blinky".into(),
        ref_: Some("main".into()),
        label: "bench".into(),
        word: Word::Passing,
        user: "01JGZ5V9T3N8W2K4Q7R6D1M0XB".into(),
        created_at: "2026-01-02T03:04:05Z".into(),
    }
}

/// `id` is the badge that was asked for, empty when none was.
pub(crate) fn refusal(error: badges::Error, id: &str) -> ApiError {
    match error {
        badges::Error::NotFound => ApiError::not_found("badge", id),
        badges::Error::Forbidden(message) => ApiError::forbidden(message),
        badges::Error::Full(message) => ApiError::of(Refusal::QuotaExceeded, message),
        badges::Error::Other(cause) => ApiError::internal(cause),
    }
}
