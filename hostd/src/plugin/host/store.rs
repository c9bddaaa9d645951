//! `hostd:plugin/store`: a plugin's own durable keys, apart for each organisation, within its quota.

use store::Store;
use store::handler_kv::{self, Entry as Kept, KvError, Namespace, SCAN_MAX};
use wasmtime::component::HasData;

use super::{PluginLinker, offers, refusal};
use crate::host::{Context, internal};
use crate::plugin::call::Acting;
use offers::store::{Entry, Host};
use offers::types::Error;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    acting: Acting<'a>,
    context: &'a Context,
    store: &'a Store,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut PluginLinker) -> wasmtime::Result<()> {
    offers::store::add_to_linker::<_, View<'static>>(linker, |state| View {
        acting: state.data.acting(),
        context: &state.data.context,
        store: &state.data.services.store,
    })
}

impl Host for View<'_> {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<Entry>, Error>> {
        Ok(self.read(key).await)
    }

    async fn put(&mut self, key: String, value: Vec<u8>) -> wasmtime::Result<Result<u64, Error>> {
        Ok(self.write(&key, value).await)
    }

    async fn compare_and_set(
        &mut self,
        key: String,
        expected: Option<u64>,
        value: Option<Vec<u8>>,
    ) -> wasmtime::Result<Result<u64, Error>> {
        Ok(self.exchange(&key, expected, value).await)
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<Result<(), Error>> {
        Ok(self.remove(&key).await)
    }

    async fn scan(
        &mut self,
        from: String,
        to: String,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<Entry>, Error>> {
        Ok(self.list(from, to, limit).await)
    }
}

impl View<'_> {
    fn namespace(&self) -> Result<Namespace, Error> {
        Ok(Namespace::of_plugin(
            self.acting.plugin(),
            self.acting.org(),
            self.acting.store_bytes_max()?,
        ))
    }

    async fn read(&self, key: String) -> Result<Option<Entry>, Error> {
        let space = self.namespace()?;
        let found = self.store.read(move |s| handler_kv::get(s, &space, &key));
        let found = found.await.map_err(|e| self.refused(e))?;
        Ok(found.map(entry))
    }

    async fn write(&self, key: &str, value: Vec<u8>) -> Result<u64, Error> {
        let space = self.namespace()?;
        let put = self.store.kv_put(&space, key, value).await;
        put.map_err(|e| self.refused(e))
    }

    async fn exchange(
        &self,
        key: &str,
        expected: Option<u64>,
        value: Option<Vec<u8>>,
    ) -> Result<u64, Error> {
        let space = self.namespace()?;
        let set = self
            .store
            .kv_compare_and_set(&space, key, expected, value)
            .await;
        set.map_err(|e| self.refused(e))
    }

    async fn remove(&self, key: &str) -> Result<(), Error> {
        let space = self.namespace()?;
        let deleted = self.store.kv_delete(&space, key).await;
        deleted.map(|_| ()).map_err(|e| self.refused(e))
    }

    async fn list(&self, from: String, to: String, limit: u32) -> Result<Vec<Entry>, Error> {
        let space = self.namespace()?;
        let limit = limit.clamp(1, SCAN_MAX);
        let found = self
            .store
            .read(move |s| handler_kv::scan(s, &space, &from, &to, limit));
        let found = found.await.map_err(|e| self.refused(e.into()))?;
        Ok(found.into_iter().map(entry).collect())
    }

    fn refused(&self, error: KvError) -> Error {
        match error {
            KvError::Conflict { .. } => refusal("conflict", error.to_string()),
            KvError::Full { .. } => refusal("quota_exceeded", error.to_string()),
            KvError::Store(error) => refusal("internal", internal(self.context, "store", &error)),
            too_large => refusal("too_large", too_large.to_string()),
        }
    }
}

fn entry(kept: Kept) -> Entry {
    Entry {
        key: kept.key,
        value: kept.value,
        version: kept.version,
    }
}
