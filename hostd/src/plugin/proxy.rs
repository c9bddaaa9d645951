//! The export `wasi:http/incoming-handler` of a plugin: a component that knows nothing of this server, and answers every
//! request below the plugin's prefix that its mount lets through.
//!
//! Each request has an instance of its own, since such components are written for that. The response is sent while the
//! plugin writes it; what was sent when it fails is cut off, so that nobody takes it for all.

use std::sync::Arc;
use std::time::Instant;

use http::StatusCode;
use plugins::id::PluginId;
use runtime::{
    BodyStream, CallError, Exports, Guest, GuestOptions, Invoke, Metrics, Mode, Reply, ReplyBody,
    Route, State,
};
use tokio::sync::oneshot;
use virtual_wasi::http::{
    ErrorCode, Headers, IncomingHandler, IncomingHandlerPre, Reader, Request, Response,
};
use wasmtime::Store;
use wasmtime::component::InstancePre;

use super::asked::{self, Asked};
use super::bindings::handler::exports::hostd::plugin::http as wit;
use super::call::PluginCall;
use super::loaded::{LoadError, Loading};
use super::logs::Level;
use crate::http::error::ApiError;

pub(super) mod errand;
pub(super) mod mount;
mod reading;

/// Name of the export, without its version.
pub(super) const INCOMING: &str = "wasi:http/incoming-handler";

/// Group of its routes in the plugin's route table, behind the plugin's own and those of reports.
pub(super) const GROUP: usize = 2;

/// Request headers that say for whom a request is made. A client's own are dropped, and what a plugin may take for one.
const CALLER_PREFIX: &str = "x-hostd-";

/// The part of the path that the plugin does not see, for links to itself.
const PREFIX: &str = "x-forwarded-prefix";

/// Request headers that the server says anew.
const REPLACED: [&str; 3] = [PREFIX, "content-length", "x-request-id"];

/// What answers requests.
#[derive(Debug)]
pub(super) struct Proxy(Arc<Guest<PluginCall, Incoming>>);

/// Who waits for the beginning of a response, or for why there is none.
pub(super) type Waiting = oneshot::Sender<Result<Reply, ErrorCode>>;

/// The export of one instance.
struct Incoming(IncomingHandler);

impl Exports<PluginCall> for Incoming {
    type Pre = IncomingHandlerPre<State<PluginCall>>;

    const WORLD: &'static str = "wasi:http/incoming-handler of version 0.2";

    fn find(linked: InstancePre<State<PluginCall>>) -> wasmtime::Result<Self::Pre> {
        IncomingHandlerPre::new(linked)
    }

    async fn instantiate(
        pre: &Self::Pre,
        store: &mut Store<State<PluginCall>>,
    ) -> wasmtime::Result<Self> {
        pre.instantiate_async(store).await.map(Self)
    }
}

/// Starts an instance, and no more.
struct Start;

impl Invoke<PluginCall, Incoming> for Start {
    type Answer = ();

    async fn invoke(self, _: &Incoming, _: &mut Store<State<PluginCall>>) -> wasmtime::Result<()> {
        Ok(())
    }
}

/// Has a request answered, to the end of the response.
struct Handle {
    asked: wit::Request,
    plugin: PluginId,
}

impl Invoke<PluginCall, Incoming> for Handle {
    type Answer = ();

    fn invoke(
        self,
        exports: &Incoming,
        store: &mut Store<State<PluginCall>>,
    ) -> impl Future<Output = wasmtime::Result<()>> + Send {
        // Only now that the call has its place is it known until when.
        let read_by = store.data().data.context.answer_by;
        let request = request(self.asked, &self.plugin, read_by);
        exports.0.call(store, |state| &mut state.data, request)
    }
}

impl Proxy {
    /// Start an instance, to see that it starts; none if the component has no such export. With it its routes.
    pub(super) fn load(loading: Loading<'_>) -> Result<Option<(Self, Vec<Route>)>, LoadError> {
        let manifest = loading.manifest;
        if !loading.exports(INCOMING) {
            return match manifest.mount {
                Some(_) => Err(LoadError::NoProxy),
                None => Ok(None),
            };
        }
        let mut guest = loading.guest::<Incoming>(GuestOptions {
            mode: Mode::Fresh,
            ..loading.options()
        })?;
        guest.start(Start).map_err(LoadError::Start)?;
        let mount = manifest.mount.clone().unwrap_or_default();
        let routes = mount::routes(&manifest.id, &mount)?;
        Ok(Some((Self(guest.into()), routes)))
    }

    /// What it has done so far.
    pub(super) fn metrics(&self) -> Metrics {
        self.0.metrics()
    }

