//! `hostd:plugin/http-out`: requests to where the grant says, and nowhere else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use ::notify::{Incoming, Outgoing, Unanswered};
use evidence::redact::Secrets;
use plugins::allow::{self, Pattern, REDIRECTS_MAX, RedirectError};
use plugins::rights::Rights;
use plugins::target::Target;
use wasmtime::component::HasData;

use super::{PluginLinker, offers, refusal};
use crate::plugin::asked;
use crate::plugin::call::{Acting, PluginCall};
use crate::plugin::facts::Facts;
use crate::services::Services;
use offers::http_out::{Host, Request, Response};
use offers::types::Error;

/// Largest bodies, of requests and of answers.
const BODY_BYTES_MAX: usize = 1 << 20;

/// Most headers of a request, and their bytes together.
const HEADERS_MAX: usize = 64;
const HEADER_BYTES_MAX: usize = 16 << 10;

/// Longest wait that a plugin may ask for.
const WAIT_MS_MAX: u32 = 30_000;

/// Requests that one call may make, redirects included.
const REQUESTS_MAX: u32 = 16;

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Headers that are about the connection or the body's framing, or say what the server vouches for.
const HOST_OWNED: [&str; 11] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// Prefix of more of them.
const HOST_OWNED_PREFIX: &str = "proxy-";

/// Headers that another server may see, after a redirect: the others may have credentials in them.
const FOR_ANYBODY: [&str; 4] = ["accept", "accept-language", "content-type", "user-agent"];

/// What sends requests in a call, and may go on when the function of the host that began it has returned.
#[derive(Clone)]
pub(in crate::plugin) struct Errands {
    services: Arc<Services>,
    facts: Arc<Facts>,
    rights: Rights,
    /// As they are known by now.
    secrets: Option<Secrets>,
    answer_by: Instant,
    /// Requests of the call.
    made: Arc<AtomicU32>,
}

impl HasData for Errands {
    type Data<'a> = Self;
}

pub(super) fn link(linker: &mut PluginLinker) -> wasmtime::Result<()> {
    offers::http_out::add_to_linker::<_, Errands>(linker, |state| Errands::of(&state.data))
}

impl Host for Errands {
    async fn send(&mut self, request: Request) -> wasmtime::Result<Result<Response, Error>> {
        let sent = self.follow(request).await;
        Ok(sent.map_err(|error| self.without_secrets(error)))
    }
}

impl Errands {
    pub(in crate::plugin) fn of(call: &PluginCall) -> Self {
        Self {
            services: call.services.clone(),
            facts: call.facts.clone(),
            rights: call.rights.clone(),
            secrets: call.secrets.clone(),
            answer_by: call.context.answer_by,
            made: call.requests_made.clone(),
        }
    }

