//! Requests and answers as a guest reads them, with bodies that have arrived.

use std::sync::Arc;

use bytes::Bytes;
use wasmtime::bail;
use wasmtime::component::Resource;

use super::fields::Fields;
use super::{Headers, Received, Request};
use crate::bindings::wasi::http::types::{self, ErrorCode, Method, Scheme};
use crate::poll::Pollable;
use crate::streams::Input;
use crate::{View, WasiData};

/// What the guest is to answer.
#[derive(Debug)]
#[allow(unreachable_pub, reason = "generated bindings export it again")]
pub struct IncomingRequest {
    method: String,
    path_with_query: String,
    authority: String,
    headers: Arc<Headers>,
    /// None once it was taken.
    body: Option<Bytes>,
}

/// The answer to a request of the guest.
#[derive(Debug)]
#[allow(unreachable_pub, reason = "generated bindings export it again")]
pub struct IncomingResponse {
    status: u16,
    headers: Arc<Headers>,
    /// None once it was taken.
    body: Option<Bytes>,
}

/// A body that is there.
#[derive(Debug)]
#[allow(unreachable_pub, reason = "generated bindings export it again")]
pub struct IncomingBody {
    rest: Bytes,
    stream: Stream,
}

/// What has become of the stream that a body is read or written through, of which there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    NotAsked,
    Held,
    Dropped,
}

/// There are none; whether the guest has been told.
#[allow(unreachable_pub, reason = "generated code re-exports it")]
#[derive(Debug)]
pub struct FutureTrailers {
    is_told: bool,
}

impl Stream {
    /// The stream is given away, unless it was before.
    pub(crate) fn give(&mut self) -> Result<(), ()> {
        if *self != Self::NotAsked {
            return Err(());
        }
        *self = Self::Held;
        Ok(())
    }

    /// The body ends, which it may not while somebody reads or writes.
    pub(crate) fn check_end(self) -> wasmtime::Result<()> {
        if self == Self::Held {
            bail!("end a body while its stream is held");
        }
        Ok(())
    }
}

impl From<Request> for IncomingRequest {
    fn from(request: Request) -> Self {
        Self {
            method: request.method,
            path_with_query: request.path_with_query,
            authority: request.authority,
            headers: Arc::new(request.headers),
            body: Some(request.body),
        }
    }
}

impl From<Received> for IncomingResponse {
    fn from(received: Received) -> Self {
        Self {
            status: received.status,
            headers: Arc::new(received.headers),
            body: Some(received.body),
        }
    }
}

impl IncomingBody {
    fn new(rest: Bytes) -> Self {
        let stream = Stream::NotAsked;
        Self { rest, stream }
    }

    /// The next bytes, at most `len`; none at the end.
    pub(crate) fn read(&mut self, len: u64) -> Option<Bytes> {
        if self.rest.is_empty() {
            return None;
        }
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Some(self.rest.split_to(len.min(self.rest.len())))
    }

    /// The stream is gone.
    pub(crate) fn stream_dropped(&mut self) {
        self.stream = Stream::Dropped;
    }
}

/// A method as the contract names it.
pub(super) fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "CONNECT" => Method::Connect,
        "OPTIONS" => Method::Options,
        "TRACE" => Method::Trace,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

impl<W: WasiData> View<'_, W> {
    /// Hand a body out, once.
    fn hand_out(
        &mut self,
        body: Option<Bytes>,
    ) -> wasmtime::Result<Result<Resource<IncomingBody>, ()>> {
        match body {
            Some(body) => self.http().push(IncomingBody::new(body)).map(Ok),
            None => Ok(Err(())),
        }
    }
}

