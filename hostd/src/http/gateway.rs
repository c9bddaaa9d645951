//! One request from head to response: route, credential, scope and limits first, then the handler.
//!
//! Nothing here knows what an endpoint does. A request that is refused never reaches a guest.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use admission::Requester;
use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, EXPECT, HeaderName, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{Extensions, HeaderValue, Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use runtime::ReplyBody;
use tracing::{debug, error};

use crate::groups::Group;
use crate::host::door;
use crate::host::uploads::Inbound;
use crate::http::arrivals::Arrivals;
use crate::http::body::{self, ReadError, ResponseBody};
use crate::http::connections::Standing;
use crate::http::desk::Desk;
use crate::http::dial::{DialIn, Step};
use crate::http::error::ApiError;
use crate::http::metrics::Sources;
use crate::http::native::{self, Native};
use crate::http::origin;
use crate::http::peer::{self, Peer};
use crate::http::people;
use crate::http::rate::Rate;
use crate::http::relay::Relayed;
use crate::http::routes::{API_BASE, Entry, Match, PATH_BYTES_MAX, RouteTable};
use crate::http::socket::{self, Sockets};
use crate::http::{cookies, version};
use crate::plugin::{Loaded, Plugins};
use crate::services::Services;
use base::config::Proxies;
use base::live::{BoxedLive, Over};
use identity::{Credential, Verified};

mod answer;
mod call;
mod credentials;
mod head;
pub mod job;

use answer::{refuse_arrival, refuse_body, respond};
pub(super) use credentials::{is_foreign, requester};
use credentials::{job_only, outside_only};
use head::request_id;

/// Header that carries the request id, both ways.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// If a browser renders an API answer as a page, that page may do nothing.
const INERT: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");

/// The label in the metrics of requests that no route answers.
const UNROUTED: &str = "none";

/// Answers are for the one who asked and for now, unless their endpoint says otherwise.
const UNCACHED: HeaderValue = HeaderValue::from_static("private, no-store");

/// Everything a request needs; shared by all connections.
#[derive(Debug)]
pub struct Gateway {
    pub table: RouteTable,
    pub groups: Vec<Group>,
    pub native: Native,
    pub rate: Rate,
    pub services: Arc<Services>,
    pub sockets: Sockets,
    pub arrivals: Arrivals,
    pub proxies: Proxies,
    pub dial: DialIn,
    pub desk: Desk,
    pub plugins: Arc<Plugins>,
}

/// A request that may enter its handler.
#[derive(Clone)]
struct Admitted<'t> {
    entry: &'t Entry,
    /// None: one of the groups that come with the server.
    plugin: Option<&'t Arc<Loaded>>,
    params: Vec<String>,
    caller: Option<Verified>,
    requester: Requester,
}

/// A request that may not, and its label in the metrics.
struct Refusal {
    route: String,
    error: ApiError,
    /// A session could open the route, so somebody in a browser may sign in.
    takes_session: bool,
}

impl Refusal {
    /// The way to the page to sign in, if the request lacks no more than a session and somebody can act on it.
    fn sign_in(&self, head: &Parts) -> Option<Response<ResponseBody>> {
        let lacks_session = self.takes_session && self.error.status() == StatusCode::UNAUTHORIZED;
        lacks_session.then(|| people::sign_in(head)).flatten()
    }
}