    /// Answer one request: returns when the response begins. The call then goes on by itself, until it ends or its time does,
    /// or nobody reads the response any more. Before that, dropping the future ends it.
    ///
    /// # Errors
    /// The plugin says that it has no response. What fails in it is the inner error.
    pub(super) async fn answer(
        &self,
        asked: Asked,
        mut call: PluginCall,
    ) -> Result<Result<Reply, CallError>, ApiError> {
        let (tell, mut told) = oneshot::channel();
        call.asked = Some(tell);
        let (guest, id) = (self.0.clone(), asked.request.id.clone());
        let (facts, method) = (call.facts.clone(), asked.request.method.clone());
        let (plugin, request_id) = (facts.id.clone(), id.clone());
        let revoked = call.rights.revoked();
        let handle = Handle {
            asked: asked.request,
            plugin: plugin.clone(),
        };
        let mut run = Box::pin(async move {
            let accept = |(), _: &mut PluginCall| Ok(());
            guest.call_apart(&id, call, handle, accept).await
        });
        let begun = tokio::select! {
            biased;
            begun = &mut told => begun.ok(),
            ended = &mut run => match (told.try_recv(), ended) {
                (Ok(begun), _) => return answered(begun, &plugin).map(Ok),
                (Err(_), Err(failure)) => return Ok(Err(failure)),
                // The runtime says that it returned without a response.
                (Err(_), Ok(())) => return Err(ApiError::internal()),
            },
        };
        match begun {
            Some(begun) => {
                let (reply, taken) = match answered(begun, &plugin) {
                    Ok(reply) => {
                        let (reply, taken) = reading::watched(reply, &method);
                        (Ok(Ok(reply)), taken)
                    }
                    Err(refused) => (Err(refused), None),
                };
                tokio::spawn(async move {
                    // Whoever reads the response is told by its end what becomes of it; the runtime logs what fails.
                    let why = tokio::select! {
                        biased;
                        () = revoked => Some("ended: what it was granted was taken back"),
                        ended = reading::while_read(run, taken) => match ended {
                            None => Some("ended: nobody reads its answer any more"),
                            Some(_) => None,
                        },
                    };
                    if let Some(why) = why {
                        facts.logs.write(Level::Info, &request_id, why);
                    }
                });
                reply
            }
            None => match run.await {
                Err(failure) => Ok(Err(failure)),
                Ok(()) => Err(ApiError::internal()),
            },
        }
    }
}

/// The plugin answers: tell who waits for it, if anybody still does.
///
/// # Errors
/// What it answers cannot be sent.
pub(super) fn told(waiting: Waiting, answer: Result<Response, ErrorCode>) -> wasmtime::Result<()> {
    let reply = match answer {
        Ok(response) => Ok(reply(response)?),
        Err(code) => Err(code),
    };
    // Who asked may be gone.
    let _ = waiting.send(reply);
    Ok(())
}

fn answered(begun: Result<Reply, ErrorCode>, plugin: &PluginId) -> Result<Reply, ApiError> {
    begun.map_err(|code| {
        ApiError::new(
            StatusCode::BAD_GATEWAY,
            "plugin_failed",
            format!("the plugin {plugin} has no response: {code:?}"),
        )
    })
}

/// A response, without what is not a plugin's to say.
fn reply(response: Response) -> wasmtime::Result<Reply> {
    let body = response
        .body
        .map_or(ReplyBody::Empty, |reader| ReplyBody::Stream(stream(reader)));
    Ok(Reply::new(response.status, own(response.headers), body)?)
}

/// The headers that a plugin may say.
fn own(headers: Headers) -> Vec<(String, String)> {
    let own = headers
        .into_iter()
        .filter(|(name, _)| !asked::is_host_owned(name));
    // Nothing but text comes here, see `virtual_wasi`.
    own.filter_map(|(name, value)| Some((name, String::from_utf8(value).ok()?)))
        .collect()
}

fn stream(reader: Reader) -> BodyStream {
    let trailers = reader.trailers;
    let behind = async move { trailers.await.ok().map(own) };
    BodyStream::new(None, reader.parts).ending(reader.length, behind)
}

/// The request as the plugin sees it: with a path that begins below its prefix, and with who asks.
fn request(asked: wit::Request, plugin: &PluginId, read_by: Instant) -> Request {
    let given = |wanted: &str| asked.headers.iter().find(|(name, _)| name == wanted);
    let authority = given("host").map_or_else(|| "localhost".to_owned(), |(_, host)| host.clone());
    let is_passed_on = |name: &str| {
        let name = asked::plain(name);
        !virtual_wasi::http::is_forbidden(&name)
            && !REPLACED.contains(&name.as_str())
            && !name.starts_with(CALLER_PREFIX)
    };
    let passed_on = asked.headers.iter().filter(|(name, _)| is_passed_on(name));
    let mut headers: Headers = passed_on
        .map(|(name, value)| (name.clone(), value.clone().into_bytes()))
        .collect();
    let mut say = |name: &str, value: String| headers.push((name.to_owned(), value.into_bytes()));
    say("x-request-id", asked.id);
    say(PREFIX, format!("{}{plugin}", asked::PREFIX));
    if !asked.body.is_empty() {
        say("content-length", asked.body.len().to_string());
    }
    if let Some(caller) = asked.caller {
        say("x-hostd-org", caller.org);
        say("x-hostd-user", caller.user);
        say("x-hostd-role", caller.role);
        say("x-hostd-credential", caller.credential);
        say("x-hostd-scopes", caller.scopes.join(" "));
        if let Some(devices) = caller.devices {
            say("x-hostd-devices", devices.join(" "));
        }
    }
    let query = match asked.query.is_empty() {
        true => String::new(),
        false => format!("?{}", asked.query),
    };
    Request {
        method: asked.method,
        path_with_query: asked.path + &query,
        authority,
        headers,
        body: asked.body.into(),
        read_by,
    }
}

#[cfg(test)]
mod tests;
