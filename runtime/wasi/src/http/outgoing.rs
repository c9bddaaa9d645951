//! Requests as a guest makes them.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::component::Resource;

use super::fields::Fields;
use super::incoming::method;
use super::response::{OutgoingBody, Sink};
use super::upload::upload;
use super::{Headers, Upload};
use crate::bindings::wasi::http::types::{self, ErrorCode, Method, Scheme};
use crate::{View, WasiData};

/// Longest URL of a request in bytes, and longest name of a method.
const URL_BYTES_MAX: usize = 8 << 10;
const METHOD_BYTES_MAX: usize = 32;

/// A request of the guest.
#[derive(Debug)]
#[allow(unreachable_pub, reason = "generated code re-exports it")]
pub struct OutgoingRequest {
    method: String,
    /// None: https.
    scheme: Option<Scheme>,
    authority: Option<String>,
    path_with_query: Option<String>,
    headers: Arc<Headers>,
    body: Option<Upload>,
}

/// How long the guest waits for its answer.
#[derive(Debug, Default)]
#[allow(unreachable_pub, reason = "generated code re-exports it")]
pub struct RequestOptions {
    connect: Option<u64>,
    first_byte: Option<u64>,
    between_bytes: Option<u64>,
}

impl OutgoingRequest {
    /// The request as the embedder sends it.
    pub(super) fn into_outgoing(
        self,
        wait: Option<Duration>,
    ) -> Result<super::Outgoing, ErrorCode> {
        let scheme = match &self.scheme {
            Some(Scheme::Http) => "http",
            None | Some(Scheme::Https) => "https",
            Some(Scheme::Other(_)) => return Err(ErrorCode::HttpRequestUriInvalid),
        };
        let authority = self.authority.filter(|authority| !authority.is_empty());
        let authority = authority.ok_or(ErrorCode::HttpRequestUriInvalid)?;
        let path = self.path_with_query.unwrap_or_default();
        let slash = if path.starts_with('/') { "" } else { "/" };
        let url = format!("{scheme}://{authority}{slash}{path}");
        if url.len() > URL_BYTES_MAX {
            return Err(ErrorCode::HttpRequestUriTooLong);
        }
        Ok(super::Outgoing {
            method: self.method,
            url,
            headers: Arc::unwrap_or_clone(self.headers),
            body: self.body.unwrap_or_default(),
            wait,
        })
    }
}

impl RequestOptions {
    /// How long the whole answer may take. It comes whole, so each of the three is part of it.
    pub(super) fn wait(&self) -> Option<Duration> {
        let first_byte = self.first_byte?;
        let others = [self.connect, self.between_bytes];
        let all = others.into_iter().flatten();
        let all = all.fold(first_byte, u64::saturating_add);
        Some(Duration::from_nanos(all))
    }
}

fn name(method: Method) -> String {
    let known = match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
        Method::Connect => "CONNECT",
        Method::Options => "OPTIONS",
        Method::Trace => "TRACE",
        Method::Patch => "PATCH",
        Method::Other(other) => return other,
    };
    known.to_owned()
}

/// What a part of a URL must be: plain, and not endless.
fn is_plain(part: &str) -> bool {
    part.len() <= URL_BYTES_MAX && part.bytes().all(|b| b.is_ascii_graphic())
}

type Done = wasmtime::Result<Result<(), ()>>;

impl<W: WasiData> types::HostOutgoingRequest for View<'_, W> {
    async fn new(
        &mut self,
        headers: Resource<Fields>,
    ) -> wasmtime::Result<Resource<OutgoingRequest>> {
        let headers = self.http().table.delete(headers)?;
        self.http().push(OutgoingRequest {
            method: "GET".to_owned(),
            scheme: None,
            authority: None,
            path_with_query: None,
            headers: headers.entries().clone(),
            body: None,
        })
    }

    async fn body(
        &mut self,
        request: Resource<OutgoingRequest>,
    ) -> wasmtime::Result<Result<Resource<OutgoingBody>, ()>> {
        let request = self.http().table.get_mut(&request)?;
        if request.body.is_some() {
            return Ok(Err(()));
        }
        let (draft, reader) = upload();
        request.body = Some(reader);
        let body = OutgoingBody::new(Sink::Request(draft));
        self.http().push(body).map(Ok)
    }

    async fn method(&mut self, request: Resource<OutgoingRequest>) -> wasmtime::Result<Method> {
        Ok(method(&self.http().table.get(&request)?.method))
    }

    async fn set_method(&mut self, request: Resource<OutgoingRequest>, method: Method) -> Done {
        let name = name(method);
        let is_name = (1..=METHOD_BYTES_MAX).contains(&name.len()) && is_plain(&name);
        let request = self.http().table.get_mut(&request)?;
        if !is_name {
            return Ok(Err(()));
        }
        request.method = name;
        Ok(Ok(()))
    }

    async fn path_with_query(
        &mut self,
        request: Resource<OutgoingRequest>,
    ) -> wasmtime::Result<Option<String>> {
        let request = self.http().table.get(&request)?;
        Ok(request.path_with_query.clone())
    }

    async fn set_path_with_query(
        &mut self,
        request: Resource<OutgoingRequest>,
        path: Option<String>,
    ) -> Done {
        let request = self.http().table.get_mut(&request)?;
        if !path.as_deref().is_none_or(is_plain) {
            return Ok(Err(()));
        }
        request.path_with_query = path;
        Ok(Ok(()))
    }

    async fn scheme(
        &mut self,
        request: Resource<OutgoingRequest>,
    ) -> wasmtime::Result<Option<Scheme>> {
        Ok(self.http().table.get(&request)?.scheme.clone())
    }

    async fn set_scheme(
        &mut self,
        request: Resource<OutgoingRequest>,
        scheme: Option<Scheme>,
    ) -> Done {
        let request = self.http().table.get_mut(&request)?;
        if matches!(scheme, Some(Scheme::Other(_))) {
            return Ok(Err(()));
        }
        request.scheme = scheme;
        Ok(Ok(()))
    }

    async fn authority(
        &mut self,
        request: Resource<OutgoingRequest>,
    ) -> wasmtime::Result<Option<String>> {
        Ok(self.http().table.get(&request)?.authority.clone())
    }

    async fn set_authority(
        &mut self,
        request: Resource<OutgoingRequest>,
        authority: Option<String>,
    ) -> Done {
        let request = self.http().table.get_mut(&request)?;
        let is_authority =
            |text: &str| is_plain(text) && !text.contains(['/', '?', '#', '@', '\\']);
        if !authority.as_deref().is_none_or(is_authority) {
            return Ok(Err(()));
        }
        request.authority = authority;
        Ok(Ok(()))
    }

    async fn headers(
        &mut self,
        request: Resource<OutgoingRequest>,
    ) -> wasmtime::Result<Resource<Fields>> {
        let headers = self.http().table.get(&request)?.headers.clone();
        self.http().push(Fields::fixed(headers))
    }

    async fn drop(&mut self, request: Resource<OutgoingRequest>) -> wasmtime::Result<()> {
        self.http().table.delete(request)?;
        Ok(())
    }
}

