//! `hostd:host/store`: a handler's own durable keys, kept apart by group and organisation.

use wasmtime::component::HasData;

use super::bindings::hostd::host::store::{Entry as WitEntry, Error, Host};
use super::{CallLinker, Context, internal, wit};
use store::Store;
use store::handler_kv::{self, Entry, KvError, Namespace};

/// Most entries of one scan.
const SCAN_MAX: u32 = 1000;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    store: &'a Store,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::store::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        store: &state.data.services.store,
    })
}

impl Host for View<'_> {
    async fn get(&mut self, key: String) -> Result<Option<WitEntry>, Error> {
        let space = self.namespace()?;
        let store = self.store;
        let found = store.read(move |s| handler_kv::get(s, &space, &key)).await;
        found.map(|e| e.map(to_wit)).map_err(|e| self.kv_error(e))
    }

    async fn put(&mut self, key: String, value: Vec<u8>) -> Result<u64, Error> {
        let space = self.namespace()?;
        let put = self.store.kv_put(&space, &key, value).await;
        put.map_err(|e| self.kv_error(e))
    }

    async fn compare_and_set(
        &mut self,
        key: String,
        expected: Option<u64>,
        value: Option<Vec<u8>>,
    ) -> Result<u64, Error> {
        let space = self.namespace()?;
        let store = self.store;
        let set = store
            .kv_compare_and_set(&space, &key, expected, value)
            .await;
        set.map_err(|e| self.kv_error(e))
    }

    async fn delete(&mut self, key: String) -> Result<(), Error> {
        let space = self.namespace()?;
        let deleted = self.store.kv_delete(&space, &key).await;
        deleted.map(|_| ()).map_err(|e| self.kv_error(e))
    }

    async fn scan(&mut self, from: String, to: String, limit: u32) -> Result<Vec<WitEntry>, Error> {
        let space = self.namespace()?;
        let limit = limit.clamp(1, SCAN_MAX);
        let store = self.store;
        let found = store
            .read(move |s| handler_kv::scan(s, &space, &from, &to, limit))
            .await;
        found
            .map(|list| list.into_iter().map(to_wit).collect())
            .map_err(|e| self.kv_error(e.into()))
    }
}

impl View<'_> {
    fn namespace(&self) -> Result<Namespace, Error> {
        let caller = self.context.caller.as_ref();
        let caller =
            caller.ok_or_else(|| Error::Other("the request has no caller to store for".into()))?;
        Ok(Namespace::new(&self.context.group, caller.org()))
    }

    fn kv_error(&self, error: KvError) -> Error {
        match error {
            KvError::Conflict { current } => Error::Conflict(current),
            KvError::Store(e) => Error::Other(internal(self.context, "store", &e)),
            too_large => Error::TooLarge(too_large.to_string()),
        }
    }
}

fn to_wit(entry: Entry) -> WitEntry {
    WitEntry {
        key: entry.key,
        value: entry.value,
        version: entry.version,
    }
}