impl<W: WasiData> types::HostIncomingRequest for View<'_, W> {
    async fn method(&mut self, request: Resource<IncomingRequest>) -> wasmtime::Result<Method> {
        Ok(method(&self.http().table.get(&request)?.method))
    }

    async fn path_with_query(
        &mut self,
        request: Resource<IncomingRequest>,
    ) -> wasmtime::Result<Option<String>> {
        let request = self.http().table.get(&request)?;
        Ok(Some(request.path_with_query.clone()))
    }

    async fn scheme(
        &mut self,
        request: Resource<IncomingRequest>,
    ) -> wasmtime::Result<Option<Scheme>> {
        // What the client speaks with whatever stands before the server is not known.
        self.http().table.get(&request)?;
        Ok(Some(Scheme::Http))
    }

    async fn authority(
        &mut self,
        request: Resource<IncomingRequest>,
    ) -> wasmtime::Result<Option<String>> {
        Ok(Some(self.http().table.get(&request)?.authority.clone()))
    }

    async fn headers(
        &mut self,
        request: Resource<IncomingRequest>,
    ) -> wasmtime::Result<Resource<Fields>> {
        let headers = self.http().table.get(&request)?.headers.clone();
        self.http().push(Fields::fixed(headers))
    }

    async fn consume(
        &mut self,
        request: Resource<IncomingRequest>,
    ) -> wasmtime::Result<Result<Resource<IncomingBody>, ()>> {
        let body = self.http().table.get_mut(&request)?.body.take();
        self.hand_out(body)
    }

    async fn drop(&mut self, request: Resource<IncomingRequest>) -> wasmtime::Result<()> {
        self.http().table.delete(request)?;
        Ok(())
    }
}

impl<W: WasiData> types::HostIncomingResponse for View<'_, W> {
    async fn status(&mut self, response: Resource<IncomingResponse>) -> wasmtime::Result<u16> {
        Ok(self.http().table.get(&response)?.status)
    }

    async fn headers(
        &mut self,
        response: Resource<IncomingResponse>,
    ) -> wasmtime::Result<Resource<Fields>> {
        let headers = self.http().table.get(&response)?.headers.clone();
        self.http().push(Fields::fixed(headers))
    }

    async fn consume(
        &mut self,
        response: Resource<IncomingResponse>,
    ) -> wasmtime::Result<Result<Resource<IncomingBody>, ()>> {
        let body = self.http().table.get_mut(&response)?.body.take();
        self.hand_out(body)
    }

    async fn drop(&mut self, response: Resource<IncomingResponse>) -> wasmtime::Result<()> {
        self.http().table.delete(response)?;
        Ok(())
    }
}

impl<W: WasiData> types::HostIncomingBody for View<'_, W> {
    async fn stream(
        &mut self,
        body: Resource<IncomingBody>,
    ) -> wasmtime::Result<Result<Resource<Input>, ()>> {
        let given = self.http().table.get_mut(&body)?.stream.give();
        Ok(given.map(|()| Input::of_body(&body)))
    }

    async fn finish(
        &mut self,
        body: Resource<IncomingBody>,
    ) -> wasmtime::Result<Resource<FutureTrailers>> {
        let body = self.http().table.delete(body)?;
        body.stream.check_end()?;
        let is_told = false;
        self.http().push(FutureTrailers { is_told })
    }

    async fn drop(&mut self, body: Resource<IncomingBody>) -> wasmtime::Result<()> {
        self.http().table.delete(body)?.stream.check_end()
    }
}

type Trailers = Result<Option<Resource<Fields>>, ErrorCode>;

impl<W: WasiData> types::HostFutureTrailers for View<'_, W> {
    async fn subscribe(
        &mut self,
        _: Resource<FutureTrailers>,
    ) -> wasmtime::Result<Resource<Pollable>> {
        self.0.wasi().pollables.ready()
    }

    async fn get(
        &mut self,
        trailers: Resource<FutureTrailers>,
    ) -> wasmtime::Result<Option<Result<Trailers, ()>>> {
        let trailers = self.http().table.get_mut(&trailers)?;
        let was_told = std::mem::replace(&mut trailers.is_told, true);
        Ok(Some(if was_told { Err(()) } else { Ok(Ok(None)) }))
    }

    async fn drop(&mut self, trailers: Resource<FutureTrailers>) -> wasmtime::Result<()> {
        self.http().table.delete(trailers)?;
        Ok(())
    }
}
