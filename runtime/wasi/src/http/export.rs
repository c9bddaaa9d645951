//! The export `wasi:http/incoming-handler` of a component.

use std::fmt;

use wasmtime::component::{ComponentExportIndex, InstancePre, Resource, TypedFunc};
use wasmtime::{Store, bail, format_err};

use super::incoming::IncomingRequest;
use super::response::ResponseOutparam;
use super::{Audience, Http, Request};
use crate::WasiData;

/// As version 0.2.0 has it; that of any later 0.2.x is found as well.
const HANDLER: &str = "wasi:http/incoming-handler@0.2.0";

/// A component that answers requests, with its imports linked.
pub struct IncomingHandlerPre<T: 'static> {
    linked: InstancePre<T>,
    handle: ComponentExportIndex,
}

/// The export of one instance.
pub struct IncomingHandler(TypedFunc<(Resource<IncomingRequest>, Resource<ResponseOutparam>), ()>);

impl fmt::Debug for IncomingHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IncomingHandler").finish_non_exhaustive()
    }
}

impl<T: Send + 'static> IncomingHandlerPre<T> {
    /// Find the export.
    ///
    /// # Errors
    /// There is none of version 0.2.
    pub fn new(linked: InstancePre<T>) -> wasmtime::Result<Self> {
        let component = linked.component();
        let interface = component.get_export_index(None, HANDLER);
        let handle = interface.and_then(|at| component.get_export_index(Some(&at), "handle"));
        let handle = handle.ok_or_else(|| format_err!("find {HANDLER}, or a later 0.2"))?;
        Ok(Self { linked, handle })
    }

    /// Make an instance.
    ///
    /// # Errors
    /// It does not start, or its export has another type.
    pub async fn instantiate_async(
        &self,
        store: &mut Store<T>,
    ) -> wasmtime::Result<IncomingHandler> {
        let instance = self.linked.instantiate_async(&mut *store).await?;
        let handle = instance.get_typed_func(&mut *store, self.handle)?;
        Ok(IncomingHandler(handle))
    }
}

impl IncomingHandler {
    /// Have a request answered, which [`WasiData::answer`] hears of while this still runs. `data` finds the data of the
    /// call in a store's.
    ///
    /// # Errors
    /// The guest failed, or returned without an answer.
    pub async fn call<T: Send + 'static, W: WasiData>(
        &self,
        store: &mut Store<T>,
        data: fn(&mut T) -> &mut W,
        request: Request,
    ) -> wasmtime::Result<()> {
        let http = &mut data(store.data_mut()).wasi().http;
        *http = Http::default();
        http.audience = Audience {
            is_none: request.method == "HEAD",
            read_by: Some(request.read_by),
        };
        let request = http.push(IncomingRequest::from(request))?;
        let answer = http.push(ResponseOutparam)?;
        self.0.call_async(&mut *store, (request, answer)).await?;
        if !data(store.data_mut()).wasi().http.is_answered {
            bail!("answer the request: the guest returned without a response");
        }
        Ok(())
    }
}
