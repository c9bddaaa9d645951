//! A server that a command talks to, over HTTP or HTTPS, and its answers. The key goes into a header of requests to this
//! server, and nowhere else.

pub(super) mod upgrade;

use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri};
use serde_json::Value;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{AsSendBody, Body, SendBody};

use super::patience::{Patience, tell};

/// Where the API is, below the server's address.
const API: &str = "/api";

/// The server's address if none is given.
pub(super) const URL_DEFAULT: &str = "http://127.0.0.1:8800";

/// The environment variable with the API key. Command lines are for every user of a machine to see.
pub(super) const KEY: &str = "HOSTD_KEY";

/// Time for a connection to be made.
pub(super) const CONNECT_WAIT: Duration = Duration::from_secs(30);

/// Time for a server to take or give anything.
const PIECE_WAIT: Duration = Duration::from_secs(60);

/// Time for a server to answer; one that looks through a large archive takes a while.
const ANSWER_WAIT: Duration = Duration::from_secs(180);

/// Largest answer that is no file.
const ANSWER_BYTES_MAX: u64 = 16 << 20;

/// A server, and who asks it.
pub(super) struct Server {
    agent: ureq::Agent,
    /// URL of the API, without `/` at its end.
    pub(super) api: String,
    pub(super) uri: Uri,
    pub(super) key: HeaderValue,
    pub(super) roots: Vec<Certificate<'static>>,
}

/// Why there is no good answer.
#[derive(Debug)]
pub(super) enum Failed {
    /// The server said no.
    Refused(Refusal),
    /// There was no whole answer.
    Lost(anyhow::Error),
    /// The request cannot be made.
    Here(anyhow::Error),
    /// Somebody did not want to wait any longer.
    Stopped,
}

/// An answer that is an error.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    /// The body, if it is JSON: `error`, `code`, and more.
    pub(super) body: Value,
    pub(super) retry_after: Option<Duration>,
}

impl Server {
    /// `url`: the server's address; with `/api` at its end it means the same. `authorities`: a PEM file of certificates to trust in place of the usual ones.
    ///
    /// # Errors
    /// The URL, the key or the file is not what it must be.
    pub(super) fn new(url: &str, key: &str, authorities: Option<&Path>) -> anyhow::Result<Self> {
        let uri: Uri = url.parse().context("understand the URL")?;
        let is_known = matches!(uri.scheme_str(), Some("http" | "https"));
        let host = uri.authority().map_or("", |authority| authority.as_str());
        if !is_known || host.is_empty() || host.contains('@') || uri.query().is_some() {
            bail!(
                "use the URL {url}: it must be http:// or https://, a host, and no more than a path"
            );
        }
        if key.trim().is_empty() {
            bail!("use the key in {KEY}: it is empty");
        }
        let path = uri.path().trim_end_matches('/');
        let path = path.strip_suffix(API).unwrap_or(path);
        let scheme = uri.scheme_str().unwrap_or_default();
        let api = format!("{scheme}://{host}{path}{API}");
        let key = HeaderValue::from_str(&format!("ApiKey {key}"));
        // The error could show it.
        let mut key = key.map_err(|_| anyhow::anyhow!("understand the key in HOSTD_KEY"))?;
        key.set_sensitive(true);
        let roots = authorities.map_or_else(|| Ok(Vec::new()), certificates)?;
        let mut tls = TlsConfig::builder();
        if !roots.is_empty() {
            tls = tls.root_certs(RootCerts::new_with_certs(&roots));
        }
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .tls_config(tls.build())
            .proxy(None)
            .max_redirects(0)
            .timeout_connect(Some(CONNECT_WAIT))
            .timeout_recv_response(Some(ANSWER_WAIT))
            .timeout_per_write(Some(PIECE_WAIT))
            .user_agent(concat!("hostd/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        Ok(Self {
            agent,
            uri: api.parse().context("understand the URL")?,
            api,
            key,
            roots,
        })
    }

    /// The same server, asked with another credential: the value of `Authorization`.
    ///
    /// # Errors
    /// It cannot be in a header.
    pub(super) fn with_authorization(&self, value: &str) -> anyhow::Result<Self> {
        // The error could show it.
        let mut key = HeaderValue::from_str(value)
            .map_err(|_| anyhow::anyhow!("understand the server's token"))?;
        key.set_sensitive(true);
        Ok(Self {
            agent: self.agent.clone(),
            uri: self.uri.clone(),
            api: self.api.clone(),
            key,
            roots: self.roots.clone(),
        })
    }

