//! Pods that dial in: a nonce for one that asks, and a WebSocket for one that has signed it.
//!
//! ```text
//! POST /api/benchpod/devices/{id}/challenge
//! GET  /api/benchpod/ws?device_id=…&nonce=…&signature=…[&auth=v2]
//! ```
//!
//! No credential of a user is involved: the signature is one. The host answers both itself, since the first has to be
//! cheap for whoever floods it, and the second is no stream that a handler could grant.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use base::config::Config;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use lab::devices::Dialling;
use pods::dial::{Dialled, verify};
use pods::protocol::dial::login::{self, Version};
use serde_json::json;
use tracing::{error, info};

use crate::http::address::Address;
use crate::http::body::{self, ResponseBody};
use crate::http::connections::Numbered;
use crate::http::error::ApiError;
use crate::http::gateway::{Gateway, is_foreign, requester};
use crate::http::peer::Peer;
use crate::http::socket;

mod link;
mod nonces;
mod step;

pub use step::Step;

use link::serve;
use nonces::{Nonces, Origin};
use step::Proof;

/// What a server needs for pods that dial in.
#[derive(Debug)]
pub struct DialIn {
    /// Names under which pods know the server, in lower case.
    hosts: Vec<String>,
    nonces: Nonces,
    dialled: Arc<Dialled>,
}

impl DialIn {
    /// Nobody has asked so far.
    #[must_use]
    pub fn new(config: &Config, dialled: Arc<Dialled>) -> Self {
        Self {
            hosts: hosts(&config.pods.dial_hosts, &config.http.public_url),
            nonces: Nonces::default(),
            dialled,
        }
    }
}

/// The names under which pods know the server.
fn hosts(listed: &str, public_url: &str) -> Vec<String> {
    let listed = listed
        .split(',')
        .map(str::trim)
        .filter(|host| !host.is_empty());
    let mut hosts: Vec<String> = listed.map(str::to_ascii_lowercase).collect();
    if hosts.is_empty() {
        let uri = public_url.parse::<http::Uri>().ok();
        let host = uri.as_ref().and_then(http::Uri::host);
        hosts.extend(host.map(|host| host.trim_matches(['[', ']']).to_ascii_lowercase()));
    }
    hosts
}

impl Gateway {
    /// Answers a pod that dials in.
    pub(super) async fn dialled(
        &self,
        step: Step,
        mut request: Request<Incoming>,
        request_id: &str,
    ) -> (String, Result<Response<ResponseBody>, ApiError>) {
        let name = step.name().to_owned();
        let upgrade = hyper::upgrade::on(&mut request);
        let (head, sent) = request.into_parts();
        let client = self.client(&head);
        let address = requester(None, client).user;
        if let Err(wait_s) = self.rate.take(&address, Instant::now()) {
            return (name, Err(ApiError::rate_limited(wait_s)));
        }
        if head.method != step.method() {
            let allowed = step.method().to_string();
            return (name, Err(ApiError::method_not_allowed(&allowed)));
        }
        let answered = match step {
            Step::Challenge(id) => {
                body::drain(sent).await;
                self.challenge(&id, &head, client).await
            }
            Step::Socket => self.admit_pod(&head, client, upgrade, request_id).await,
        };
        (name, answered)
    }

    /// A nonce for a device.
    async fn challenge(
        &self,
        id: &str,
        head: &Parts,
        client: Option<IpAddr>,
    ) -> Result<Response<ResponseBody>, ApiError> {
        self.expected(id).await?;
        let origin = self.origin(head, client)?;
        let share = client.map(Address::from);
        let nonce = self.dial.nonces.issue(id, origin, share);
        let text = json!({"nonce": login::text(&nonce)}).to_string();
        let mut response = Response::new(ResponseBody::full(text));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(response)
    }