impl<W: WasiData> types::HostRequestOptions for View<'_, W> {
    async fn new(&mut self) -> wasmtime::Result<Resource<RequestOptions>> {
        self.http().push(RequestOptions::default())
    }

    async fn connect_timeout(
        &mut self,
        options: Resource<RequestOptions>,
    ) -> wasmtime::Result<Option<u64>> {
        Ok(self.http().table.get(&options)?.connect)
    }

    async fn set_connect_timeout(
        &mut self,
        options: Resource<RequestOptions>,
        wait: Option<u64>,
    ) -> Done {
        self.http().table.get_mut(&options)?.connect = wait;
        Ok(Ok(()))
    }

    async fn first_byte_timeout(
        &mut self,
        options: Resource<RequestOptions>,
    ) -> wasmtime::Result<Option<u64>> {
        Ok(self.http().table.get(&options)?.first_byte)
    }

    async fn set_first_byte_timeout(
        &mut self,
        options: Resource<RequestOptions>,
        wait: Option<u64>,
    ) -> Done {
        self.http().table.get_mut(&options)?.first_byte = wait;
        Ok(Ok(()))
    }

    async fn between_bytes_timeout(
        &mut self,
        options: Resource<RequestOptions>,
    ) -> wasmtime::Result<Option<u64>> {
        Ok(self.http().table.get(&options)?.between_bytes)
    }

    async fn set_between_bytes_timeout(
        &mut self,
        options: Resource<RequestOptions>,
        wait: Option<u64>,
    ) -> Done {
        self.http().table.get_mut(&options)?.between_bytes = wait;
        Ok(Ok(()))
    }

    async fn drop(&mut self, options: Resource<RequestOptions>) -> wasmtime::Result<()> {
        self.http().table.delete(options)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(scheme: Option<Scheme>, authority: &str, path: &str) -> OutgoingRequest {
        OutgoingRequest {
            method: "GET".to_owned(),
            scheme,
            authority: Some(authority.to_owned()),
            path_with_query: Some(path.to_owned()),
            headers: Arc::default(),
            body: None,
        }
    }

    #[test]
    fn parts_come_to_a_url() {
        let url = |request: OutgoingRequest| request.into_outgoing(None).map(|sent| sent.url);
        let plain = request(Some(Scheme::Http), "a.example:81", "/b?c=d");
        assert_eq!(url(plain).unwrap(), "http://a.example:81/b?c=d");
        assert_eq!(url(request(None, "a", "")).unwrap(), "https://a/");
        assert_eq!(url(request(None, "a", "?q")).unwrap(), "https://a/?q");
        assert!(url(request(None, "", "/")).is_err());
        let other = Some(Scheme::Other("ftp".to_owned()));
        assert!(url(request(other, "a", "/")).is_err());
        let long = format!("/{}", "x".repeat(URL_BYTES_MAX));
        assert!(matches!(
            url(request(None, "a", &long)),
            Err(ErrorCode::HttpRequestUriTooLong)
        ));
    }

    #[test]
    fn waits_are_added_up() {
        let mut options = RequestOptions::default();
        assert_eq!(options.wait(), None);
        options.connect = Some(1);
        assert_eq!(options.wait(), None);
        options.first_byte = Some(2);
        assert_eq!(options.wait(), Some(Duration::from_nanos(3)));
        options.between_bytes = Some(u64::MAX);
        assert_eq!(options.wait(), Some(Duration::from_nanos(u64::MAX)));
    }
}
