//! The response as a guest makes it, and bodies that it writes.

use std::sync::Arc;

use wasmtime::component::Resource;

use super::body::{Pipe, Reader, pipe};
use super::fields::Fields;
use super::incoming::Stream;
use super::upload::Draft;
use super::{Headers, Response};
use crate::bindings::wasi::http::types::{self, ErrorCode};
use crate::lines::Output;
use crate::{View, WasiData};

/// What a response has unless the guest says otherwise.
const STATUS_DEFAULT: u16 = 200;

/// What the guest answers.
#[derive(Debug)]
#[allow(unreachable_pub, reason = "generated code re-exports it")]
pub struct OutgoingResponse {
    status: u16,
    headers: Arc<Headers>,
    /// Once the guest has begun it.
    body: Option<Reader>,
}

/// A body that the guest writes.
#[derive(Debug)]
#[allow(unreachable_pub, reason = "generated code re-exports it")]
pub struct OutgoingBody {
    pub(crate) sink: Sink,
    stream: Stream,
}

/// Where a body goes.
#[derive(Debug)]
pub(crate) enum Sink {
    Response(Pipe),
    Request(Draft),
}

/// Where the guest puts its answer.
#[derive(Debug)]
#[allow(unreachable_pub, reason = "generated code re-exports it")]
pub struct ResponseOutparam;

impl OutgoingBody {
    pub(super) fn new(sink: Sink) -> Self {
        let stream = Stream::NotAsked;
        Self { sink, stream }
    }

    /// The stream is gone.
    pub(crate) fn stream_dropped(&mut self) {
        self.stream = Stream::Dropped;
    }
}

impl From<OutgoingResponse> for Response {
    fn from(response: OutgoingResponse) -> Self {
        Self {
            status: response.status,
            headers: Arc::unwrap_or_clone(response.headers),
            body: response.body,
        }
    }
}

/// The number that `content-length` has.
fn length(headers: &Headers) -> Option<u64> {
    let (_, value) = headers.iter().find(|(name, _)| name == "content-length")?;
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

type Done = wasmtime::Result<Result<(), ()>>;

impl<W: WasiData> types::HostOutgoingResponse for View<'_, W> {
    async fn new(
        &mut self,
        headers: Resource<Fields>,
    ) -> wasmtime::Result<Resource<OutgoingResponse>> {
        let headers = self.http().table.delete(headers)?;
        self.http().push(OutgoingResponse {
            status: STATUS_DEFAULT,
            headers: headers.entries().clone(),
            body: None,
        })
    }

    async fn status_code(&mut self, response: Resource<OutgoingResponse>) -> wasmtime::Result<u16> {
        Ok(self.http().table.get(&response)?.status)
    }

    async fn set_status_code(&mut self, response: Resource<OutgoingResponse>, status: u16) -> Done {
        let response = self.http().table.get_mut(&response)?;
        if !(200..=599).contains(&status) {
            return Ok(Err(()));
        }
        response.status = status;
        Ok(Ok(()))
    }

    async fn headers(
        &mut self,
        response: Resource<OutgoingResponse>,
    ) -> wasmtime::Result<Resource<Fields>> {
        let headers = self.http().table.get(&response)?.headers.clone();
        self.http().push(Fields::fixed(headers))
    }

    async fn body(
        &mut self,
        response: Resource<OutgoingResponse>,
    ) -> wasmtime::Result<Result<Resource<OutgoingBody>, ()>> {
        let http = self.http();
        let audience = http.audience;
        let response = http.table.get_mut(&response)?;
        if response.body.is_some() {
            return Ok(Err(()));
        }
        let (pipe, reader) = pipe(length(&response.headers), audience);
        response.body = Some(reader);
        http.begin_response_body()?;
        let body = OutgoingBody::new(Sink::Response(pipe));
        http.push(body).map(Ok)
    }

    async fn drop(&mut self, response: Resource<OutgoingResponse>) -> wasmtime::Result<()> {
        self.http().table.delete(response)?;
        Ok(())
    }
}

impl<W: WasiData> types::HostOutgoingBody for View<'_, W> {
    async fn write(
        &mut self,
        body: Resource<OutgoingBody>,
    ) -> wasmtime::Result<Result<Resource<Output>, ()>> {
        let given = self.http().table.get_mut(&body)?.stream.give();
        Ok(given.map(|()| Output::of_body(&body)))
    }

    async fn finish(
        &mut self,
        body: Resource<OutgoingBody>,
        trailers: Option<Resource<Fields>>,
    ) -> wasmtime::Result<Result<(), ErrorCode>> {
        self.http().table.get(&body)?.stream.check_end()?;
        // The pipe knows what was not sent.
        let _sent = self.pass_on(&body).await?;
        let body = self.http().table.delete(body)?;
        let trailers = match trailers {
            Some(trailers) => Some(self.http().table.delete(trailers)?.into_entries()),
            None => None,
        };
        match body.sink {
            Sink::Response(pipe) => Ok(pipe.finish(trailers)),
            Sink::Request(draft) => {
                draft.finish();
                Ok(Ok(()))
            }
        }
    }

    async fn drop(&mut self, body: Resource<OutgoingBody>) -> wasmtime::Result<()> {
        self.http().table.delete(body)?.stream.check_end()
    }
}

impl<W: WasiData> types::HostResponseOutparam for View<'_, W> {
    async fn set(
        &mut self,
        param: Resource<ResponseOutparam>,
        response: Result<Resource<OutgoingResponse>, ErrorCode>,
    ) -> wasmtime::Result<()> {
        let http = self.http();
        http.table.delete(param)?;
        http.is_answered = true;
        let answer = match response {
            Ok(response) => Ok(http.table.delete(response)?.into()),
            Err(code) => Err(code),
        };
        self.0.answer(answer)
    }

    async fn drop(&mut self, param: Resource<ResponseOutparam>) -> wasmtime::Result<()> {
        self.http().table.delete(param)?;
        Ok(())
    }
}
