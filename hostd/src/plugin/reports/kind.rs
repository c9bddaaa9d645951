//! The kinds of documents that a plugin makes, checked, and the endpoint of each.

use http::StatusCode;
use plugins::id::PluginId;
use runtime::{Credentials, Route};
use serde_json::{Value, json};
use store::captures::Status;

use super::wit;
use crate::http::error::ApiError;
use crate::plugin::bindings::imports::hostd::plugin::types::Error;
use crate::plugin::host::{captures, jobs};
use crate::plugin::sight::{self, Sight};

/// Below a plugin's prefix, what is the host's own: no route of a plugin begins with it.
pub(in crate::plugin) const RESERVED: &str = "reports";

/// Options of one kind.
const OPTIONS_MAX: usize = 32;

/// Longest name of an option.
const OPTION_LEN_MAX: usize = 32;

/// Longest line for people in bytes.
const LINE_BYTES_MAX: usize = 256;

/// Why the kinds of documents that a plugin tells of cannot be offered. Fits "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::plugin) enum KindsError {
    #[error("make reports: it exports hostd:plugin/reports and tells of no kind")]
    None,
    #[error("make reports about {0:?}: this server has reports about a job or a capture")]
    Subject(String),
    #[error("make reports about a {0}: it tells of two kinds")]
    Twice(&'static str),
    #[error("make reports about a {subject}: {rule}")]
    Rule {
        subject: &'static str,
        rule: &'static str,
    },
}

/// What a document is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Job,
    Capture,
}

/// One kind.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) subject: Subject,
    summary: String,
    /// Names and what they mean.
    pub(super) options: Vec<(String, String)>,
}

/// Check what a plugin tells.
///
/// # Errors
/// The first rule that is broken.
pub(super) fn checked(declared: Vec<wit::KindInfo>) -> Result<Vec<Kind>, KindsError> {
    let mut kinds: Vec<Kind> = Vec::new();
    for info in declared {
        let subject = Subject::of(&info.subject)?;
        if kinds.iter().any(|kind| kind.subject == subject) {
            return Err(KindsError::Twice(subject.word()));
        }
        if let Some(rule) = broken(&info) {
            let subject = subject.word();
            return Err(KindsError::Rule { subject, rule });
        }
        let options = info.options.into_iter();
        kinds.push(Kind {
            subject,
            summary: info.summary,
            options: options.map(|option| (option.id, option.text)).collect(),
        });
    }
    match kinds.is_empty() {
        true => Err(KindsError::None),
        false => Ok(kinds),
    }
}

fn broken(info: &wit::KindInfo) -> Option<&'static str> {
    let is_line = |text: &str| text.len() <= LINE_BYTES_MAX && !text.chars().any(char::is_control);
    let is_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b);
    let is_id = |id: &str| (1..=OPTION_LEN_MAX).contains(&id.len()) && id.bytes().all(is_name);
    let mut ids: Vec<&str> = info
        .options
        .iter()
        .map(|option| option.id.as_str())
        .collect();
    ids.sort_unstable();
    if ids.len() > OPTIONS_MAX {
        return Some("it has more than 32 options");
    }
    if !ids.iter().all(|id| is_id(id)) {
        return Some("the name of an option must be 1 to 32 of a-z 0-9 _ -");
    }
    if ids.windows(2).any(|pair| pair[0] == pair[1]) {
        return Some("two options have one name");
    }
    if !is_line(&info.summary) || !info.options.iter().all(|option| is_line(&option.text)) {
        return Some("its summary and the texts of its options must be lines of at most 256 bytes");
    }
    None
}

impl Subject {
    fn of(word: &str) -> Result<Self, KindsError> {
        let known = [Self::Job, Self::Capture]
            .into_iter()
            .find(|s| s.word() == word);
        known.ok_or_else(|| KindsError::Subject(word.chars().take(OPTION_LEN_MAX).collect()))
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Capture => "capture",
        }
    }

    /// Scope that reading such a subject needs.
    fn scope(self) -> &'static str {
        match self {
            Self::Job => sight::JOBS,
            Self::Capture => sight::CAPTURES,
        }
    }

    /// Credentials that open such a subject; a session that may be restricted to devices opens no job.
    fn credentials(self) -> Credentials {
        match self {
            Self::Job => Credentials::API_KEY | Credentials::USER_SESSION,
            Self::Capture => Credentials::all(),
        }
    }

    /// Code of the refusal while it has not finished.
    fn unfinished(self) -> &'static str {
        match self {
            Self::Job => "unfinished",
            Self::Capture => "wrong_state",
        }
    }

    /// What a plugin is told of the subject with this id.
    ///
    /// # Errors
    /// There is none for this call, or it has not finished.
    pub(super) async fn look(self, sight: &Sight<'_>, id: &str) -> Result<Value, ApiError> {
        match self {
            Self::Job => {
                let job = sight.job(id).await.map_err(told)?;
                if job.queue.is_some() {
                    return Err(self.not_yet("the job has not ended; wait for it, or cancel it"));
                }
                let recorded = sight.recorded(&job).await.map_err(told)?;
                let measured = sight.measured(&job).await.map_err(told)?;
                Ok(jobs::shown::json(&job, &recorded, &measured))
            }
            Self::Capture => {
                let record = sight.capture(id).await.map_err(told)?;
                if record.status != Status::Done {
                    return Err(self.not_yet("the capture is not done; see its status"));
                }
                Ok(captures::shown::json(&record))
            }
        }
    }

    fn not_yet(self, sentence: &str) -> ApiError {
        ApiError::new(StatusCode::CONFLICT, self.unfinished(), sentence)
    }
}

