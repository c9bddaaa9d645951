//! The export `events` of a plugin: what it is told of, and clocks that strike for it.
//!
//! ```text
//! devices, captures, … ─ news ─┐
//! job's transaction ─ stored ──┴─> queue of plugin and organisation ─ one at a time ─> on-event
//! the clock, each minute ─ granted, and not at work ─────────────────────────────────> on-timer
//! ```

use std::sync::Arc;

use runtime::{CallError, Guest, GuestOptions, Invoke, Metrics, State};
use wasmtime::Store;

use super::bindings::imports::hostd::plugin::types::Error;
use super::bindings::subscriber::exports::hostd::plugin::events as wit;
use super::bindings::subscriber::{Subscriber as Exports, SubscriberPre};
use super::call::PluginCall;
use super::loaded::{LoadError, Loading};

mod itself;
pub(super) mod outlet;
mod queue;
mod telling;
mod timers;

pub use outlet::Heard;

runtime::exports!(Exports, SubscriberPre, "hostd:plugin/events");

/// Name of the export, without its version.
pub(super) const EVENTS: &str = "hostd:plugin/events";

/// Places of a plugin for this alone: one for an event, one for a timer. However long its calls take, they take no place
/// of its endpoints, nor of anybody else.
const PLACES: u32 = 2;

/// What a plugin answers.
type Answer = Result<(), Error>;

/// What is told of events and timers.
#[derive(Debug)]
pub(super) struct Subscriber(Arc<Guest<PluginCall, Exports>>);

impl Subscriber {
    /// None if the component does not listen.
    pub(super) fn load(loading: Loading<'_>) -> Result<Option<Self>, LoadError> {
        if !loading.exports(EVENTS) {
            return Ok(None);
        }
        let options = GuestOptions {
            in_flight_max: PLACES,
            queued_max: PLACES,
            ..loading.options()
        };
        Ok(Some(Self(Arc::new(loading.guest::<Exports>(options)?))))
    }

    /// What it has done so far.
    pub(super) fn metrics(&self) -> Metrics {
        self.0.metrics()
    }

    /// Tell of an event.
    pub(super) async fn hear(
        &self,
        event: wit::Event,
        call: PluginCall,
    ) -> Result<Answer, CallError> {
        let accept = |answer: Answer, call: &mut PluginCall| Ok(blot(answer, call));
        let id = event.id.clone();
        self.0.call_apart(&id, call, OnEvent(event), accept).await
    }

    /// A timer is due; `id` names the call in logs.
    pub(super) async fn strike(
        &self,
        id: &str,
        (timer, org): (&str, &str),
        call: PluginCall,
    ) -> Result<Answer, CallError> {
        let accept = |answer: Answer, call: &mut PluginCall| Ok(blot(answer, call));
        let struck = OnTimer {
            timer: timer.to_owned(),
            org: org.to_owned(),
        };
        self.0.call_apart(id, call, struck, accept).await
    }
}

/// Takes secrets that were read out of an answer: what is wrong goes to the log.
fn blot(mut answer: Answer, call: &PluginCall) -> Answer {
    if let (Err(error), Some(secrets)) = (&mut answer, &call.secrets) {
        secrets.redact(&mut error.message);
        secrets.redact(&mut error.code);
    }
    answer
}

struct OnEvent(wit::Event);

impl Invoke<PluginCall, Exports> for OnEvent {
    type Answer = Answer;

    async fn invoke(
        self,
        exports: &Exports,
        store: &mut Store<State<PluginCall>>,
    ) -> wasmtime::Result<Self::Answer> {
        let events = exports.hostd_plugin_events();
        events.call_on_event(store, &self.0).await
    }
}

struct OnTimer {
    timer: String,
    org: String,
}

impl Invoke<PluginCall, Exports> for OnTimer {
    type Answer = Answer;

    async fn invoke(
        self,
        exports: &Exports,
        store: &mut Store<State<PluginCall>>,
    ) -> wasmtime::Result<Self::Answer> {
        let events = exports.hostd_plugin_events();
        events.call_on_timer(store, &self.timer, &self.org).await
    }
}
