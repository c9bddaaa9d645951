//! The one error shape: `{"error": sentence, "code": stable word, "request_id": id, "fields"?: […]}`, and for files
//! that came along `"reason"?: word` and `"problems"?: […]`.
//!
//! The sentence tells the caller what to do; what happened inside goes to the operator's log as
//! `cause`, under the same request id, and never into the response.

use serde::Serialize;

use crate::http_types::Busy;
use crate::request::written;
use crate::{Body, Refusal, Response};

/// Longest sentence in an error body, in bytes. Some clients read only the first 300 bytes of an
/// error before they parse it; see [`ApiError::short`].
const MESSAGE_BYTES_MAX: usize = 1000;

/// What is said of what keeps a device from its safe state, in bytes; its record says all.
const OBSTACLE_BYTES_MAX: usize = 100;

/// Whole body of a [`ApiError::short`] error, in bytes.
const SHORT_BODY_BYTES_MAX: usize = 299;

/// What is wrong with one member of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldProblem {
    /// Path within the body, dotted, or name of the query parameter: `trigger.channel`.
    pub field: String,
    /// Sentence fragment that follows the name: `must be 1..=14`.
    pub message: String,
}

/// What is wrong at one place of a text of many lines that came along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TextProblem {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// Stable word for programs.
    pub code: String,
    /// The value it is about, as `builds[0].steps`; empty for the whole text.
    pub path: String,
    /// Sentence for people.
    pub message: String,
}

/// A refusal, as the caller sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// 400..=599
    pub status: u16,
    /// Stable word for programs.
    pub code: &'static str,
    /// Sentence for people.
    pub message: String,
    pub fields: Vec<FieldProblem>,
    /// Seconds to wait, for the header `retry-after`.
    pub retry_after_s: Option<u32>,
    /// For the log alone.
    pub cause: Option<String>,
    /// Who holds the device.
    held: Option<Box<Held>>,
    /// What is wrong with a file that came along.
    content: Option<Box<Content>>,
    short: bool,
}

/// What is wrong with a file that came along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Content {
    /// Stable word for programs, finer than the code.
    reason: Option<String>,
    problems: Vec<TextProblem>,
}

/// Whoever holds the device that the request is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Held {
    /// Label; none while the device changes hands.
    holder: Option<String>,
    /// RFC 3339.
    expires_at: Option<String>,
    /// Place in the queue, from 1.
    queue_place: Option<u32>,
}

/// The body of a refusal. The holder of the device, or the end of the lease, may be unknown: `null`.
#[derive(Serialize)]
struct Told<'a> {
    error: &'a str,
    code: &'a str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    busy: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_place: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    fields: &'a [FieldProblem],
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    problems: &'a [TextProblem],
}