    /// The WebSocket for a pod that proves its key.
    async fn admit_pod(
        &self,
        head: &Parts,
        client: Option<IpAddr>,
        upgrade: OnUpgrade,
        request_id: &str,
    ) -> Result<Response<ResponseBody>, ApiError> {
        let accept = socket::handshake(head)?;
        if is_foreign(&head.headers) {
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "foreign_origin",
                "a page of another origin may not open this WebSocket",
            ));
        }
        let proof = Proof::read(head.uri.query().unwrap_or_default());
        // Whatever comes of it, the nonce is used.
        let origin = self.origin(head, client)?;
        let nonce = login::nonce(proof.nonce);
        let nonce = nonce.filter(|nonce| self.dial.nonces.take(proof.device_id, origin, nonce));
        let nonce = nonce.ok_or_else(|| {
            refuse("the nonce is none that this device was given just now on this connection; ask for a new one")
        })?;
        let (public_key, proves_name) = self.expected(proof.device_id).await?;
        let version = Version::named(proof.auth);
        let version = version.ok_or_else(|| refuse("the parameter auth takes v1 and v2"))?;
        match version {
            Version::V1 if proves_name => {
                return Err(refuse(
                    "this device has proven itself with auth=v2 before, and may not do so with v1 any more",
                ));
            }
            Version::V2 if self.dial.hosts.is_empty() => {
                return Err(ApiError::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "not_configured",
                    "this server does not know the name that pods sign; set http.public_url or pods.dial_hosts",
                ));
            }
            Version::V1 | Version::V2 => {}
        }
        if !verify(
            &public_key,
            version,
            &self.dial.hosts,
            &nonce,
            proof.signature,
        ) {
            return Err(refuse(
                "the signature is not that of the device's key over the nonce and, with auth=v2, a name of this server \
                 (http.public_url, pods.dial_hosts)",
            ));
        }
        if version == Version::V2 && !proves_name {
            let noted = self
                .services
                .devices
                .note_proof_by_name(proof.device_id)
                .await;
            noted.map_err(|error| {
                error!(%error, "failed to note how a pod proves itself");
                ApiError::internal()
            })?;
        }
        info!(
            request_id,
            device = proof.device_id,
            ?version,
            "a pod has proven its key"
        );
        tokio::spawn(serve(self.dial.dialled.clone(), public_key, upgrade));
        Ok(socket::switching(accept))
    }

    /// The key of the pod that is expected for a device, and whether it proves itself by name.
    async fn expected(&self, id: &str) -> Result<(String, bool), ApiError> {
        match self.services.devices.dialling(id).await {
            Ok(Dialling::Expected {
                public_key,
                proves_name,
            }) => Ok((public_key, proves_name)),
            Ok(Dialling::Removed) => Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "forbidden",
                "the device was removed; an administrator can admit it again",
            )),
            Ok(Dialling::Unknown) => Err(ApiError::new(
                StatusCode::NOT_FOUND,
                "not_found",
                "there is no device of this id for which a pod dials in; register the pod first",
            )),
            Err(error) => {
                error!(%error, "failed to look up a device that dials in");
                Err(ApiError::internal())
            }
        }
    }

    /// What a nonce is bound to. Behind a proxy, one client's requests may come over several connections.
    fn origin(&self, head: &Parts, client: Option<IpAddr>) -> Result<Origin, ApiError> {
        let peer = head.extensions.get::<Peer>().map(|peer| peer.0);
        match (peer, client, head.extensions.get::<Numbered>()) {
            (Some(peer), Some(client), _) if self.proxies.trusts(peer) => {
                Ok(Origin::Client(client))
            }
            (_, _, Some(connection)) => Ok(Origin::Connection(connection.0)),
            _ => Err(ApiError::internal()),
        }
    }
}

fn refuse(message: &str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "invalid_credential", message)
}

#[cfg(test)]
mod tests {
    //! By which names the server goes.

    use super::*;

    #[test]
    fn the_server_goes_by_configured_names_only() {
        let none: [&str; 0] = [];
        assert_eq!(hosts("", ""), none);
        assert_eq!(hosts("", "https://Bench.Example:8443/x"), ["bench.example"]);
        assert_eq!(hosts("", "http://[::1]:80"), ["::1"]);
        assert_eq!(
            hosts(" A.example,10.0.0.7 ,", "https://b.example"),
            ["a.example", "10.0.0.7"]
        );
    }
}
