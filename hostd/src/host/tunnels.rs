//! `bench:host/tunnels`: byte streams to a pod, over the WebSocket that a response becomes.

use std::time::Instant;

use pods::{PodError, SessionKind};
use runtime::{CallData, Upgrade};
use wasmtime::component::Resource;

use super::bindings::bench::host::tunnels::{Error, Host, Kind};
use super::{Call, internal};
use base::live::BoxedLive;
use lab::leases::Entered;
use lab::tunnel::Tunnel;
use lab::tunnel::gate::{self, Gate};

impl Host for Call {
    async fn open(&mut self, device: String, kind: Kind) -> Result<Resource<Upgrade>, Error> {
        let Entered { pod, visit, .. } = self.enter(&device)?;
        let (asked, kind) = kinds(kind);
        self.services.uarts.give_way(&device).await;
        let session = pod.begin(asked).await.map_err(|error| match error {
            PodError::Offline { .. } | PodError::Ended(_) => Error::Offline,
            PodError::Busy { .. } | PodError::NoPlace { .. } => Error::InUse(error.to_string()),
            other => Error::Other(internal(self, "tunnels", &other)),
        })?;
        let tunnel: BoxedLive = Box::new(Tunnel {
            pod,
            session,
            visit,
            gate: Gate::new(kind, self.tier_max(), Instant::now()),
        });
        let pushed = self.table().push(Upgrade::new(tunnel));
        pushed.map_err(|e| Error::Other(internal(self, "tunnels", &e)))
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
