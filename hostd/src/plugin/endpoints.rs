//! The export `http` of a plugin: endpoints below its prefix.

use std::sync::Arc;

use runtime::{CallError, Guest, Metrics, Reply, ReplyBody};

use super::asked::{self, Asked};
use super::bindings::handler::Handler;
use super::bindings::handler::exports::hostd::plugin::http as wit;
use super::call::PluginCall;
use super::guest::{HTTP, Handle, Routes};
use super::loaded::{LoadError, Loading};

/// What answers requests.
#[derive(Debug)]
pub(super) struct Endpoints(Arc<Guest<PluginCall, Handler>>);

impl Endpoints {
    /// Start an instance and ask it for its routes; none if the component has no endpoints.
    pub(super) fn load(loading: Loading<'_>) -> Result<Option<(Self, Vec<wit::Route>)>, LoadError> {
        if !loading.exports(HTTP) {
            return Ok(None);
        }
        let mut guest = loading.guest::<Handler>(loading.options())?;
        let declared = guest.start(Routes).map_err(LoadError::Start)?;
        Ok(Some((Self(Arc::new(guest)), declared)))
    }

    /// What it has done so far.
    pub(super) fn metrics(&self) -> Metrics {
        self.0.metrics()
    }

    /// Answer one request.
    pub(super) async fn answer(&self, asked: Asked, call: PluginCall) -> Result<Reply, CallError> {
        let most = self.0.options().response_bytes_max;
        let accept = move |answer: wit::Response, _: &mut PluginCall| {
            let bytes = answer.body.len();
            if bytes > most {
                let bytes_max = most;
                return Err(CallError::ResponseTooLarge { bytes, bytes_max });
            }
            let (status, headers, body) = asked::answered(answer);
            let body = if body.is_empty() {
                ReplyBody::Empty
            } else {
                ReplyBody::Bytes(body.into())
            };
            Reply::new(status, headers, body)
        };
        let request = asked.request;
        let id = request.id.clone();
        self.0.call_apart(&id, call, Handle(request), accept).await
    }
}
