//! The host that the bench guest meets: one map behind `hostd:host/store`.

use std::collections::HashMap;
use std::sync::Arc;

use runtime::{CallData, State};
use wasmtime::component::{HasSelf, Linker, ResourceTable};

#[allow(
    missing_docs,
    unreachable_pub,
    unsafe_code,
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    reason = "generated code"
)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit",
        inline: "package bench:bench; world stored { import hostd:host/store@0.1.0; import hostd:host/log@0.1.0; }",
        imports: { default: async },
    });
}

use bindings::hostd::host::{log, store};

pub(crate) type Stored = Arc<HashMap<String, Vec<u8>>>;

/// One call's data.
pub(crate) struct Call {
    stored: Stored,
    table: ResourceTable,
}

impl Call {
    pub(crate) fn new(stored: Stored) -> Self {
        Self {
            stored,
            table: ResourceTable::new(),
        }
    }
}

impl CallData for Call {
    fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }
}

pub(crate) fn link(linker: &mut Linker<State<Call>>) {
    fn call(state: &mut State<Call>) -> &mut Call {
        &mut state.data
    }
    store::add_to_linker::<_, HasSelf<Call>>(linker, call).unwrap();
    log::add_to_linker::<_, HasSelf<Call>>(linker, call).unwrap();
}

impl log::Host for Call {
    async fn write(&mut self, level: log::Level, message: String) {
        println!("guest: {level:?} {message}");
    }
}

const READ_ONLY: &str = "the bench's store is read-only";

impl store::Host for Call {
    async fn get(&mut self, key: String) -> Result<Option<store::Entry>, store::Error> {
        let value = self.stored.get(&key).cloned();
        Ok(value.map(|value| store::Entry {
            key,
            value,
            version: 1,
        }))
    }

    async fn put(&mut self, _key: String, _value: Vec<u8>) -> Result<u64, store::Error> {
        Err(store::Error::Other(READ_ONLY.to_owned()))
    }

    async fn compare_and_set(
        &mut self,
        _key: String,
        _expected: Option<u64>,
        _value: Option<Vec<u8>>,
    ) -> Result<u64, store::Error> {
        Err(store::Error::Other(READ_ONLY.to_owned()))
    }

    async fn delete(&mut self, _key: String) -> Result<(), store::Error> {
        Err(store::Error::Other(READ_ONLY.to_owned()))
    }

    async fn scan(
        &mut self,
        _from: String,
        _to: String,
        _limit: u32,
    ) -> Result<Vec<store::Entry>, store::Error> {
        Err(store::Error::Other(
            "the bench's store does not scan".to_owned(),
        ))
    }
}
