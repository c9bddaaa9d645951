//! Calls into a plugin's exports.

use runtime::{Invoke, State};
use wasmtime::Store;

use super::bindings::handler::exports::hostd::plugin::http as wit;
use super::bindings::handler::{Handler, HandlerPre};
use super::call::PluginCall;

runtime::exports!(Handler, HandlerPre, "hostd:plugin/http");

/// Name of the export with endpoints, without its version.
pub(super) const HTTP: &str = "hostd:plugin/http";

/// Asks for the list of endpoints.
pub(super) struct Routes;

impl Invoke<PluginCall, Handler> for Routes {
    type Answer = Vec<wit::Route>;

    fn invoke(
        self,
        exports: &Handler,
        store: &mut Store<State<PluginCall>>,
    ) -> impl Future<Output = wasmtime::Result<Self::Answer>> + Send {
        exports.hostd_plugin_http().call_routes(store)
    }
}

/// Answers one request.
pub(super) struct Handle(pub(super) wit::Request);

impl Invoke<PluginCall, Handler> for Handle {
    type Answer = wit::Response;

    async fn invoke(
        self,
        exports: &Handler,
        store: &mut Store<State<PluginCall>>,
    ) -> wasmtime::Result<Self::Answer> {
        let http = exports.hostd_plugin_http();
        http.call_handle(store, &self.0).await
    }
}