    /// One request. `path` begins with `/`, below that of the API.
    ///
    /// # Errors
    /// There is no answer, or it is an error.
    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl AsSendBody,
    ) -> Result<Response<Body>, Failed> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.api))
            .header(AUTHORIZATION, &self.key);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).context("make the request");
        let answer = self.agent.run(request.map_err(Failed::Here)?);
        let mut answer = answer.map_err(|error| self.lost(error))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let retry_after = retry_after(answer.headers());
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX);
        // What is no JSON comes from something between here and there.
        let body = body.read_to_vec().unwrap_or_default();
        Err(Failed::Refused(Refusal {
            status: answer.status(),
            body: serde_json::from_slice(&body).unwrap_or_default(),
            retry_after,
        }))
    }

    /// What no answer means: a certificate does not become better by waiting.
    fn lost(&self, error: ureq::Error) -> Failed {
        let is_final = match &error {
            ureq::Error::Io(error) => error.kind() == io::ErrorKind::InvalidData,
            ureq::Error::Rustls(_) | ureq::Error::Tls(_) => true,
            _ => false,
        };
        let error = anyhow::Error::new(error).context(format!("reach {}", self.api));
        if is_final {
            Failed::Here(error)
        } else {
            Failed::Lost(error)
        }
    }

    /// A JSON document that is read.
    ///
    /// # Errors
    /// As [`Server::send`], in the end.
    pub(super) fn get_json(&self, path: &str, patience: &Patience) -> Result<Value, Failed> {
        retried(patience, || {
            json(self.send("GET", path, &[], SendBody::none())?)
        })
    }

    /// Sends a JSON document.
    ///
    /// # Errors
    /// As [`Server::send`].
    pub(super) fn post_json(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        document: &Value,
    ) -> Result<Value, Failed> {
        let headers = [headers, &[(CONTENT_TYPE.as_str(), "application/json")]].concat();
        json(self.send("POST", path, &headers, document.to_string())?)
    }
}

/// The JSON document of an answer.
pub(super) fn json(mut answer: Response<Body>) -> Result<Value, Failed> {
    let mut text = Vec::new();
    let reader = answer
        .body_mut()
        .with_config()
        .limit(ANSWER_BYTES_MAX)
        .reader();
    let read = { reader }.read_to_end(&mut text);
    read.context("read the answer").map_err(Failed::Lost)?;
    serde_json::from_slice(&text)
        .context("understand the answer; is this the URL of a hostd?")
        .map_err(Failed::Here)
}

/// Does something until it is done, cannot be done, or patience ends.
///
/// # Errors
/// Those of the last try.
pub(super) fn retried<T>(
    patience: &Patience,
    mut once: impl FnMut() -> Result<T, Failed>,
) -> Result<T, Failed> {
    let seen = patience.stops();
    let mut tries = patience.tries();
    loop {
        let failed = match once() {
            Ok(done) => return Ok(done),
            Err(failed) => failed,
        };
        let Some(asked) = failed.may_pass() else {
            return Err(failed);
        };
        let Some(pause) = tries.next(asked) else {
            return Err(failed);
        };
        tell(&format!("failed to {failed}; trying again in {pause:?}"));
        if patience.wait(seen, pause) {
            return Err(Failed::Stopped);
        }
    }
}

impl Failed {
    /// Whether it may go well the next time, and the pause that the server asks for.
    pub(super) fn may_pass(&self) -> Option<Option<Duration>> {
        match self {
            Self::Lost(_) => Some(None),
            Self::Refused(refusal) => refusal.may_pass().then_some(refusal.retry_after),
            Self::Here(_) | Self::Stopped => None,
        }
    }
}

impl Refusal {
    /// The stable word for the reason; empty if it is not the server's own answer.
    pub(super) fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    /// A server says how long it is busy; one that says no such thing stays as it is. Whatever is before it says nothing.
    fn may_pass(&self) -> bool {
        match self.status.as_u16() {
            429 | 503 => self.retry_after.is_some() || self.code().is_empty(),
            502 | 504 => true,
            _ => false,
        }
    }

    /// Whether what was asked for is wrong, and not the server.
    pub(super) fn is_asked(&self) -> bool {
        self.status.is_client_error() && self.status != StatusCode::TOO_MANY_REQUESTS
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status;
        match self.body["error"].as_str() {
            Some(error) => write!(f, "be accepted by the server: {error} ({status})"),
            None if status.is_redirection() => write!(
                f,
                "be accepted by the server: {status}; give the URL that it leads to"
            ),
            None => write!(f, "be accepted by the server: {status}"),
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Lost(error) | Self::Here(error) => write!(f, "{error:#}"),
            Self::Stopped => f.write_str("go on: it was interrupted"),
        }
    }
}

/// The seconds of `Retry-After`; dates are not used by servers like this one.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(Duration::from_secs(seconds))
}

fn certificates(file: &Path) -> anyhow::Result<Vec<Certificate<'static>>> {
    let read = || format!("read the certificates in {}", file.display());
    let text = std::fs::read(file).with_context(read)?;
    let mut found = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(certificate) = item.with_context(read)? {
            found.push(certificate);
        }
    }
    if found.is_empty() {
        bail!("{}: there is none", read());
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
