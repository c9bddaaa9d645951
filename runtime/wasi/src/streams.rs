//! `wasi:io/streams`: standard input, at its end; standard output and error, which become lines; and the bodies of
//! `wasi:http`.

use wasmtime::bail;
use wasmtime::component::Resource;

use crate::bindings::wasi::io::{error, streams};
use crate::http::{
    BODIES, ErrorCode, IncomingBody, OutgoingBody, PART_BYTES_MAX, Sink, WriteError,
};
use crate::lines::{Output, To};
use crate::poll::{Pollable, When};
use crate::{View, WasiData};
use streams::StreamError;

/// What a guest may write at once, as `check-write` tells it.
const WRITE_BYTES_MAX: u64 = PART_BYTES_MAX as u64;

/// What a guest reads at once; more takes more calls.
const READ_BYTES_MAX: u64 = 1 << 20;

/// Why a body cannot be written.
#[allow(unreachable_pub, reason = "generated code re-exports it")]
#[derive(Debug)]
pub struct Error(pub(crate) ErrorCode);

/// Standard input, always at its end, or a body.
#[allow(unreachable_pub, reason = "generated code re-exports it")]
#[derive(Debug)]
pub struct Input;

type Outcome<T> = wasmtime::Result<Result<T, StreamError>>;

impl Input {
    /// The stream out of a body.
    pub(crate) fn of_body(body: &Resource<IncomingBody>) -> Resource<Self> {
        Resource::new_own(body.rep() + BODIES)
    }

    /// The body that a handle reads; none: standard input.
    fn body(input: &Resource<Self>) -> Option<Resource<IncomingBody>> {
        let body = input.rep().checked_sub(BODIES)?;
        Some(Resource::new_borrow(body))
    }
}

impl<W: WasiData> View<'_, W> {
    fn print(&mut self, output: Output, bytes: &[u8]) {
        for line in self.0.wasi().lines.print(output, bytes) {
            self.0.line(output, &line);
        }
    }

    fn failed(&mut self, code: ErrorCode) -> wasmtime::Result<StreamError> {
        let error = self.http().push(Error(code))?;
        Ok(StreamError::LastOperationFailed(error))
    }

    fn told<T>(&mut self, outcome: Result<T, WriteError>) -> Outcome<T> {
        match outcome {
            Ok(value) => Ok(Ok(value)),
            Err(WriteError::Closed) => Ok(Err(StreamError::Closed)),
            Err(WriteError::Failed(code)) => Ok(Err(self.failed(code)?)),
        }
    }

    /// Bytes that can be written now.
    fn room(&mut self, output: &Resource<Output>) -> Outcome<u64> {
        let To::Body(body) = Output::to(output) else {
            return Ok(Ok(WRITE_BYTES_MAX));
        };
        let room = match &mut self.http().table.get_mut(&body)?.sink {
            Sink::Response(pipe) => pipe.room(),
            // What is too much is refused with its reason.
            Sink::Request(_) => Ok(PART_BYTES_MAX),
        };
        let room = room.map(|room| room as u64);
        self.told(room)
    }

    fn put(&mut self, output: &Resource<Output>, bytes: &[u8]) -> Outcome<()> {
        let room = match self.room(output)? {
            Ok(room) => room,
            Err(error) => return Ok(Err(error)),
        };
        if bytes.len() as u64 > room {
            bail!(
                "write {} bytes: there is room for {room} at once",
                bytes.len()
            );
        }
        let body = match Output::to(output) {
            To::Lines(output) => {
                self.print(output, bytes);
                return Ok(Ok(()));
            }
            To::Body(body) => body,
        };
        let http = self.http();
        let written = match &mut http.table.get_mut(&body)?.sink {
            Sink::Response(pipe) => pipe.write(bytes),
            Sink::Request(draft) => {
                let written = draft.write(bytes);
                let counted = written.and_then(|()| http.upload(bytes.len()));
                counted.map_err(WriteError::Failed)
            }
        };
        self.told(written)
    }

    /// Wait until a body's reader has room for what was written.
    pub(crate) async fn pass_on(&mut self, body: &Resource<OutgoingBody>) -> Outcome<()> {
        loop {
            let (room, waiting) = match &mut self.http().table.get_mut(body)?.sink {
                Sink::Response(pipe) => (pipe.room(), pipe.is_waiting().then(|| pipe.when_room())),
                Sink::Request(_) => return Ok(Ok(())),
            };
            if let Err(error) = room {
                return self.told(Err(error));
            }
            match waiting {
                Some(room) => room.wait().await,
                None => return Ok(Ok(())),
            }
        }
    }

    async fn flushed(&mut self, output: &Resource<Output>) -> Outcome<()> {
        match Output::to(output) {
            To::Lines(_) => Ok(Ok(())),
            To::Body(body) => self.pass_on(&body).await,
        }
    }

    /// Write however much it is, as fast as it is read.
    async fn put_all(&mut self, output: &Resource<Output>, bytes: &[u8]) -> Outcome<()> {
        if bytes.len() as u64 > WRITE_BYTES_MAX {
            bail!(
                "write {} bytes: the limit is {WRITE_BYTES_MAX} at once",
                bytes.len()
            );
        }
        if let Err(error) = self.flushed(output).await? {
            return Ok(Err(error));
        }
        match self.put(output, bytes)? {
            Ok(()) => self.flushed(output).await,
            Err(error) => Ok(Err(error)),
        }
    }

    fn take(&mut self, input: &Resource<Input>, len: u64) -> Outcome<Vec<u8>> {
        let Some(body) = Input::body(input) else {
            return Ok(Err(StreamError::Closed));
        };
        let bytes = self
            .http()
            .table
            .get_mut(&body)?
            .read(len.min(READ_BYTES_MAX));
        Ok(bytes.map(Vec::from).ok_or(StreamError::Closed))
    }

    /// From a body, or from standard input, into another.
    fn spliced(
        &mut self,
        output: &Resource<Output>,
        input: &Resource<Input>,
        len: u64,
    ) -> Outcome<u64> {
        let room = match self.room(output)? {
            Ok(room) => room,
            Err(error) => return Ok(Err(error)),
        };
        let bytes = match self.take(input, len.min(room))? {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(error)),
        };
        let put = self.put(output, &bytes)?;
        Ok(put.map(|()| bytes.len() as u64))
    }
}

