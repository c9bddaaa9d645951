//! `wasi:random`: all of it from the system, also what may be predictable.

use wasmtime::bail;

use crate::bindings::wasi::random::{insecure, insecure_seed, random};
use crate::{View, WasiData};

/// Random bytes of one call of a function.
pub const RANDOM_BYTES_MAX: u64 = 64 << 10;

fn bytes(len: u64) -> wasmtime::Result<Vec<u8>> {
    if len > RANDOM_BYTES_MAX {
        bail!("get {len} random bytes: the limit is {RANDOM_BYTES_MAX} at once");
    }
    let mut bytes = vec![0; usize::try_from(len)?];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

fn number() -> wasmtime::Result<u64> {
    let mut number = [0; 8];
    getrandom::fill(&mut number)?;
    Ok(u64::from_ne_bytes(number))
}

impl<W: WasiData> random::Host for View<'_, W> {
    async fn get_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        bytes(len)
    }

    async fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        number()
    }
}

impl<W: WasiData> insecure::Host for View<'_, W> {
    async fn get_insecure_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        bytes(len)
    }

    async fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        number()
    }
}

impl<W: WasiData> insecure_seed::Host for View<'_, W> {
    async fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok((number()?, number()?))
    }
}
