//! The few endpoints the host answers itself: health, readiness, metrics, the OpenAPI document, the pages that show it and
//! the web application.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde_json::json;
use subtle::ConstantTimeEq;

use crate::http::body::ResponseBody;
use crate::http::error::ApiError;
use crate::http::metrics::{HttpMetrics, Sources, analysis, disk, jobs, notices};
use crate::http::web::Web;
use crate::http::{home, pages};
use crate::services::Services;
use base::space::State;

const PATHS: [&str; 4] = ["/healthz", "/readyz", "/metrics", "/api/openapi.json"];

/// Whether the host itself answers this path, for `GET` and `HEAD`.
#[must_use]
pub fn owns(path: &str) -> bool {
    PATHS.contains(&path) || path == home::PATH || pages::owns(path)
}

/// Whether the answer with this name reports the server's health.
#[must_use]
pub(crate) fn is_health(name: &str) -> bool {
    matches!(name, "healthz" | "readyz" | "metrics")
}

/// Readiness, metrics and the document that never changes while the process runs.
#[derive(Debug)]
pub struct Native {
    ready: AtomicBool,
    openapi: Bytes,
    /// The token that `/metrics` requires; empty = none.
    metrics_token: String,
    pub metrics: HttpMetrics,
    services: Arc<Services>,
    /// None where no browser comes.
    web: Option<Web>,
}

impl Native {
    #[must_use]
    pub fn new(
        openapi: String,
        metrics_token: &str,
        services: Arc<Services>,
        web: Option<Web>,
    ) -> Self {
        Self {
            ready: AtomicBool::new(false),
            openapi: openapi.into(),
            metrics_token: metrics_token.to_owned(),
            metrics: HttpMetrics::default(),
            services,
            web,
        }
    }

    /// Why requests should go elsewhere, if they should.
    fn unready(&self) -> Option<&'static str> {
        if !self.ready.load(Ordering::Acquire) {
            return Some("the server is starting or stopping");
        }
        if self.services.store.failure().is_some() {
            return Some("the store is out of service; the log of the server says why");
        }
        let is_full = self.services.space.look().state == State::Reserve;
        is_full.then_some("the disk of the server is full")
    }

    fn readyz(&self) -> Response<ResponseBody> {
        let (status, body) = match self.unready() {
            None => (StatusCode::OK, json!({"status": "ready"})),
            Some(reason) => (
                StatusCode::SERVICE_UNAVAILABLE,
                json!({"status": "not ready", "reason": reason}),
            ),
        };
        reply(status, "application/json", body.to_string())
    }

    /// `/readyz` answers 200 from `true` on, 503 from `false` on (draining).
    pub(crate) fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
    }

    /// Route name and answer, or None when the path is not one of ours.
    #[must_use]
    pub fn answer(
        &self,
        method: &http::Method,
        path: &str,
        headers: &HeaderMap,
        sources: &Sources<'_>,
    ) -> Option<(&'static str, Result<Response<ResponseBody>, ApiError>)> {
        if path == "/metrics" && !self.may_read_metrics(headers) {
            let error = ApiError::new(
                StatusCode::UNAUTHORIZED,
                "missing_credential",
                "the metrics need the header Authorization: Bearer with the metrics.token of the configuration",
            );
            return Some(("metrics", Err(error)));
        }
        if let Some((name, response)) = self.document(method, path, sources) {
            return Some((name, Ok(response)));
        }
        if !is_read(method) {
            return None;
        }
        let shown = self.web.as_ref().and_then(|web| web.answer(path, headers));
        if let Some(response) = shown {
            return Some(("web", Ok(response)));
        }
        (path == home::PATH).then(|| ("home", Ok(home::answer())))
    }

    fn may_read_metrics(&self, headers: &HeaderMap) -> bool {
        if self.metrics_token.is_empty() {
            return true;
        }
        let given = headers.get(AUTHORIZATION).and_then(|v| v.to_str().ok());
        let given = given.and_then(|text| text.strip_prefix("Bearer "));
        given.is_some_and(|given| {
            let wanted = self.metrics_token.as_bytes();
            given.as_bytes().ct_eq(wanted).into()
        })
    }

    fn document(
        &self,
        method: &http::Method,
        path: &str,
        sources: &Sources<'_>,
    ) -> Option<(&'static str, Response<ResponseBody>)> {
        if !is_read(method) {
            return None;
        }
        Some(match path {
            "/healthz" => (
                "healthz",
                reply(
                    StatusCode::OK,
                    "application/json",
                    json!({"status": "ok"}).to_string(),
                ),
            ),
            "/readyz" => ("readyz", self.readyz()),
            "/metrics" => (
                "metrics",
                reply(
                    StatusCode::OK,
                    "text/plain; version=0.0.4; charset=utf-8",
                    self.metrics.render(sources)
                        + &disk::render(&self.services)
                        + &analysis::render(&self.services.analysis.figures())
                        + &jobs::render(&self.services.jobs.figures())
                        + &notices::render(self.services.notices.unreadable()),
                ),
            ),
            "/api/openapi.json" => (
                "openapi",
                reply(
                    StatusCode::OK,
                    "application/json",
                    sources.plugins.openapi(&self.openapi),
                ),
            ),
            path => ("docs", pages::answer(path)?),
        })
    }
}

fn is_read(method: &http::Method) -> bool {
    matches!(*method, http::Method::GET | http::Method::HEAD)
}

pub(super) fn reply(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::full(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
