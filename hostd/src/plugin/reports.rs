//! The export `reports` of a plugin: documents about finished jobs and captures, at endpoints that the host makes below
//! the plugin's prefix. Who may read a job or capture may ask for a document about it, where the plugin was granted as much.

use std::sync::Arc;

use http::StatusCode;
use runtime::{CallError, Guest, GuestOptions, Invoke, Metrics, Reply, Route, State};
use wasmtime::Store;

use super::asked::Asked;
use super::bindings::imports::hostd::plugin::types::Error;
use super::bindings::reporter::exports::hostd::plugin::reports as wit;
use super::bindings::reporter::{Reporter, ReporterPre};
use super::call::PluginCall;
use super::loaded::{LoadError, Loading};
use crate::http::error::ApiError;
use kind::Kind;

mod artifact;
pub(super) mod fuzz;
pub(super) mod kind;
mod options;

runtime::exports!(Reporter, ReporterPre, "hostd:plugin/reports");

/// Name of the export, without its version.
pub(super) const REPORTS: &str = "hostd:plugin/reports";

/// Group of these endpoints in the plugin's route table; its own have the first.
pub(super) const GROUP: usize = 1;

/// Documents of one plugin that are made at once.
const AT_ONCE_MAX: u32 = 2;

/// Characters of a plugin's own words in a refusal.
const WORDS_MAX: usize = 1_000;

/// What makes documents.
#[derive(Debug)]
pub(super) struct Reports {
    guest: Arc<Guest<PluginCall, Reporter>>,
    kinds: Vec<Kind>,
}

/// Asks which documents there are.
struct Kinds;

impl Invoke<PluginCall, Reporter> for Kinds {
    type Answer = Vec<wit::KindInfo>;

    fn invoke(
        self,
        exports: &Reporter,
        store: &mut Store<State<PluginCall>>,
    ) -> impl Future<Output = wasmtime::Result<Self::Answer>> + Send {
        exports.hostd_plugin_reports().call_kinds(store)
    }
}

/// Asks for one of them.
struct Render(wit::Subject, Vec<(String, String)>);

impl Invoke<PluginCall, Reporter> for Render {
    type Answer = Result<wit::Artifact, Error>;

    async fn invoke(
        self,
        exports: &Reporter,
        store: &mut Store<State<PluginCall>>,
    ) -> wasmtime::Result<Self::Answer> {
        let reports = exports.hostd_plugin_reports();
        reports.call_render(store, &self.0, &self.1).await
    }
}

impl Reports {
    /// Start an instance and ask it for its kinds of documents; none if the component makes none. With it the endpoints,
    /// one for each kind and in the same order.
    pub(super) fn load(loading: Loading<'_>) -> Result<Option<(Self, Vec<Route>)>, LoadError> {
        if !loading.exports(REPORTS) {
            return Ok(None);
        }
        let options = loading.options();
        let mut guest = loading.guest::<Reporter>(GuestOptions {
            in_flight_max: options.in_flight_max.min(AT_ONCE_MAX),
            ..options
        })?;
        let declared = guest.start(Kinds).map_err(LoadError::Start)?;
        let kinds = kind::checked(declared)?;
        let id = &loading.manifest.id;
        let routes = kinds.iter().map(|kind| kind.route(id)).collect();
        let guest = Arc::new(guest);
        Ok(Some((Self { guest, kinds }, routes)))
    }

    /// What it has done so far.
    pub(super) fn metrics(&self) -> Metrics {
        self.guest.metrics()
    }

    /// Make the document that was asked for.
    ///
    /// # Errors
    /// There is no such job or capture for this call, it has not finished, or the plugin refuses. What fails in the plugin
    /// is the inner error.
    pub(super) async fn answer(
        &self,
        asked: &Asked,
        call: PluginCall,
    ) -> Result<Result<Reply, CallError>, ApiError> {
        let asked = &asked.request;
        let kind = usize::try_from(asked.route).ok();
        let kind = kind.and_then(|index| self.kinds.get(index));
        let (Some(kind), Some(id)) = (kind, asked.params.first()) else {
            return Err(ApiError::not_found(&asked.path));
        };
        let options = options::of(&asked.query, &kind.options)?;
        let json = kind.subject.look(&call.sight(), id).await?;
        let subject = wit::Subject {
            kind: kind.subject.word().to_owned(),
            id: id.clone(),
            json: json.to_string(),
            extra: Vec::new(),
        };
        let plugin = call.facts.id.clone();
        let most = self.guest.options().response_bytes_max;
        let accept = move |answer: Result<wit::Artifact, Error>, _: &mut PluginCall| match answer {
            Ok(artifact) => artifact::reply(artifact, most).map(Ok),
            Err(error) => Ok(Err(error)),
        };
        let render = Render(subject, options);
        let made = self.guest.call_apart(&asked.id, call, render, accept);
        match made.await {
            Ok(Ok(reply)) => Ok(Ok(reply)),
            Ok(Err(error)) => Err(refused(plugin.as_str(), &error)),
            Err(failure) => Ok(Err(failure)),
        }
    }
}

/// Why a plugin makes no document, as its caller is told.
fn refused(plugin: &str, error: &Error) -> ApiError {
    let is_plain = |letter: &char| !letter.is_control();
    let words: String = error
        .message
        .chars()
        .filter(is_plain)
        .take(WORDS_MAX)
        .collect();
    let known = match error.code.as_str() {
        "invalid" => Some((StatusCode::BAD_REQUEST, "invalid_request")),
        "not_granted" => Some((StatusCode::FORBIDDEN, "not_granted")),
        "missing_scope" => Some((StatusCode::FORBIDDEN, "missing_scope")),
        "forbidden" => Some((StatusCode::FORBIDDEN, "forbidden")),
        "not_found" => Some((StatusCode::NOT_FOUND, "not_found")),
        "wrong_state" => Some((StatusCode::CONFLICT, "wrong_state")),
        _ => None,
    };
    match known {
        Some((status, code)) => ApiError::new(status, code, words),
        None => ApiError::new(
            StatusCode::BAD_GATEWAY,
            "report_failed",
            format!("the plugin {plugin} made no report: {words}"),
        ),
    }
}
