//! `wasi:io/streams`: input that is at its end, output that becomes lines.

use wasmtime::bail;
use wasmtime::component::Resource;

use crate::bindings::wasi::io::{error, streams};
use crate::lines::Output;
use crate::poll::Pollable;
use crate::{View, WasiData};
use streams::StreamError;

/// What a guest may write at once, as `check-write` tells it.
const WRITE_BYTES_MAX: u64 = 64 << 10;

/// Never made: the streams here do not fail.
#[allow(unreachable_pub, reason = "generated code re-exports it")]
#[derive(Debug)]
pub enum Error {}

/// Standard input, always at its end.
#[allow(unreachable_pub, reason = "generated code re-exports it")]
#[derive(Debug)]
pub struct Input;

type Outcome<T> = wasmtime::Result<Result<T, StreamError>>;

impl<W: WasiData> View<'_, W> {
    fn print(&mut self, output: &Resource<Output>, bytes: &[u8]) -> wasmtime::Result<()> {
        if bytes.len() as u64 > WRITE_BYTES_MAX {
            bail!(
                "write {} bytes: the limit is {WRITE_BYTES_MAX} at once",
                bytes.len()
            );
        }
        let output = Output::of(output);
        for line in self.0.wasi().lines.print(output, bytes) {
            self.0.line(output, &line);
        }
        Ok(())
    }

    fn zeroes(&mut self, output: &Resource<Output>, len: u64) -> wasmtime::Result<()> {
        // One more than allowed is enough to be refused.
        let len = len.min(WRITE_BYTES_MAX + 1);
        self.print(output, &vec![0; usize::try_from(len)?])
    }

    fn ready(&mut self) -> wasmtime::Result<Resource<Pollable>> {
        self.0.wasi().pollables.ready()
    }
}

impl<W: WasiData> error::Host for View<'_, W> {}

impl<W: WasiData> error::HostError for View<'_, W> {
    async fn to_debug_string(&mut self, _: Resource<Error>) -> wasmtime::Result<String> {
        Ok(String::new())
    }

    async fn drop(&mut self, _: Resource<Error>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl<W: WasiData> streams::Host for View<'_, W> {}

impl<W: WasiData> streams::HostInputStream for View<'_, W> {
    async fn read(&mut self, _: Resource<Input>, _: u64) -> Outcome<Vec<u8>> {
        Ok(Err(StreamError::Closed))
    }

    async fn blocking_read(&mut self, _: Resource<Input>, _: u64) -> Outcome<Vec<u8>> {
        Ok(Err(StreamError::Closed))
    }

    async fn skip(&mut self, _: Resource<Input>, _: u64) -> Outcome<u64> {
        Ok(Err(StreamError::Closed))
    }

    async fn blocking_skip(&mut self, _: Resource<Input>, _: u64) -> Outcome<u64> {
        Ok(Err(StreamError::Closed))
    }

    async fn subscribe(&mut self, _: Resource<Input>) -> wasmtime::Result<Resource<Pollable>> {
        self.ready()
    }

    async fn drop(&mut self, _: Resource<Input>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl<W: WasiData> streams::HostOutputStream for View<'_, W> {
    async fn check_write(&mut self, _: Resource<Output>) -> Outcome<u64> {
        Ok(Ok(WRITE_BYTES_MAX))
    }

    async fn write(&mut self, output: Resource<Output>, bytes: Vec<u8>) -> Outcome<()> {
        self.print(&output, &bytes).map(Ok)
    }

    async fn blocking_write_and_flush(
        &mut self,
        output: Resource<Output>,
        bytes: Vec<u8>,
    ) -> Outcome<()> {
        self.print(&output, &bytes).map(Ok)
    }

    async fn flush(&mut self, _: Resource<Output>) -> Outcome<()> {
        Ok(Ok(()))
    }

    async fn blocking_flush(&mut self, _: Resource<Output>) -> Outcome<()> {
        Ok(Ok(()))
    }

    async fn subscribe(&mut self, _: Resource<Output>) -> wasmtime::Result<Resource<Pollable>> {
        self.ready()
    }

    async fn write_zeroes(&mut self, output: Resource<Output>, len: u64) -> Outcome<()> {
        self.zeroes(&output, len).map(Ok)
    }

    async fn blocking_write_zeroes_and_flush(
        &mut self,
        output: Resource<Output>,
        len: u64,
    ) -> Outcome<()> {
        self.zeroes(&output, len).map(Ok)
    }

    async fn splice(&mut self, _: Resource<Output>, _: Resource<Input>, _: u64) -> Outcome<u64> {
        Ok(Err(StreamError::Closed))
    }

    async fn blocking_splice(
        &mut self,
        _: Resource<Output>,
        _: Resource<Input>,
        _: u64,
    ) -> Outcome<u64> {
        Ok(Err(StreamError::Closed))
    }

    async fn drop(&mut self, _: Resource<Output>) -> wasmtime::Result<()> {
        Ok(())
    }
}
