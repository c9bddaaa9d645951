//! Calls into the export `decoding`.

use decode::foreign::Setup;
use runtime::{CallData, Invoke, State};
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use crate::plugin::bindings::decoder::exports::hostd::plugin::decoding as wit;
use crate::plugin::bindings::decoder::{Decoder, DecoderPre};

runtime::exports!(Decoder, DecoderPre, "hostd:plugin/decoding");

/// Asks for the list of decoders.
pub(super) struct Decoders;

impl<T: CallData> Invoke<T, Decoder> for Decoders {
    type Answer = Vec<wit::DecoderInfo>;

    fn invoke(
        self,
        exports: &Decoder,
        store: &mut Store<State<T>>,
    ) -> impl Future<Output = wasmtime::Result<Self::Answer>> + Send {
        exports.hostd_plugin_decoding().call_decoders(store)
    }
}

/// Begins a decoding.
pub(super) struct Create(wit::Setup);

impl Create {
    /// With the decoder that has this id in its plugin.
    pub(super) fn new(id: &str, setup: &Setup<'_>) -> Self {
        Self(wit::Setup {
            decoder: id.to_owned(),
            sample_rate_hz: setup.sample_rate_hz,
            connected: setup.connected.clone(),
            options: setup.options.to_vec(),
            extra: Vec::new(),
        })
    }
}

impl<T: CallData> Invoke<T, Decoder> for Create {
    type Answer = Result<ResourceAny, String>;

    async fn invoke(
        self,
        exports: &Decoder,
        store: &mut Store<State<T>>,
    ) -> wasmtime::Result<Self::Answer> {
        let decoding = exports.hostd_plugin_decoding();
        decoding.decoding().call_create(store, &self.0).await
    }
}

/// Hands over changes.
pub(super) struct Changes {
    pub(super) decoding: ResourceAny,
    pub(super) data: Vec<u32>,
}

impl<T: CallData> Invoke<T, Decoder> for Changes {
    type Answer = Vec<wit::Annotation>;

    async fn invoke(
        self,
        exports: &Decoder,
        store: &mut Store<State<T>>,
    ) -> wasmtime::Result<Self::Answer> {
        let decoding = exports.hostd_plugin_decoding().decoding();
        let called = decoding.call_changes(store, self.decoding, &self.data);
        called.await
    }
}

/// Hands over samples.
pub(super) struct Samples {
    pub(super) decoding: ResourceAny,
    pub(super) start: u64,
    pub(super) data: Vec<u8>,
}

impl<T: CallData> Invoke<T, Decoder> for Samples {
    type Answer = Vec<wit::Annotation>;

    async fn invoke(
        self,
        exports: &Decoder,
        store: &mut Store<State<T>>,
    ) -> wasmtime::Result<Self::Answer> {
        let decoding = exports.hostd_plugin_decoding().decoding();
        let called = decoding.call_samples(store, self.decoding, self.start, &self.data);
        called.await
    }
}

/// Tells that there are no more.
pub(super) struct Finish {
    pub(super) decoding: ResourceAny,
    pub(super) end: u64,
}

impl<T: CallData> Invoke<T, Decoder> for Finish {
    type Answer = Vec<wit::Annotation>;

    async fn invoke(
        self,
        exports: &Decoder,
        store: &mut Store<State<T>>,
    ) -> wasmtime::Result<Self::Answer> {
        let decoding = exports.hostd_plugin_decoding().decoding();
        decoding.call_finish(store, self.decoding, self.end).await
    }
}