/// As many zeroes as may be written at once, and one more, which is refused.
fn zeroes(len: u64) -> wasmtime::Result<Vec<u8>> {
    let len = len.min(WRITE_BYTES_MAX + 1);
    Ok(vec![0; usize::try_from(len)?])
}

impl<W: WasiData> error::Host for View<'_, W> {}

impl<W: WasiData> error::HostError for View<'_, W> {
    async fn to_debug_string(&mut self, error: Resource<Error>) -> wasmtime::Result<String> {
        Ok(format!("{:?}", self.http().table.get(&error)?.0))
    }

    async fn drop(&mut self, error: Resource<Error>) -> wasmtime::Result<()> {
        self.http().table.delete(error)?;
        Ok(())
    }
}

impl<W: WasiData> streams::Host for View<'_, W> {}

impl<W: WasiData> streams::HostInputStream for View<'_, W> {
    async fn read(&mut self, input: Resource<Input>, len: u64) -> Outcome<Vec<u8>> {
        self.take(&input, len)
    }

    async fn blocking_read(&mut self, input: Resource<Input>, len: u64) -> Outcome<Vec<u8>> {
        self.take(&input, len)
    }

    async fn skip(&mut self, input: Resource<Input>, len: u64) -> Outcome<u64> {
        Ok(self.take(&input, len)?.map(|bytes| bytes.len() as u64))
    }

    async fn blocking_skip(&mut self, input: Resource<Input>, len: u64) -> Outcome<u64> {
        Ok(self.take(&input, len)?.map(|bytes| bytes.len() as u64))
    }

    async fn subscribe(&mut self, _: Resource<Input>) -> wasmtime::Result<Resource<Pollable>> {
        self.0.wasi().pollables.ready()
    }

    async fn drop(&mut self, input: Resource<Input>) -> wasmtime::Result<()> {
        if let Some(body) = Input::body(&input) {
            self.http().table.get_mut(&body)?.stream_dropped();
        }
        Ok(())
    }
}

impl<W: WasiData> streams::HostOutputStream for View<'_, W> {
    async fn check_write(&mut self, output: Resource<Output>) -> Outcome<u64> {
        self.room(&output)
    }

    async fn write(&mut self, output: Resource<Output>, bytes: Vec<u8>) -> Outcome<()> {
        self.put(&output, &bytes)
    }

    async fn blocking_write_and_flush(
        &mut self,
        output: Resource<Output>,
        bytes: Vec<u8>,
    ) -> Outcome<()> {
        self.put_all(&output, &bytes).await
    }

    async fn flush(&mut self, output: Resource<Output>) -> Outcome<()> {
        self.flushed(&output).await
    }

    async fn blocking_flush(&mut self, output: Resource<Output>) -> Outcome<()> {
        self.flushed(&output).await
    }

    async fn subscribe(
        &mut self,
        output: Resource<Output>,
    ) -> wasmtime::Result<Resource<Pollable>> {
        let room = match Output::to(&output) {
            To::Lines(_) => None,
            To::Body(body) => match &self.http().table.get(&body)?.sink {
                Sink::Response(pipe) => Some(pipe.when_room()),
                Sink::Request(_) => None,
            },
        };
        let pollables = &mut self.0.wasi().pollables;
        match room {
            Some(room) => pollables.add(When::Room(room)),
            None => pollables.ready(),
        }
    }

    async fn write_zeroes(&mut self, output: Resource<Output>, len: u64) -> Outcome<()> {
        self.put(&output, &zeroes(len)?)
    }

    async fn blocking_write_zeroes_and_flush(
        &mut self,
        output: Resource<Output>,
        len: u64,
    ) -> Outcome<()> {
        self.put_all(&output, &zeroes(len)?).await
    }

    async fn splice(
        &mut self,
        output: Resource<Output>,
        input: Resource<Input>,
        len: u64,
    ) -> Outcome<u64> {
        self.spliced(&output, &input, len)
    }

    async fn blocking_splice(
        &mut self,
        output: Resource<Output>,
        input: Resource<Input>,
        len: u64,
    ) -> Outcome<u64> {
        match self.flushed(&output).await? {
            Ok(()) => self.spliced(&output, &input, len),
            Err(error) => Ok(Err(error)),
        }
    }

    async fn drop(&mut self, output: Resource<Output>) -> wasmtime::Result<()> {
        if let To::Body(body) = Output::to(&output) {
            self.http().table.get_mut(&body)?.stream_dropped();
        }
        Ok(())
    }
}
