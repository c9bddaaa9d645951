//! Who is asking, and whether they may: credential, rate, kind and scope, and pages of other
//! origins.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use admission::Requester;
use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use identity::Credential;

use super::{Gateway, job};
use crate::http::address::Address;
use crate::http::cookies;
use crate::http::error::ApiError;
use crate::http::relay::Relayed;
use crate::http::routes::Entry;
use crate::http::socket::query;
use identity::Verified;

/// Which page makes a request, in the words of a browser: `same-origin`, `same-site`, `cross-site`, or `none` for the user.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

impl Gateway {
    /// The caller, if the request's credential opens the route. None: a public route.
    pub(super) fn authenticate(
        &self,
        entry: &Entry,
        head: &Parts,
    ) -> Result<Option<Verified>, ApiError> {
        let headers = &head.headers;
        let relayed = head.extensions.get::<Relayed>();
        if entry.is_public() {
            if relayed.is_some() {
                return Err(job_only());
            }
            let address = requester(None, self.client(head)).user;
            self.rate
                .take(&address, Instant::now())
                .map_err(ApiError::rate_limited)?;
            return Ok(None);
        }
        if relayed.is_none()
            && let Some(caller) = self.desk.caller(entry.declared.scope.as_deref(), head)
        {
            self.rate
                .take(caller.subject(), Instant::now())
                .map_err(ApiError::rate_limited)?;
            return Ok(Some(caller));
        }
        let text = |name| {
            headers
                .get(name)
                .and_then(|v: &HeaderValue| v.to_str().ok())
        };
        // A browser cannot set headers on a WebSocket.
        let in_query = entry.is_socket().then(|| head.uri.query()).flatten();
        let token = in_query.and_then(query::token);
        let cookies = cookies::shown(headers, || self.is_secret(head));
        let verified = self.services.auth.authenticate(
            text(AUTHORIZATION),
            cookies.as_deref(),
            token.as_deref(),
        )?;
        check_way(&verified, relayed)?;
        job::check(&verified, entry)?;
        self.rate
            .take(verified.subject(), Instant::now())
            .map_err(ApiError::rate_limited)?;
        let is_by_cookie = headers.get(AUTHORIZATION).is_none() && token.is_none();
        let changes = !head.method.is_safe() || entry.is_socket();
        if is_by_cookie && (is_foreign(headers) || changes && is_of_other_site(headers)) {
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "forbidden",
                "a page of another origin may not use the session's cookie; send the token in the header Authorization",
            ));
        }
        if !entry.accepts(verified.credential()) {
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "wrong_credential",
                not_taken(&verified, entry),
            ));
        }
        // People are limited by their role, which the handler checks.
        if let Some(scope) = &entry.declared.scope
            && verified.credential() != Credential::UserSession
            && !verified.has_scope(scope)
        {
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "missing_scope",
                format!(
                    "the credential lacks the scope {scope}; add it to the key or use another one"
                ),
            ));
        }
        Ok(Some(verified))
    }
}

/// Which other credential an endpoint takes.
fn not_taken(verified: &Verified, entry: &Entry) -> String {
    let name = verified.credential_name();
    let takes_session = entry.accepts(Credential::CloudSession);
    match verified.credential() {
        Credential::ApiKey if takes_session => format!(
            "this endpoint does not take {name}; make a session token of it with POST /api/auth/token and send that as \
             Authorization: Bearer <token>"
        ),
        _ => format!(
            "this endpoint does not take {name}; see its security entry in /api/openapi.json"
        ),
    }
}

/// A job's credential opens nothing but the job's own relay, and nothing else opens that: neither is
/// of use to whoever carries it away.
fn check_way(verified: &Verified, relayed: Option<&Relayed>) -> Result<(), ApiError> {
    match (verified.job(), relayed) {
        (None, None) => Ok(()),
        (Some(_), Some(relayed)) if verified.kid() == Some(relayed.kid()) => Ok(()),
        (_, Some(_)) => Err(job_only()),
        (Some(_), None) => Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "wrong_credential",
            "the credential belongs to a job, and is of use to the job's own programs alone",
        )),
    }
}

/// For a request over a job's relay that does not show the job's credential.
pub(super) fn job_only() -> ApiError {
    ApiError::new(
        StatusCode::FORBIDDEN,
        "wrong_credential",
        "inside a job the server answers only those who show the job's own credential; send the key in BENCHPOD_API_KEY",
    )
}

/// For a request over a job's relay for what the server shows to everybody: its health, metrics, pages and
/// documents do not concern programs of jobs, whatever they show.
pub(super) fn outside_only() -> ApiError {
    ApiError::new(
        StatusCode::FORBIDDEN,
        "wrong_credential",
        "programs of a job reach their bench and nothing else; ask for the server's health, metrics, pages and documents from outside of the job",
    )
}

/// Whose share of scarce resources a request takes: its user's, or that of its address. All requests
/// without a credential count as one organisation.
pub(in crate::http) fn requester(caller: Option<&Verified>, client: Option<IpAddr>) -> Requester {
    if let Some(caller) = caller {
        return caller.requester();
    }
    let address = client.map(Address::from);
    Requester {
        org: Arc::default(),
        user: address.map_or_else(Arc::default, |address| address.to_string().into()),
    }
}

/// Whether a browser says that a page of another origin makes the request, also where it does not name that origin. It says so
/// of links that are followed, too, which change nothing.
fn is_of_other_site(headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all(SEC_FETCH_SITE).iter();
    sites.any(|site| site != "same-origin" && site != "none")
}

/// Whether a browser says that a foreign page makes the request. Browsers send cookies with such
/// requests, so a cookie alone proves nothing.
pub(in crate::http) fn is_foreign(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else {
        return false;
    };
    let own = headers.get(HOST).and_then(|host| host.to_str().ok());
    let claimed = origin.to_str().ok().and_then(|o| o.split_once("://"));
    claimed.zip(own).is_none_or(|((_, host), own)| host != own)
}
