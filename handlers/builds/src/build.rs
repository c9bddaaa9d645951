//! What the endpoints about a reported build share: who may use them, the record, the refusals.

use guest::builds::Status;
use guest::{
    ApiError, Credential, Like, Operation, Refusal, Request, Shape, Time, alike, builds, form,
    members, selection, text, uploads, words,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Builds are reported from CI, which has a session token and no key.
pub(crate) const REPORT: &[Credential] = &[Credential::CloudSession];

/// Everybody who uses devices may find the files.
pub(crate) const READ: &[Credential] = &[
    Credential::ApiKey,
    Credential::UserSession,
    Credential::CloudSession,
];

pub(crate) const SCOPE: Option<&str> = Some("bench:control");

/// Longest short text about a build, in characters.
const TEXT_CHARS_MAX: usize = 255;

/// A short text about a build, possibly empty.
pub(crate) fn short_text() -> impl Shape<Value = String> {
    text(0..=TEXT_CHARS_MAX)
}

members! {
    /// The parameters of a file.
    pub(crate) struct Named {
        /// Name of the file; a relative path.
        pub(crate) name: String = required(alike(1..=TEXT_CHARS_MAX, &FILE)),
    }
}

/// The same path on any system, and below a folder.
static FILE: Like = Like {
    pattern: r#"^(?:[^/.\\":\u0000-\u001f\u007f-\u009f][^/\\":\u0000-\u001f\u007f-\u009f]*|\.[^/.\\":\u0000-\u001f\u007f-\u009f][^/\\":\u0000-\u001f\u007f-\u009f]*|\.\.[^/\\":\u0000-\u001f\u007f-\u009f]+)(?:/(?:[^/.\\":\u0000-\u001f\u007f-\u009f][^/\\":\u0000-\u001f\u007f-\u009f]*|\.[^/.\\":\u0000-\u001f\u007f-\u009f][^/\\":\u0000-\u001f\u007f-\u009f]*|\.\.[^/\\":\u0000-\u001f\u007f-\u009f]+))*$"#,
    fits: |text| {
        let is_name = |part: &str| !matches!(part, "" | "." | "..");
        text.split('/').all(is_name) && !text.contains(['\\', '"', ':'])
    },
    rule: "must be a relative path without . and .. parts, backslash, colon and quote",
    example: "build/blinky.bin",
};

/// Document the build id in the path.
pub(crate) fn describe_id(operation: &mut Operation) {
    operation.path("build", "Build id.");
}

/// Build id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

words! {
    const STATUSES: Status = {
        Open = "open",
        Success = "success",
        Failure = "failure",
    };
}

/// A build.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Build")]
pub(crate) struct Record<'a> {
    /// ULID.
    build_id: &'a str,
    #[schemars(extend("enum" = STATUSES.all()))]
    status: &'static str,
    reason: &'a str,
    #[schemars(with = "Time")]
    created_at: &'a str,
}

impl<'a> From<&'a builds::Build> for Record<'a> {
    fn from(build: &'a builds::Build) -> Self {
        Self {
            build_id: &build.id,
            status: STATUSES.word(build.status),
            reason: &build.reason,
            created_at: &build.created_at,
        }
    }
}

/// A build that accepts files, for the documentation.
pub(crate) fn example() -> builds::Build {
    builds::Build {
        id: "01JGZ5V9T3N8W2K4Q7R6D1M0XA".into(),
        source: builds::Source {
            repo_owner: "acme".into(),
            repo: "blinky".into(),
            ref_: "main".into(),
            sha: "0a1b2c3".into(),
            event: "push".into(),
            workflow: "ci".into(),
            actor: "ada".into(),
            run_id: "1".into(),
            run_attempt: "1".into(),
        },
        target: String::new(),
        name: String::new(),
        wiring: r#"{"target":"target/stm32f0x.cfg","swclk":1,"swdio":2}"#.into(),
        status: Status::Open,
        reason: String::new(),
        created_at: "2026-01-02T03:04:05Z".into(),
    }
}

/// `id` is what was asked for, empty when nothing was.
pub(crate) fn refusal(error: builds::Error, id: &str) -> ApiError {
    match error {
        builds::Error::NotFound if id.is_empty() => selection::refusal(error),
        builds::Error::NotFound => ApiError::not_found("build or file", id),
        builds::Error::Finished => {
            ApiError::of(Refusal::WrongState, "the build has its result already")
        }
        builds::Error::NameTaken => ApiError::of(
            Refusal::NameTaken,
            "the build has another file of this name",
        ),
        builds::Error::Full(limit) => {
            ApiError::of(Refusal::QuotaExceeded, format!("there is no room: {limit}"))
        }
        builds::Error::Ambiguous(_) => selection::refusal(error),
        builds::Error::Invalid((field, message)) => ApiError::field(field, message),
        builds::Error::Other(cause) => ApiError::internal(cause),
    }
}

/// Receive the request's body and make it a file of the build.
pub(crate) fn receive(
    build: &str,
    kind: builds::Kind,
    name: &str,
    content_type: &str,
) -> Result<builds::Artifact, ApiError> {
    let room = builds::room(build, kind).map_err(|error| refusal(error, build))?;
    let upload = uploads::receive(room).map_err(form::refusal)?;
    builds::attach(build, kind, name, content_type, upload).map_err(|error| refusal(error, build))
}

#[cfg(test)]
mod tests {
    use guest::builds;
    use serde_json::json;

    use super::{Record, example, refusal};

    #[test]
    fn records() {
        let failed = builds::Build {
            status: builds::Status::Failure,
            reason: "2 failed".into(),
            ..example()
        };
        assert_eq!(
            json!(Record::from(&failed)),
            json!({
                "build_id": "01JGZ5V9T3N8W2K4Q7R6D1M0XA",
                "status": "failure",
                "reason": "2 failed",
                "created_at": "2026-01-02T03:04:05Z"
            })
        );
    }

    #[test]
    fn refusals() {
        use builds::Error;
        for (error, status, code) in [
            (Error::NotFound, 404, "not_found"),
            (Error::Finished, 409, "wrong_state"),
            (Error::NameTaken, 409, "name_taken"),
            (Error::Full("files: 1".into()), 409, "quota_exceeded"),
            (Error::Ambiguous(vec!["a".into()]), 409, "ambiguous"),
            (
                Error::Invalid(("name".into(), "must be short".into())),
                400,
                "invalid_request",
            ),
            (Error::Other("disk".into()), 500, "internal"),
        ] {
            let error = refusal(error, "b1");
            assert_eq!((error.status, error.code), (status, code));
        }
        assert!(refusal(Error::NotFound, "").message.contains("not found"));
    }
}
