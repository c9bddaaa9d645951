//! A request as a route's function gets it.

use serde::de::DeserializeOwned;

use crate::bindings::handler::exports::hostd::plugin::http as wit;
use crate::{Error, query};

/// For whom a request is made. The host has verified it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// Organisation id.
    pub org: String,
    /// User id.
    pub user: String,
    /// `member`, `admin` or `owner`.
    pub role: String,
    /// Scopes of the credential; empty for people who signed in.
    pub scopes: Vec<String>,
    /// Ids of the devices that the credential is restricted to; none = all.
    pub devices: Option<Vec<String>>,
}

/// A request that the host let through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// Id of the request, in every log line.
    pub id: String,
    /// Upper case.
    pub method: String,
    /// Below the plugin's prefix.
    pub path: String,
    /// Values of the pattern's placeholders, in order.
    pub params: Vec<String>,
    /// Without the `?`.
    pub query: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// None on public routes.
    pub caller: Option<Caller>,
}

impl Request {
    /// The value of placeholder number `index`; empty if the pattern has none there.
    #[must_use]
    pub fn param(&self, index: usize) -> &str {
        self.params.get(index).map_or("", String::as_str)
    }

    /// The first header of this name, which is in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known == name)?;
        Some(&found.1)
    }

    /// The query as a struct, whose members are texts, numbers, booleans or words of an enum.
    ///
    /// # Errors
    /// It is badly encoded, or not of this shape.
    pub fn query_as<T: DeserializeOwned>(&self) -> Result<T, Error> {
        query::read(&self.query)
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// It is none, or not of this shape.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Error::invalid(format!("the body cannot be read: {error}")))
    }
}

impl From<wit::Request> for Request {
    fn from(request: wit::Request) -> Self {
        Self {
            id: request.id,
            method: request.method,
            path: request.path,
            params: request.params,
            query: request.query,
            headers: request.headers,
            body: request.body,
            caller: request.caller.map(|caller| Caller {
                org: caller.org,
                user: caller.user,
                role: caller.role,
                scopes: caller.scopes,
                devices: caller.devices,
            }),
        }
    }
}