/// Why the host shows a subject to nobody in this call.
fn told(error: Error) -> ApiError {
    match error.code.as_str() {
        "not_found" => ApiError::new(StatusCode::NOT_FOUND, "not_found", error.message),
        "not_granted" => ApiError::new(StatusCode::FORBIDDEN, "not_granted", error.message),
        "missing_scope" => ApiError::new(StatusCode::FORBIDDEN, "missing_scope", error.message),
        "internal" => ApiError::internal(),
        _ => ApiError::new(StatusCode::FORBIDDEN, "forbidden", error.message),
    }
}

impl Kind {
    /// `GET /x/<id>/reports/<subject>/{id}`
    pub(super) fn route(&self, id: &PluginId) -> Route {
        let word = self.subject.word();
        Route {
            name: format!("x.{id}.{RESERVED}.{word}"),
            method: "GET".to_owned(),
            pattern: format!("/x/{id}/{RESERVED}/{word}/{{id}}"),
            credentials: self.subject.credentials(),
            scope: Some(self.subject.scope().to_owned()),
            body_limit: 0,
            streamed_body: false,
            summary: self.summary.clone(),
            openapi: self.described().to_string(),
        }
    }

    fn described(&self) -> Value {
        let text = json!({"type": "string"});
        let mut parameters = vec![json!({
            "name": "id",
            "in": "path",
            "required": true,
            "description": format!("Id of the {}, which has finished.", self.subject.word()),
            "schema": text,
        })];
        parameters.extend(self.options.iter().map(
            |(id, about)| json!({"name": id, "in": "query", "description": about, "schema": text}),
        ));
        json!({
            "parameters": parameters,
            "responses": {"200": {
                "description": "The document, with its file name in `Content-Disposition`.",
                "content": {"*/*": {"schema": text}},
            }},
            "refusals": [self.subject.unfinished(), "not_granted", "report_failed"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(subject: &str, options: &[&str]) -> wit::KindInfo {
        let options = options.iter().map(|id| wit::OptionInfo {
            id: (*id).to_owned(),
            text: "One".to_owned(),
        });
        wit::KindInfo {
            subject: subject.to_owned(),
            summary: "Some".to_owned(),
            options: options.collect(),
            extra: Vec::new(),
        }
    }

    #[test]
    fn each_kind_has_an_endpoint_for_who_may_read_its_subject() {
        let kinds = checked(vec![info("job", &[]), info("capture", &["sda"])]).unwrap();
        let id = "acme.x".parse().unwrap();
        let job = kinds[0].route(&id);
        assert_eq!(
            (job.name.as_str(), job.pattern.as_str()),
            ("x.acme.x.reports.job", "/x/acme.x/reports/job/{id}")
        );
        assert_eq!(job.scope.as_deref(), Some("jobs:submit"));
        assert!(!job.credentials.contains(Credentials::CLOUD_SESSION));
        let capture = kinds[1].route(&id);
        assert_eq!(capture.scope.as_deref(), Some("bench:control"));
        assert_eq!(capture.credentials, Credentials::all());
        assert!(capture.openapi.contains("\"sda\""), "{}", capture.openapi);
    }

    #[test]
    fn each_rule_is_told() {
        let long = "x".repeat(33);
        let many: Vec<String> = (0..33).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let mut two_lines = info("job", &[]);
        two_lines.summary = "a\nb".to_owned();
        for (word, declared) in [
            ("tells of no kind", vec![]),
            ("about a job or a capture", vec![info("device", &[])]),
            ("two kinds", vec![info("job", &[]), info("job", &[])]),
            ("1 to 32", vec![info("job", &["A"])]),
            ("1 to 32", vec![info("job", &[long.as_str()])]),
            ("1 to 32", vec![info("job", &[""])]),
            ("one name", vec![info("job", &["a", "b", "a"])]),
            ("more than 32", vec![info("job", &many)]),
            ("lines", vec![two_lines]),
        ] {
            let error = checked(declared).unwrap_err().to_string();
            assert!(error.contains(word), "{word}: {error}");
        }
    }
}