impl Gateway {
    /// Answer one request. Never fails: whatever goes wrong is an error response.
    pub async fn answer(&self, request: Request<Incoming>) -> Response<ResponseBody> {
        let started = Instant::now();
        let request_id = request_id(request.headers());
        let method = request.method().clone();
        let version = request.version();
        let path = request.uri().path().to_owned();
        let is_reserved = is_reserved(request.extensions());
        let relayed = request.extensions().get::<Relayed>().cloned();
        let is_dial = Step::of(&path).is_some();
        let (route, result) = match head::refused(&request) {
            Some(error) => (UNROUTED.to_owned(), Err(error)),
            None => self.asked(request, &request_id).await,
        };
        let mut response = result.unwrap_or_else(|e| e.into_response(&request_id));
        let status = response.status();
        let headers = response.headers_mut();
        if let Ok(value) = HeaderValue::from_str(&request_id) {
            headers.insert(REQUEST_ID, value);
        }
        headers.insert(version::HEADER, version::value());
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.entry(CONTENT_SECURITY_POLICY).or_insert(INERT);
        headers.entry(CACHE_CONTROL).or_insert(UNCACHED);
        let is_turned_away = is_reserved && !is_dial;
        if is_turned_away
            && version == Version::HTTP_11
            && status != StatusCode::SWITCHING_PROTOCOLS
        {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let took = started.elapsed();
        let status = status.as_u16();
        self.native.metrics.record(&route, status, took);
        // The path without its query: tokens travel there on WebSocket URLs.
        debug!(
            request_id,
            %method,
            path,
            route,
            status,
            took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            relay_of = relayed.as_ref().map(Relayed::job),
            "request"
        );
        response
    }

    /// Name of the route, and the answer.
    async fn asked(
        &self,
        request: Request<Incoming>,
        request_id: &str,
    ) -> (String, Result<Response<ResponseBody>, ApiError>) {
        let sources = Sources {
            groups: &self.groups,
            plugins: &self.plugins,
            arrivals: &self.arrivals,
        };
        let (method, path) = (request.method(), request.uri().path());
        let is_relayed = request.extensions().get::<Relayed>().is_some();
        let native = match is_relayed && native::owns(path) {
            true => Some((UNROUTED, Err(outside_only()))),
            false => self
                .native
                .answer(method, path, request.headers(), &sources),
        };
        let dials = Step::of(path);
        match native {
            Some((name, _)) if is_reserved(request.extensions()) && !native::is_health(name) => {
                (name.to_owned(), Err(ApiError::crowded()))
            }
            Some((name, result)) => (name.to_owned(), result),
            None if dials.is_some() && is_relayed => ("dial".to_owned(), Err(job_only())),
            None => match dials {
                Some(step) => self.dialled(step, request, request_id).await,
                None => self.route(request, request_id).await,
            },
        }
    }

    async fn route(
        &self,
        mut request: Request<Incoming>,
        request_id: &str,
    ) -> (String, Result<Response<ResponseBody>, ApiError>) {
        let upgrade = hyper::upgrade::on(&mut request);
        let (head, body) = request.into_parts();
        // Kept to the end of the request, whatever is installed meanwhile.
        let plugin = self.plugins.at(head.uri.path());
        let admitted = self.admit(&head, plugin.as_ref());
        let name = admitted.as_ref().map_or_else(
            |refusal| refusal.route.clone(),
            |admitted| admitted.entry.declared.name.clone(),
        );
        let is_reserved = is_reserved(&head.extensions);
        let is_known = admitted.as_ref().is_ok_and(|a| a.caller.is_some());
        let result = match admitted {
            _ if is_reserved && !is_known => Err(ApiError::crowded()),
            Ok(admitted) if admitted.entry.is_socket() => {
                self.open(admitted, head, upgrade, request_id).await
            }
            Ok(admitted) if admitted.entry.declared.streamed_body => {
                self.receive(admitted, head, body, request_id).await
            }
            Ok(admitted) => self.run(admitted, head, body, request_id).await,
            Err(refusal) => {
                // A sender that asked first has sent nothing and need not.
                if !head.headers.contains_key(EXPECT) {
                    body::drain(body).await;
                }
                refusal.sign_in(&head).ok_or(refusal.error)
            }
        };
        (name, result)
    }

    /// Everything that can be decided before the body is read.
    fn admit<'t>(
        &'t self,
        head: &Parts,
        plugin: Option<&'t Arc<Loaded>>,
    ) -> Result<Admitted<'t>, Refusal> {
        let path = head.uri.path();
        let unrouted = |error| Refusal {
            route: UNROUTED.to_owned(),
            error,
            takes_session: false,
        };
        if path.len() > PATH_BYTES_MAX {
            return Err(unrouted(ApiError::new(
                StatusCode::URI_TOO_LONG,
                "path_too_long",
                format!("the path is over {PATH_BYTES_MAX} bytes"),
            )));
        }
        let table = plugin.map_or(&self.table, |plugin| plugin.table());
        match table.find(head.method.as_str(), path) {
            Match::None if native::owns(path) => {
                Err(unrouted(ApiError::method_not_allowed("GET, HEAD")))
            }
            Match::None => {
                let absent = self.plugins.absent(path);
                Err(unrouted(absent.unwrap_or_else(|| {
                    self.no_endpoint(head.method.as_str(), path)
                })))
            }
            Match::OtherMethod(allow) => Err(unrouted(ApiError::method_not_allowed(&allow))),
            Match::Found { entry, mut params } => {
                let caller = self.authenticate(entry, head);
                let caller = caller.map_err(|error| Refusal {
                    route: entry.declared.name.clone(),
                    error,
                    takes_session: entry.accepts(Credential::UserSession) && !entry.is_socket(),
                })?;
                if let (Some(caller), Some(which), true) =
                    (&caller, params.first_mut(), entry.is_of_device())
                {
                    let given = std::mem::take(which);
                    *which = door::id_of(&self.services.devices, caller, given);
                }
                Ok(Admitted {
                    entry,
                    plugin,
                    params,
                    requester: requester(caller.as_ref(), self.client(head)),
                    caller,
                })
            }
        }
    }

    /// There is no such endpoint; if the path has the API's prefix twice or not at all, which one was meant.
    fn no_endpoint(&self, method: &str, path: &str) -> ApiError {
        let is_known = |path: &str| {
            native::owns(path) || !matches!(self.table.find(method, path), Match::None)
        };
        let twice = path
            .strip_prefix(API_BASE)
            .filter(|rest| rest.starts_with(API_BASE) && is_known(rest));
        let without = format!("{API_BASE}{path}");
        match twice {
            Some(meant) => ApiError::other_endpoint(
                path,
                meant,
                "the server's address, as in HOSTD_URL, ends before /api",
            ),
            None if is_known(&without) => {
                ApiError::other_endpoint(path, &without, "the API is below /api")
            }
            None => ApiError::not_found(path),
        }
    }

    async fn run(
        &self,
        admitted: Admitted<'_>,
        head: Parts,
        body: Incoming,
        request_id: &str,
    ) -> Result<Response<ResponseBody>, ApiError> {
        let limit = admitted.entry.declared.body_limit;
        let requester = admitted.requester.clone();
        let plugin = admitted.plugin.map(|plugin| &**plugin);
        let read = self.arrivals.read(body, limit, &requester).await;
        let read = read.map_err(|e| refuse_body(&e))?;
        let body = (read.bytes.clone(), Inbound::default());
        let called = self.call(admitted, &head, body, request_id).await;
        let mut response = respond(called?, plugin)?;
        if plugin.is_none() && self.is_secret(&head) {
            cookies::secure(response.headers_mut());
        }
        Ok(response)
    }

    /// Run a handler that does not read the body itself: once to decide what to do with the body, and
    /// again when it has arrived. No instance is held in between.
    async fn receive(
        &self,
        admitted: Admitted<'_>,
        head: Parts,
        mut body: Incoming,
        request_id: &str,
    ) -> Result<Response<ResponseBody>, ApiError> {
        let limit_bytes = admitted.entry.declared.body_limit;
        let plugin = admitted.plugin.map(|plugin| &**plugin);
        let mut is_unsent = head.headers.contains_key(EXPECT);
        let inbound = Inbound::unread();
        let call = async |admitted: &Admitted<'_>| {
            let nothing = (Bytes::new(), inbound.clone());
            self.call(admitted.clone(), &head, nothing, request_id)
                .await
        };
        let called = if body::is_over(&body, limit_bytes) {
            Err(refuse_body(&ReadError::TooLarge { limit_bytes }))
        } else {
            match (call(&admitted).await, inbound.wanted()) {
                (Ok(_), Some(wanted)) => {
                    is_unsent = false;
                    let blobs = self.services.builds.blobs();
                    let requester = inbound.owner().unwrap_or(&admitted.requester);
                    let receiving = self.arrivals.receive(&mut body, &wanted, blobs, requester);
                    match receiving.await {
                        Ok(arrived) => {
                            inbound.arrive(arrived);
                            call(&admitted).await
                        }
                        Err(error) => Err(refuse_arrival(&error, request_id)),
                    }
                }
                (decided, _) => decided,
            }
        };
        // A sender that asked first has sent nothing and need not.
        if !is_unsent {
            body::drain(body).await;
        }
        respond(called?, plugin)
    }

    /// Answer an upgrade to a WebSocket: what the handler grants is served on a task of its own.
    async fn open(
        &self,
        admitted: Admitted<'_>,
        head: Parts,
        upgrade: OnUpgrade,
        request_id: &str,
    ) -> Result<Response<ResponseBody>, ApiError> {
        let accept = socket::handshake(&head)?;
        if is_foreign(&head.headers) {
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "foreign_origin",
                "a page of another origin may not open this WebSocket",
            ));
        }
        let relayed = head.extensions.get::<Relayed>();
        let of_job = relayed.map(Relayed::open_socket).transpose()?;
        let permit = self.sockets.enter(&admitted.requester, of_job)?;
        let over = self.over(&admitted);
        let plugin = admitted.plugin.map(|plugin| &**plugin);
        let nothing = (Bytes::new(), Inbound::default());
        let mut reply = self.call(admitted, &head, nothing, request_id).await?;
        let granted = match std::mem::replace(&mut reply.body, ReplyBody::Empty) {
            ReplyBody::Upgrade(granted) => granted,
            other => {
                reply.body = other;
                return respond(reply, plugin);
            }
        };
        let Some(stream) = granted.into_inner::<BoxedLive>() else {
            error!(request_id, "a handler's upgrade is not one of the host's");
            return Err(ApiError::internal());
        };
        self.sockets
            .serve(permit, upgrade, (stream, over), request_id.to_owned());
        Ok(socket::switching(accept))
    }

    /// The address that the request comes from.
    pub(super) fn client(&self, head: &Parts) -> Option<IpAddr> {
        let peer = head.extensions.get::<Peer>()?;
        Some(peer::client(&self.proxies, peer.0, &head.headers))
    }

    /// What the client calls this server, as the start of a URL.
    fn called_as(&self, head: &Parts) -> Option<String> {
        let peer = head.extensions.get::<Peer>()?;
        origin::of(head, self.proxies.trusts(peer.0))
    }

    /// Whether the client came by HTTPS.
    fn is_secret(&self, head: &Parts) -> bool {
        let called = self.called_as(head);
        called.is_some_and(|called| called.starts_with("https://"))
    }

    /// When the access that the caller was given must end.
    fn over(&self, admitted: &Admitted<'_>) -> Over {
        let Some(caller) = admitted.caller.clone() else {
            return Box::pin(std::future::pending());
        };
        let scope = admitted.entry.declared.scope.clone();
        let services = self.services.clone();
        Box::pin(async move { services.auth.over(&caller, scope.as_deref()).await.code() })
    }
}

/// Whether a request came over a connection in the reserve.
fn is_reserved(extensions: &Extensions) -> bool {
    extensions.get() == Some(&Standing::Reserve)
}
