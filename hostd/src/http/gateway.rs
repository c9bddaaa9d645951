//! One request from head to response: route, credential, scope and limits first, then the handler.
//!
//! Nothing here knows what an endpoint does. A request that is refused never reaches a guest.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONTENT_SECURITY_POLICY, EXPECT, HeaderName, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use runtime::{Reply, ReplyBody};
use tracing::{error, info};

use crate::groups::Group;
use crate::host::uploads::Inbound;
use crate::host::{Call, Context};
use crate::http::body::{self, ResponseBody};
use crate::http::error::ApiError;
use crate::http::native::{self, Native};
use crate::http::rate::Rate;
use crate::http::routes::{Entry, Match, PATH_BYTES_MAX, RouteTable};
use crate::http::socket::{self, BoxedLive, Over, Sockets, query};
use crate::identity::Verified;
use crate::services::Services;

mod answer;
mod credentials;
mod head;

use answer::{refuse_body, refuse_call, respond};
use credentials::is_foreign;
use head::{lease, request_id, visible_headers};

/// Header that carries the request id, both ways.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What a page may do that a browser makes of an answer of the API: nothing.
const INERT: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");

/// Everything a request needs; shared by all connections.
#[derive(Debug)]
pub struct Gateway {
    pub table: RouteTable,
    pub groups: Vec<Group>,
    pub native: Native,
    pub rate: Rate,
    pub services: Arc<Services>,
    pub sockets: Sockets,
    pub body_wait: Duration,
}

/// A request that may enter its handler.
struct Admitted<'t> {
    entry: &'t Entry,
    params: Vec<String>,
    caller: Option<Verified>,
}

/// A request that may not, and what to call it in the metrics.
struct Refusal {
    route: String,
    error: ApiError,
}

impl Gateway {
    /// Answer one request. Never fails: whatever goes wrong is an error response.
    pub async fn answer(&self, request: Request<Incoming>) -> Response<ResponseBody> {
        let started = Instant::now();
        let request_id = request_id(request.headers());
        let method = request.method().clone();
        let path = request.uri().path().to_owned();
        let native = self
            .native
            .answer(&method, &path, request.headers(), &self.groups);
        let (route, result) = match native {
            Some((name, result)) => (name.to_owned(), result),
            None => self.route(request, &request_id).await,
        };
        let mut response = result.unwrap_or_else(|e| e.into_response(&request_id));
        let headers = response.headers_mut();
        if let Ok(value) = HeaderValue::from_str(&request_id) {
            headers.insert(REQUEST_ID, value);
        }
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.entry(CONTENT_SECURITY_POLICY).or_insert(INERT);
        let took = started.elapsed();
        let status = response.status().as_u16();
        self.native.metrics.record(&route, status, took);
        // The path without its query: tokens travel there on WebSocket URLs.
        info!(
            request_id,
            %method,
            path,
            route,
            status,
            took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            "request"
        );
        response
    }

    async fn route(
        &self,
        mut request: Request<Incoming>,
        request_id: &str,
    ) -> (String, Result<Response<ResponseBody>, ApiError>) {
        let upgrade = hyper::upgrade::on(&mut request);
        let (head, body) = request.into_parts();
        let admitted = self.admit(&head);
        let name = admitted.as_ref().map_or_else(
            |refusal| refusal.route.clone(),
            |admitted| admitted.entry.declared.name.clone(),
        );
        let result = match admitted {
            Ok(admitted) if admitted.entry.is_socket() => {
                self.open(admitted, head, upgrade, request_id).await
            }
            Ok(admitted) => self.run(admitted, head, body, request_id).await,
            Err(refusal) => {
                // A sender that asked first has sent nothing and need not.
                if !head.headers.contains_key(EXPECT) {
                    body::drain(body).await;
                }
                Err(refusal.error)
            }
        };
        (name, result)
    }

