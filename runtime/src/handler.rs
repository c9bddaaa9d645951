//! Guests of the world `handler`: they list their routes once, and answer requests.

use std::fmt;

use wasmtime::Store;
use wasmtime::component::{Component, Linker};

use crate::engine::Engine;
use crate::exports::Invoke;
use crate::failure::{CallError, LoadError};
use crate::guest::Guest;
use crate::metrics::Metrics;
use crate::options::GuestOptions;
use crate::reply::{self, Reply};
use crate::state::{CallData, State};
use crate::{Request, Response, Route, bindings};

/// Endpoints of one handler.
const ROUTES_MAX: usize = 256;

/// Request headers that concern only the host, as `wit/http.wit` says. Every header costs a call
/// two allocations inside the guest, so these are not passed on.
const WITHHELD: [&str; 8] = [
    "accept-encoding",
    "connection",
    "content-length",
    "keep-alive",
    "te",
    "transfer-encoding",
    "upgrade",
    "x-request-id",
];

crate::exports!(bindings::Handler, bindings::HandlerPre, "hostd:host/http");

/// Whether a request header, in lower case, concerns only the host and is kept from guests.
#[must_use]
pub fn is_withheld(header: &str) -> bool {
    WITHHELD.contains(&header)
}

/// A component that answers requests.
pub struct Handler<T: CallData> {
    guest: Guest<T, bindings::Handler>,
    routes: Vec<Route>,
}

impl<T: CallData> Handler<T> {
    /// Link `component`, start one instance and read its routes. `make` gives the data when there
    /// is no request: for listing the routes, and as a placeholder in idle instances.
    ///
    /// # Errors
    /// An import or export is missing, the engine has too little room left, or the component fails
    /// to start.
    pub fn new(
        engine: &Engine,
        linker: &Linker<State<T>>,
        component: &Component,
        options: GuestOptions,
        make: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<Self, LoadError> {
        let mut guest = Guest::new(engine, linker, component, options, make)?;
        let routes = guest.start(ListRoutes);
        let routes = routes.map_err(|source| LoadError::Routes {
            title: guest.options().title(),
            source,
        })?;
        if routes.len() > ROUTES_MAX {
            return Err(LoadError::TooManyRoutes {
                title: guest.options().title(),
                routes: routes.len(),
                routes_max: ROUTES_MAX,
            });
        }
        Ok(Self { guest, routes })
    }

    /// The handler's endpoints, in the order to which `Request::route` refers.
    #[must_use]
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// The name it was given.
    #[must_use]
    pub fn name(&self) -> &str {
        self.guest.name()
    }

    /// What it has done so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.guest.metrics()
    }

    /// Answer one request. `data` lives until the call is over and is then dropped. Dropping the
    /// future cancels the call. Needs a tokio runtime with time.
    ///
    /// # Errors
    /// See [`CallError`]; all of them are logged here.
    pub async fn call(&self, mut request: Request, data: T) -> Result<Reply, CallError> {
        request.headers.retain(|(name, _)| !is_withheld(name));
        let body_bytes_max = self.guest.options().response_bytes_max;
        let accept = |response, data: &mut T| reply::check(response, data, body_bytes_max);
        self.guest
            .call_then(&request.id, data, Handle(&request), accept)
            .await
    }
}

impl<T: CallData> fmt::Debug for Handler<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler")
            .field("guest", &self.guest)
            .field("routes", &self.routes.len())
            .finish_non_exhaustive()
    }
}

struct ListRoutes;

impl<T: CallData> Invoke<T, bindings::Handler> for ListRoutes {
    type Answer = Vec<Route>;

    fn invoke(
        self,
        exports: &bindings::Handler,
        store: &mut Store<State<T>>,
    ) -> impl Future<Output = wasmtime::Result<Vec<Route>>> + Send {
        exports.hostd_host_http().call_routes(store)
    }
}

struct Handle<'r>(&'r Request);

impl<T: CallData> Invoke<T, bindings::Handler> for Handle<'_> {
    type Answer = Response;

    fn invoke(
        self,
        exports: &bindings::Handler,
        store: &mut Store<State<T>>,
    ) -> impl Future<Output = wasmtime::Result<Response>> + Send {
        exports.hostd_host_http().call_handle(store, self.0)
    }
}