    fn acting(&self) -> Acting<'_> {
        Acting::new(&self.facts.id, &self.rights)
    }

    /// What was refused may be a URL with a secret in it.
    pub(in crate::plugin) fn without_secrets(&self, mut error: Error) -> Error {
        if let Some(secrets) = &self.secrets {
            secrets.redact(&mut error.message);
        }
        error
    }

    /// When a request must have been answered for which the plugin waits so long, or as long as it may.
    pub(in crate::plugin) fn until(&self, wait: Option<Duration>) -> Instant {
        let most = Duration::from_millis(WAIT_MS_MAX.into());
        let wait = wait.map_or(most, |wait| wait.min(most));
        self.answer_by.min(Instant::now() + wait)
    }

    async fn follow(&self, mut request: Request) -> Result<Response, Error> {
        let mut has_secret = self.has_secret(&request.url);
        let (mut target, mut pattern) = self.granted(&request.url, has_secret)?;
        check(&request)?;
        let wait = Duration::from_millis(request.timeout_ms.max(1).into());
        let until = self.until(Some(wait));
        for _ in 0..=REDIRECTS_MAX {
            self.count()?;
            let answer = self.once(&request, &target, pattern, until).await?;
            let Some(location) = location(&answer) else {
                return Ok(told(answer));
            };
            // What a redirect leads to may be made of the URL before.
            has_secret |= self.has_secret(location);
            let next = self.redirected(&target, location, has_secret)?;
            pattern = next.1;
            go_on(&mut request, answer.status, target.is_same_origin(&next.0));
            target = next.0;
        }
        let told = format!("the answer redirects more than {REDIRECTS_MAX} times");
        Err(refusal("refused", told))
    }

    /// Whether a secret that was read is in a URL, as it is before it has its normal form.
    fn has_secret(&self, url: &str) -> bool {
        self.secrets.as_ref().is_some_and(|secrets| {
            let mut shown = url.to_owned();
            secrets.redact(&mut shown);
            shown != url
        })
    }

    /// Where the URL of a request leads, and the pattern that allows it.
    pub(in crate::plugin) fn may(&self, url: &str) -> Result<(Target, Pattern), Error> {
        self.granted(url, self.has_secret(url))
    }

    fn granted(&self, url: &str, has_secret: bool) -> Result<(Target, Pattern), Error> {
        match has_secret {
            true => self.acting().http_with_secret(url),
            false => self.acting().http(url),
        }
    }

    /// Count a request, unless the call has made all that it may.
    pub(in crate::plugin) fn count(&self) -> Result<(), Error> {
        let made = self.made.fetch_add(1, Ordering::Relaxed);
        if made >= REQUESTS_MAX {
            // So that it never comes round to none.
            self.made.fetch_sub(1, Ordering::Relaxed);
            let told = format!("one call may make {REQUESTS_MAX} requests, redirects included");
            return Err(refusal("quota_exceeded", told));
        }
        Ok(())
    }

    /// One request, and its answer.
    pub(in crate::plugin) async fn once(
        &self,
        request: &Request,
        target: &Target,
        pattern: Pattern,
        until: Instant,
    ) -> Result<Incoming, Error> {
        let share = &self.facts.outbound;
        let permit = tokio::time::timeout_at(until.into(), share.permit()).await;
        let Ok(Some(permit)) = permit else {
            let told = "other requests of plugins took all places for that long; retry later";
            return Err(refusal("timeout", told));
        };
        // It may have waited for long. The URL may have a secret in it, which a refusal keeps to itself.
        self.acting().http_with_secret(&target.to_string())?;
        let outgoing = Outgoing {
            method: request.method.clone(),
            url: target.to_string(),
            headers: request.headers.clone(),
            body: request.body.clone(),
            total: until.saturating_duration_since(Instant::now()),
            answer_bytes_max: BODY_BYTES_MAX,
            check: share.check(pattern),
        };
        let sent = self.services.notices.fetch(outgoing, permit).await;
        self.facts.meter.requested(sent.is_ok());
        sent.map_err(|why| unanswered(&why))
    }

    /// Where a redirect leads, if that was granted as well.
    fn redirected(
        &self,
        from: &Target,
        location: &str,
        has_secret: bool,
    ) -> Result<(Target, Pattern), Error> {
        let patterns = self.acting().patterns();
        match allow::redirect(&patterns, from, location) {
            Ok(to) => {
                let pattern = patterns.into_iter().find(|pattern| pattern.matches(&to));
                let pattern = pattern.ok_or_else(|| refusal("internal", "no pattern matches"))?;
                Ok((to, pattern))
            }
            Err(RedirectError::NotGranted(place)) => {
                // With the command that grants it.
                self.granted(&place, has_secret)?;
                let told = "the redirect leads where nothing is granted";
                Err(refusal("not_granted", told))
            }
            Err(error) => Err(refusal("refused", error.to_string())),
        }
    }
}

/// Whether a header of a request is the server's to say, or may be taken for one that is.
pub(in crate::plugin) fn is_host_owned(name: &str) -> bool {
    let name = asked::plain(name);
    HOST_OWNED.contains(&name.as_str()) || name.starts_with(HOST_OWNED_PREFIX)
}