    /// Everything that can be decided before the body is read.
    fn admit(&self, head: &Parts) -> Result<Admitted<'_>, Refusal> {
        let path = head.uri.path();
        let unrouted = |error| Refusal {
            route: "none".to_owned(),
            error,
        };
        if path.len() > PATH_BYTES_MAX {
            return Err(unrouted(ApiError::new(
                StatusCode::URI_TOO_LONG,
                "path_too_long",
                format!("the path is over {PATH_BYTES_MAX} bytes"),
            )));
        }
        match self.table.find(head.method.as_str(), path) {
            Match::None if native::owns(path) => {
                Err(unrouted(ApiError::method_not_allowed("GET, HEAD")))
            }
            Match::None => Err(unrouted(ApiError::not_found(path))),
            Match::OtherMethod(allow) => Err(unrouted(ApiError::method_not_allowed(&allow))),
            Match::Found { entry, params } => {
                let caller = self.authenticate(entry, head);
                let caller = caller.map_err(|error| Refusal {
                    route: entry.declared.name.clone(),
                    error,
                })?;
                Ok(Admitted {
                    entry,
                    params,
                    caller,
                })
            }
        }
    }

    async fn run(
        &self,
        admitted: Admitted<'_>,
        head: Parts,
        body: Incoming,
        request_id: &str,
    ) -> Result<Response<ResponseBody>, ApiError> {
        let route = &admitted.entry.declared;
        let limit = route.body_limit;
        let (bytes, inbound) = if route.streamed_body {
            let admitted = body::admit(body, limit).await;
            admitted.map(|body| (Bytes::new(), Inbound::new(body)))
        } else {
            let read = body::read(body, limit, self.body_wait).await;
            read.map(|bytes| (bytes, Inbound::default()))
        }
        .map_err(|e| refuse_body(&e))?;
        let body = (bytes, inbound.clone());
        let called = self.call(admitted, &head, body, request_id).await;
        if let Some(unread) = inbound.take() {
            body::drain(unread).await;
        }
        respond(called?)
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
        let place = self.sockets.enter()?;
        let over = self.over(&admitted);
        let nothing = (Bytes::new(), Inbound::default());
        let mut reply = self.call(admitted, &head, nothing, request_id).await?;
        let granted = match std::mem::replace(&mut reply.body, ReplyBody::Empty) {
            ReplyBody::Upgrade(granted) => granted,
            other => {
                reply.body = other;
                return respond(reply);
            }
        };
        let Some(stream) = granted.into_inner::<BoxedLive>() else {
            error!(request_id, "a handler's upgrade is not one of the host's");
            return Err(ApiError::internal());
        };
        self.sockets
            .serve(place, upgrade, (stream, over), request_id.to_owned());
        Ok(socket::switching(accept))
    }

    /// When what the caller was let in to has to end.
    fn over(&self, admitted: &Admitted<'_>) -> Over {
        let Some(caller) = admitted.caller.clone() else {
            return Box::pin(std::future::pending());
        };
        let scope = admitted.entry.declared.scope.clone();
        let services = self.services.clone();
        Box::pin(async move { services.auth.over(&caller, scope.as_deref()).await })
    }

    /// Run the handler with the body, read or still to be read.
    async fn call(
        &self,
        admitted: Admitted<'_>,
        head: &Parts,
        (body, unread): (Bytes, Inbound),
        request_id: &str,
    ) -> Result<Reply, ApiError> {
        let Admitted {
            entry,
            params,
            caller,
        } = admitted;
        let group = &self.groups[entry.group];
        let query = head.uri.query().unwrap_or_default();
        let in_query = entry.is_socket().then_some(query);
        let record = runtime::Request {
            id: request_id.to_owned(),
            route: entry.route,
            params,
            query: if entry.is_socket() {
                query::without_secrets(query)
            } else {
                query.to_owned()
            },
            headers: visible_headers(&head.headers),
            body: body.into(),
            caller: caller.as_ref().map(Verified::to_caller),
        };
        let call = Call::new(Context {
            services: self.services.clone(),
            group: group.name(),
            request_id: request_id.to_owned(),
            caller,
            lease: lease(&head.headers).or_else(|| in_query.and_then(query::lease)),
            answer_by: Instant::now() + group.patience(),
        })
        .with_body(unread);
        let answered = group.call(record, call).await;
        answered.map_err(|failure| refuse_call(&failure, request_id))
    }
}
