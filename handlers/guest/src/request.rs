//! Reading a request: parameters, query, JSON body, caller.

use serde::Serialize;

use crate::{ApiError, Body, Caller, Fields, Query, Refusal, Request, Response, Role};

impl Request {
    /// Value of the pattern's placeholder number `index`; empty when the pattern has fewer.
    #[must_use]
    pub fn param(&self, index: usize) -> &str {
        self.params.get(index).map_or("", String::as_str)
    }

    /// First value of a header; `name` in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether the client says by `If-None-Match` that it has what this `ETag` stands for.
    #[must_use]
    pub fn knows(&self, tag: &str) -> bool {
        let headers = self
            .headers
            .iter()
            .filter(|(name, _)| name == "if-none-match");
        let mut tags = headers.flat_map(|(_, tags)| tags.split(',').map(str::trim));
        tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
    }

    /// The members of the JSON object in the body.
    ///
    /// # Errors
    /// 415 for another media type, 400 for anything but one JSON object of bounded depth.
    pub fn json(&self) -> Result<Fields, ApiError> {
        if self.body.is_empty() {
            return Err(ApiError::invalid(
                "the body is empty; send a JSON object with content-type application/json",
            ));
        }
        self.json_or_empty()
    }

    /// Like [`Request::json`], but no body is the empty object.
    ///
    /// # Errors
    /// As [`Request::json`].
    pub fn json_or_empty(&self) -> Result<Fields, ApiError> {
        if self.body.is_empty() {
            return Ok(Fields::empty());
        }
        self.json_in(&self.body)
    }

    /// The members of the JSON object in a body that was received separately from the request.
    pub(crate) fn json_in(&self, body: &[u8]) -> Result<Fields, ApiError> {
        let media_type = self.header("content-type").unwrap_or("application/json");
        if !is_json(media_type) {
            return Err(ApiError::of(
                Refusal::UnsupportedMediaType,
                "the body must be JSON with content-type application/json",
            ));
        }
        Fields::parse(body)
    }

    /// The query string, decoded.
    ///
    /// # Errors
    /// 400 when it is malformed, too long, or gives a parameter twice.
    pub fn query(&self) -> Result<Query, ApiError> {
        Query::parse(&self.query)
    }

    /// The caller. Public routes have none.
    ///
    /// # Errors
    /// 500: the host let a request without a credential into a route that needs one.
    pub fn caller(&self) -> Result<&Caller, ApiError> {
        self.caller.as_ref().ok_or_else(|| {
            ApiError::internal("the host passed no caller to a route that needs one")
        })
    }
}

impl Caller {
    /// Whether the user is an admin or an owner of the organisation.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        matches!(self.role, Role::Admin | Role::Owner)
    }
}

impl Response {
    /// A record as JSON.
    #[must_use]
    pub fn json<T: Serialize>(status: u16, record: &T) -> Self {
        Self::json_bytes(status, written(record))
    }

    /// A record as JSON whose member `name`, which the record itself leaves out, is JSON text from
    /// the host, copied as it is.
    #[must_use]
    pub fn json_with<T: Serialize>(status: u16, record: &T, name: &str, json: &str) -> Self {
        let mut bytes = written(record);
        let end = bytes.pop();
        debug_assert_eq!(end, Some(b'}'));
        if bytes.len() > 1 {
            bytes.push(b',');
        }
        bytes.extend(written(&name));
        bytes.push(b':');
        bytes.extend_from_slice(json.as_bytes());
        bytes.push(b'}');
        Self::json_bytes(status, bytes)
    }

    fn json_bytes(status: u16, bytes: Vec<u8>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: Body::Bytes(bytes),
        }
    }

    /// 204
    #[must_use]
    pub fn no_content() -> Self {
        Self {
            status: 204,
            headers: Vec::new(),
            body: Body::Empty,
        }
    }
}

/// A value as JSON.
pub(crate) fn written<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("memory takes every byte, and records have text for keys")
}

/// `application/json`, with or without parameters, and the `+json` types.
fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or("").trim();
    let Some((main, sub)) = essence.split_once('/') else {
        return false;
    };
    main.eq_ignore_ascii_case("application")
        && (sub.eq_ignore_ascii_case("json") || sub.to_ascii_lowercase().ends_with("+json"))
}

#[cfg(test)]
mod tests;
