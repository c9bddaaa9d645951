//! `hostd:host/events`: what happens in the caller's organisation, as it happens.

use std::sync::Arc;
use std::time::Duration;

use admission::{Crowded, Requester};
use runtime::BodyStream;
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::events::{Error, Host};
use super::{CallLinker, Context, internal, wit};
use crate::events::Asked;
use crate::services::Services;
use identity::scope::Scope;

/// The media type of server-sent events.
const TYPE: &str = "text/event-stream";

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    requester: Option<&'a Requester>,
    services: &'a Arc<Services>,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::events::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        requester: state.data.requester.as_ref(),
        services: &state.data.services,
    })
}

impl Host for View<'_> {
    async fn follow(
        &mut self,
        after: Option<String>,
        seconds: Option<u32>,
    ) -> Result<Resource<BodyStream>, Error> {
        let (Some(caller), Some(requester)) = (&self.context.caller, self.requester) else {
            return Err(Error::Other("there is no caller".to_owned()));
        };
        let asked = Asked {
            after,
            lasts: seconds.map(|seconds| Duration::from_secs(seconds.into())),
        };
        let (services, verified) = (self.services.clone(), caller.clone());
        let over = Box::pin(async move {
            let over = |scope: Scope| services.auth.over(&verified, Some(scope.as_str()));
            let error = tokio::select! {
                error = over(Scope::BenchControl) => error,
                error = over(Scope::JobsSubmit) => error,
            };
            error.code()
        });
        let opened = self.services.events.stream(caller, requester, asked, over);
        let parts = opened.map_err(|crowded| Error::Crowded(full(crowded).to_owned()))?;
        let stream = BodyStream::new(Some(TYPE.to_owned()), parts);
        let pushed = self.table.push(stream);
        pushed.map_err(|error| Error::Other(internal(self.context, "events", &error)))
    }
}

/// What to say when there is no place.
fn full(crowded: Crowded) -> &'static str {
    match crowded {
        Crowded::All => {
            "the server has as many streams of events as it may (http.event_streams_max); retry later"
        }
        Crowded::Org => {
            "this organisation has its share of the server's streams of events (http.event_streams_max); close some of them first"
        }
        Crowded::User => {
            "this user has its share of the server's streams of events (http.event_streams_max); close some of them first"
        }
    }
}
