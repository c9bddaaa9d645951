//! `hostd:host/tunnels`: byte streams to a pod, over the WebSocket that a response becomes.

use std::time::Instant;

use pods::{PodError, SessionKind};
use runtime::Upgrade;
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::bindings::hostd::host::tunnels::{Error, Host, Kind};
use super::door::Door;
use super::{CallLinker, Context, internal, wit};
use base::live::BoxedLive;
use lab::leases::Entered;
use lab::tunnel::Tunnel;
use lab::tunnel::gate::{self, Gate};
use lab::uart::Uarts;

/// What this interface gets of a call.
pub(super) struct View<'a> {
    context: &'a Context,
    table: &'a mut ResourceTable,
    door: Door<'a>,
    uarts: &'a Uarts,
}

impl HasData for View<'static> {
    type Data<'a> = View<'a>;
}

pub(super) fn link(linker: &mut CallLinker) -> wasmtime::Result<()> {
    wit::tunnels::add_to_linker::<_, View<'static>>(linker, |state| View {
        context: &state.data.context,
        table: &mut state.data.table,
        door: Door::new(&state.data.context, &state.data.services),
        uarts: &state.data.services.uarts,
    })
}

impl Host for View<'_> {
    async fn open(&mut self, device: String, kind: Kind) -> Result<Resource<Upgrade>, Error> {
        let Entered { pod, visit, .. } = self.door.enter(&device)?;
        let (asked, kind) = kinds(kind);
        self.uarts.give_way(&device).await;
        let session = pod.begin(asked).await.map_err(|error| match error {
            PodError::Offline { .. } | PodError::Ended(_) => Error::Offline,
            PodError::Busy { .. } | PodError::NoPermit { .. } => Error::InUse(error.to_string()),
            other => Error::Other(internal(self.context, "tunnels", &other)),
        })?;
        let tunnel: BoxedLive = Box::new(Tunnel {
            pod,
            session,
            visit,
            gate: Gate::new(kind, self.context.tier_max(), Instant::now()),
        });
        let pushed = self.table.push(Upgrade::new(tunnel));
        pushed.map_err(|e| Error::Other(internal(self.context, "tunnels", &e)))
    }
}

fn kinds(kind: Kind) -> (SessionKind, gate::Kind) {
    match kind {
        Kind::Uart => (SessionKind::Uart, gate::Kind::Uart),
        Kind::Capture => (SessionKind::Capture, gate::Kind::Capture),
        Kind::Dac => (SessionKind::Dac, gate::Kind::Dac),
        Kind::Flash => (SessionKind::Flash, gate::Kind::Flash),
        Kind::Any => (SessionKind::Exclusive, gate::Kind::Any),
    }
}