impl ApiError {
    #[must_use]
    pub fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            fields: Vec::new(),
            retry_after_s: None,
            cause: None,
            held: None,
            content: None,
            short: false,
        }
    }

    #[must_use]
    pub fn of(refusal: Refusal, message: impl Into<String>) -> Self {
        Self::new(refusal.status(), refusal.word(), message)
    }

    /// 400 `invalid_request`.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, "invalid_request", message)
    }

    /// 400 `invalid_request` about one member.
    #[must_use]
    pub fn field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::fields(vec![FieldProblem {
            field: field.into(),
            message: message.into(),
        }])
    }

    /// 400 `invalid_request` about several members; the sentence carries the first.
    #[must_use]
    pub fn fields(fields: Vec<FieldProblem>) -> Self {
        let mut error = Self::invalid(match fields.as_slice() {
            [] => "the request is invalid".to_owned(),
            [only] => format!("{} {}", only.field, only.message),
            [first, rest @ ..] => format!(
                "{} {} (and {} more)",
                first.field,
                first.message,
                rest.len()
            ),
        });
        error.fields = fields;
        error
    }

    /// 404 `not_found`: `<what> not found: <id>`.
    #[must_use]
    pub fn not_found(what: &str, id: &str) -> Self {
        Self::of(
            Refusal::NotFound,
            format!("{what} not found: {}", clip(id, 80)),
        )
    }

    /// 403 `forbidden`.
    #[must_use]
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::of(Refusal::Forbidden, message)
    }

    /// 409 `lease_held`, with `busy`, `holder`, `expires_at` and `queue_place` beside the sentence; 409 `lease_lost` if the
    /// lease that the request shows is over.
    #[must_use]
    pub fn held(busy: Busy) -> Self {
        if busy.lost {
            let sentence = "the lease that this request shows is over; what it set up is gone: acquire the device again, or \
                            send no lease";
            return Self::of(Refusal::LeaseLost, sentence).short();
        }
        let message = match (&busy.holder, busy.making_safe, &busy.obstacle) {
            (Some(holder), ..) => {
                format!("the device is held by {holder}; retry when its lease ends")
            }
            (None, true, Some(obstacle)) => {
                let obstacle = clip(obstacle, OBSTACLE_BYTES_MAX);
                format!("the device is being made safe, but {obstacle}; an admin may override")
            }
            (None, true, None) => {
                "the device is being made safe; retry shortly, or have an admin override".to_owned()
            }
            (None, false, _) => "the device is being handed over; retry shortly".to_owned(),
        };
        let mut error = Self::of(Refusal::LeaseHeld, message);
        error.held = Some(Box::new(Held {
            holder: busy.holder,
            expires_at: busy.expires_at,
            queue_place: busy.place,
        }));
        error.retry_after(busy.retry_after_s).short()
    }

    /// 500 `internal`; the cause goes to the log.
    #[must_use]
    pub fn internal(cause: impl Into<String>) -> Self {
        let mut error = Self::new(
            500,
            "internal",
            "the server failed to answer this request; its log has the details under the request id",
        );
        error.cause = Some(cause.into());
        error
    }

    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// With a stable word that is finer than the code, as `reason`.
    #[must_use]
    pub fn reason(mut self, word: impl Into<String>) -> Self {
        self.content.get_or_insert_default().reason = Some(word.into());
        self
    }

    /// With all that is wrong with a text that came along, as `problems`.
    #[must_use]
    pub fn problems(mut self, problems: Vec<TextProblem>) -> Self {
        self.content.get_or_insert_default().problems = problems;
        self
    }

    /// Keep the whole body under 300 bytes: `fields` go first, then the end of the sentence.
    #[must_use]
    pub fn short(mut self) -> Self {
        self.short = true;
        self
    }

    /// The response to the request with this id.
    #[must_use]
    pub fn into_response(mut self, request_id: &str) -> Response {
        self.message = clip(&self.message, MESSAGE_BYTES_MAX).to_owned();
        let mut body = self.body(request_id);
        if self.short && body.len() > SHORT_BODY_BYTES_MAX {
            self.fields.clear();
            body = self.body(request_id);
        }
        while self.short && body.len() > SHORT_BODY_BYTES_MAX && !self.message.is_empty() {
            // Escapes turn a byte of text into up to six bytes of the body, so one cut may not be
            // enough.
            let excess = body.len() - SHORT_BODY_BYTES_MAX;
            let keep = self.message.len().saturating_sub(excess.div_ceil(6));
            self.message = clip(&self.message, keep).to_owned();
            body = self.body(request_id);
        }
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        if let Some(seconds) = self.retry_after_s {
            headers.push(("retry-after".to_owned(), seconds.to_string()));
        }
        Response {
            status: self.status,
            headers,
            body: Body::Bytes(body),
        }
    }

    fn body(&self, request_id: &str) -> Vec<u8> {
        let held = self.held.as_deref();
        let content = self.content.as_deref();
        written(&Told {
            error: &self.message,
            code: self.code,
            request_id,
            busy: held.map(|_| true),
            holder: held.map(|held| held.holder.as_deref()),
            expires_at: held.map(|held| held.expires_at.as_deref()),
            queue_place: held.and_then(|held| held.queue_place),
            fields: &self.fields,
            reason: content.and_then(|content| content.reason.as_deref()),
            problems: content.map_or(&[], |content| &content.problems),
        })
    }
}

/// The longest prefix of `text` that has at most `bytes_max` bytes.
pub(crate) fn clip(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests;
