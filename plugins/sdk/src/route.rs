//! Routes: each is data that the host reads once, and a function.

use crate::bindings::handler::exports::hostd::plugin::http as wit;
use crate::{Error, Request, Response};

/// Answers the requests of one route.
type Handle = fn(&Request) -> Result<Response, Error>;

/// One endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    name: &'static str,
    method: &'static str,
    pattern: &'static str,
    scope: Option<&'static str>,
    public: bool,
    body_limit: u32,
    summary: &'static str,
    openapi: &'static str,
    handle: Handle,
}

impl Route {
    /// `GET` of a path below the plugin's prefix: `/devices/{id}`. The name is unique in the plugin.
    #[must_use]
    pub const fn get(name: &'static str, pattern: &'static str, handle: Handle) -> Self {
        Self::new("GET", name, pattern, handle)
    }

    /// `POST` with a body of at most `body_limit` bytes.
    #[must_use]
    pub const fn post(
        name: &'static str,
        pattern: &'static str,
        body_limit: u32,
        handle: Handle,
    ) -> Self {
        let mut route = Self::new("POST", name, pattern, handle);
        route.body_limit = body_limit;
        route
    }

    /// Any method: `GET`, `POST`, `PUT`, `PATCH` or `DELETE`. No body is read.
    #[must_use]
    pub const fn new(
        method: &'static str,
        name: &'static str,
        pattern: &'static str,
        handle: Handle,
    ) -> Self {
        Self {
            name,
            method,
            pattern,
            scope: None,
            public: false,
            body_limit: 0,
            summary: "",
            openapi: "",
            handle,
        }
    }

    /// The scope that callers need.
    #[must_use]
    pub const fn scope(mut self, scope: &'static str) -> Self {
        self.scope = Some(scope);
        self
    }

    /// Callers need no credential. The manifest must ask for it.
    #[must_use]
    pub const fn public(mut self) -> Self {
        self.public = true;
        self
    }

    /// Bytes of the largest body.
    #[must_use]
    pub const fn body_limit(mut self, bytes: u32) -> Self {
        self.body_limit = bytes;
        self
    }

    /// One line for people.
    #[must_use]
    pub const fn summary(mut self, line: &'static str) -> Self {
        self.summary = line;
        self
    }

    /// JSON with the members `parameters`, `requestBody` and `responses` of the OpenAPI operation:
    /// [`operation!`](crate::operation!) where a build script made it.
    #[must_use]
    pub const fn openapi(mut self, json: &'static str) -> Self {
        self.openapi = json;
        self
    }
}

/// What the host asks first.
#[doc(hidden)]
#[must_use]
pub fn declared(routes: &[Route]) -> Vec<wit::Route> {
    let declared = routes.iter().map(|route| wit::Route {
        name: route.name.to_owned(),
        method: route.method.to_owned(),
        pattern: route.pattern.to_owned(),
        scope: route.scope.map(str::to_owned),
        public: route.public,
        body_limit: route.body_limit,
        summary: route.summary.to_owned(),
        openapi: route.openapi.to_owned(),
        extra: Vec::new(),
    });
    declared.collect()
}

/// Answer a request with the route that declared `name`, as the host would. For tests of a plugin.
///
/// # Panics
/// There is no such route.
#[must_use]
pub fn answer(routes: &[Route], name: &str, request: &Request) -> Response {
    let route = routes.iter().find(|route| route.name == name);
    run(route.expect("a route of this name"), request)
}

#[doc(hidden)]
#[must_use]
pub fn handle(routes: &[Route], request: wit::Request) -> wit::Response {
    let route = usize::try_from(request.route)
        .ok()
        .and_then(|index| routes.get(index));
    let request = Request::from(request);
    match route {
        Some(route) => run(route, &request).into(),
        None => Response::error(
            &request.id,
            &Error::new("not_found", "there is no such route"),
        )
        .into(),
    }
}

fn run(route: &Route, request: &Request) -> Response {
    (route.handle)(request).unwrap_or_else(|error| Response::error(&request.id, &error))
}

/// What the plugin's build script wrote with `Operation::write` under this name: `.openapi(operation!("report"))`.
#[macro_export]
macro_rules! operation {
    ($name:literal) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $name, ".json"))
    };
}

/// Export a table of routes: `handler!(ROUTES)`.
#[macro_export]
macro_rules! handler {
    ($routes:expr) => {
        const _: () = {
            struct Plugin;

            impl $crate::handler_bindings::exports::hostd::plugin::http::Guest for Plugin {
                fn routes() -> Vec<$crate::handler_bindings::exports::hostd::plugin::http::Route> {
                    $crate::declared($routes)
                }

                fn handle(
                    request: $crate::handler_bindings::exports::hostd::plugin::http::Request,
                ) -> $crate::handler_bindings::exports::hostd::plugin::http::Response {
                    $crate::handle($routes, request)
                }
            }

            #[cfg(target_arch = "wasm32")]
            $crate::handler_bindings::export_handler!(Plugin with_types_in $crate::handler_bindings);
        };
    };
}
