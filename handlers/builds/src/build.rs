//! What the endpoints about a reported build share: who may use them, the record, the refusals.

use guest::{
    ApiError, Credential, Object, Query, Request, Shape, builds, form, selection, text, uploads,
};

/// Builds are reported from CI, which has a session token and no key.
pub(crate) const REPORT: &[Credential] = &[Credential::CloudSession];

/// Everybody who uses devices finds the files.
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

/// Name of a file in the query.
pub(crate) fn file_name(query: &mut Query) -> String {
    query.required("name", text(1..=TEXT_CHARS_MAX))
}

/// Build id that the path names.
pub(crate) fn id(request: &Request) -> &str {
    request.param(0)
}

/// Write the record of a build.
pub(crate) fn record(build: &builds::Build, object: &mut Object) {
    let status = match build.status {
        builds::Status::Open => "open",
        builds::Status::Success => "success",
        builds::Status::Failure => "failure",
    };
    object
        .field("build_id", &build.id)
        .field("status", status)
        .field("reason", &build.reason)
        .field("created_at", &build.created_at);
}

/// `id` is what was asked for, empty when nothing was.
pub(crate) fn refusal(error: builds::Error, id: &str) -> ApiError {
    match error {
        builds::Error::NotFound if id.is_empty() => selection::refusal(error),
        builds::Error::NotFound => ApiError::not_found("build or file", id),
        builds::Error::Finished => {
            ApiError::new(409, "wrong_state", "the build has its result already")
        }
        builds::Error::NameTaken => {
            ApiError::new(409, "name_taken", "the build has another file of this name")
        }
        builds::Error::Full(limit) => {
            ApiError::new(409, "quota_exceeded", format!("there is no room: {limit}"))
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

    use super::refusal;

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