/// What is wrong with a request besides its URL.
pub(in crate::plugin) fn check(request: &Request) -> Result<(), Error> {
    if !METHODS.contains(&request.method.as_str()) {
        let methods = METHODS.join(", ");
        return Err(refusal(
            "invalid",
            format!("method must be one of {methods}"),
        ));
    }
    if request.body.len() > BODY_BYTES_MAX {
        let told = format!("body must have at most {BODY_BYTES_MAX} bytes");
        return Err(refusal("too_large", told));
    }
    if !request.body.is_empty() && matches!(request.method.as_str(), "GET" | "HEAD") {
        return Err(refusal("invalid", "GET and HEAD have no body"));
    }
    let bytes: usize = request.headers.iter().map(|(n, v)| n.len() + v.len()).sum();
    if request.headers.len() > HEADERS_MAX || bytes > HEADER_BYTES_MAX {
        let told = format!("there may be {HEADERS_MAX} headers of {HEADER_BYTES_MAX} bytes in all");
        return Err(refusal("too_large", told));
    }
    for (name, _) in &request.headers {
        if is_host_owned(name) {
            let told = format!("the header {name} is the server's to say");
            return Err(refusal("invalid", told));
        }
    }
    Ok(())
}

/// Where an answer says to go instead.
fn location(answer: &Incoming) -> Option<&str> {
    if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let mut headers = answer.headers.iter();
    let (_, location) = headers.find(|(name, _)| name == "location")?;
    Some(location)
}

/// The request as it follows a redirect with this status.
fn go_on(request: &mut Request, status: u16, is_same_origin: bool) {
    let is_post = request.method == "POST";
    let is_get =
        (status == 303 && request.method != "HEAD") || is_post && matches!(status, 301 | 302);
    if is_get {
        "GET".clone_into(&mut request.method);
        request.body.clear();
        request
            .headers
            .retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    }
    if !is_same_origin {
        request.headers.retain(|(name, _)| {
            FOR_ANYBODY
                .iter()
                .any(|known| name.eq_ignore_ascii_case(known))
        });
    }
}

fn told(answer: Incoming) -> Response {
    Response {
        status: answer.status,
        headers: answer.headers,
        body: answer.body,
        extra: Vec::new(),
    }
}

fn unanswered(why: &Unanswered) -> Error {
    let code = match why {
        Unanswered::Forbidden(_) => "forbidden",
        Unanswered::Timeout => "timeout",
        Unanswered::TooLarge(_) => "too_large",
        Unanswered::Malformed => "invalid",
        Unanswered::Broken(_) => "unreachable",
    };
    refusal(code, why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str) -> Request {
        let header = |name: &str| (name.to_owned(), "x".to_owned());
        Request {
            method: method.into(),
            url: "https://a.example/".into(),
            headers: vec![
                header("Authorization"),
                header("X-Key"),
                header("Content-Type"),
            ],
            body: b"{}".to_vec(),
            timeout_ms: 1,
            extra: Vec::new(),
        }
    }

    #[test]
    fn credentials_and_bodies_do_not_follow_everywhere() {
        for (method, status, same, then, headers, body) in [
            ("POST", 302, true, "GET", 2, 0),
            ("POST", 303, false, "GET", 0, 0),
            ("PUT", 302, true, "PUT", 3, 2),
            ("POST", 307, true, "POST", 3, 2),
            ("POST", 308, false, "POST", 1, 2),
        ] {
            let mut request = request(method);
            go_on(&mut request, status, same);
            let found = (
                request.method.as_str(),
                request.headers.len(),
                request.body.len(),
            );
            assert_eq!(found, (then, headers, body), "{method} {status} {same}");
        }
    }

    #[test]
    fn what_is_the_servers_to_say_is_refused() {
        assert_eq!(check(&request("POST")).map_err(|e| e.message), Ok(()));
        let with = |name: &str| {
            let mut request = request("POST");
            request.headers.push((name.into(), "x".into()));
            request
        };
        for name in [
            "Host",
            "content-length",
            "Content_Length",
            "Proxy-Authorization",
        ] {
            assert_eq!(check(&with(name)).unwrap_err().code, "invalid", "{name}");
        }
        assert_eq!(check(&request("TRACE")).unwrap_err().code, "invalid");
        assert_eq!(check(&request("GET")).unwrap_err().code, "invalid");
        let mut large = request("POST");
        large.body = vec![0; BODY_BYTES_MAX + 1];
        assert_eq!(check(&large).unwrap_err().code, "too_large");
    }
}
