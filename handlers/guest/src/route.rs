//! Endpoints as data, and the way from a request's route number to the function that answers it.

use crate::{ApiError, Credential, Credentials, Openapi, Request, Response, http_types};

/// Default body limit of endpoints that take JSON, in bytes.
pub const JSON_BODY_BYTES_MAX: u32 = 1 << 20;

/// One endpoint. The host enforces credentials, scope and body limit before `handle` is called, and
/// documents the endpoint from `summary` and `openapi`.
#[derive(Debug)]
pub struct Route {
    /// Unique, the OpenAPI operationId: `devices.list`.
    pub name: &'static str,
    /// Upper-case HTTP method.
    pub method: &'static str,
    /// Path below the API base: `/bench/devices/{id}`.
    pub pattern: &'static str,
    /// Accepted kinds; empty = public.
    pub credentials: &'static [Credential],
    /// Scope that an API key or a cloud session must carry.
    pub scope: Option<&'static str>,
    /// Bytes; 0 = no body is read. Made by [`streamed`] for bodies that stay in the host.
    pub body_limit: u32,
    /// One line for people.
    pub summary: &'static str,
    /// What it takes and gives.
    pub openapi: Openapi,
    pub handle: fn(&Request) -> Result<Response, ApiError>,
}

/// Marks a body limit of [`streamed`].
const STREAMED: u32 = 1 << 31;

/// Body limit of a route whose body never enters the guest: its `handle` receives it through `uploads`
/// once it has decided to accept it. The handler is entered again from the beginning when the body is
/// there, so it must change nothing before.
///
/// # Panics
/// At compile time, for 2 GiB and more.
#[must_use]
pub const fn streamed(bytes_max: u32) -> u32 {
    assert!(bytes_max < STREAMED, "the limit must be below 2 GiB");
    bytes_max | STREAMED
}

impl Route {
    /// The route as the contract declares it.
    #[must_use]
    pub fn declared(&self) -> http_types::Route {
        http_types::Route {
            name: self.name.to_owned(),
            method: self.method.to_owned(),
            pattern: self.pattern.to_owned(),
            credentials: flags(self.credentials),
            scope: self.scope.map(str::to_owned),
            body_limit: self.body_limit & !STREAMED,
            streamed_body: self.body_limit & STREAMED != 0,
            summary: self.summary.to_owned(),
            openapi: self.openapi.declared().to_owned(),
        }
    }
}

fn flags(accepted: &[Credential]) -> Credentials {
    let flag = |kind: &Credential| match kind {
        Credential::ApiKey => Credentials::API_KEY,
        Credential::UserSession => Credentials::USER_SESSION,
        Credential::CloudSession => Credentials::CLOUD_SESSION,
    };
    accepted
        .iter()
        .fold(Credentials::empty(), |all, kind| all | flag(kind))
}

/// What `routes` exports.
#[must_use]
pub fn table(routes: &[Route]) -> Vec<http_types::Route> {
    routes.iter().map(Route::declared).collect()
}

/// What `handle` exports: the function of the request's route, or its error as a response.
#[must_use]
pub fn dispatch(routes: &[Route], request: &Request) -> Response {
    let answer = usize::try_from(request.route)
        .ok()
        .and_then(|index| routes.get(index))
        .ok_or_else(|| ApiError::internal("the host asked for a route that is not in the table"))
        .and_then(|route| (route.handle)(request));
    answer.unwrap_or_else(|error| {
        report(&error);
        error.into_response(&request.id)
    })
}

#[cfg(target_arch = "wasm32")]
fn report(error: &ApiError) {
    if let Some(cause) = &error.cause {
        crate::log::write(crate::log::Level::Error, cause);
    }
}

/// Outside a component there is no host with a log to write to.
#[cfg(not(target_arch = "wasm32"))]
fn report(_: &ApiError) {}

#[cfg(test)]
mod tests;
