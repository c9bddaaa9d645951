//! A bench: its parts, and connections to it inside this process.

use std::io;
use std::sync::{Arc, OnceLock};

use acquire::Instrument;
use pod_protocol::connection::{Arriving, BoxedStream, Connecting, Transport};
use pod_protocol::no_parts;
use tokio::io::{DuplexStream, duplex};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant, timeout};

use crate::driver::{Plan, SCHEME};
use crate::power::Power;
use crate::presence::{Part, Presences};
use crate::probe::Probe;
use crate::sampling::Sampler;
use crate::session;
use crate::uart::Uart;

/// Connections served at once: a command connection, and one for each session that others may have.
const CONNECTIONS_MAX: usize = 8;

/// Bytes that a connection buffers in each direction.
pub(crate) const PIPE_BYTES: usize = 64 * 1024;

/// Wait for every part to be tried before the first connection, so that the first status tells what there is.
const FIRST_TRY_MAX: Duration = Duration::from_secs(4);

/// What all connections of a bench share.
#[derive(Debug)]
pub(crate) struct Parts {
    /// What it is called, from which its key and serial number follow.
    pub(crate) name: String,
    pub(crate) presences: Arc<Presences>,
    pub(crate) uart: Option<Arc<Uart>>,
    pub(crate) power: Option<Arc<Power>>,
    pub(crate) probe: Option<Arc<Probe>>,
    pub(crate) logic: Option<Arc<Sampler>>,
    pub(crate) analog: Option<Arc<Sampler>>,
    pub(crate) since: Instant,
}

/// A device made of parts, as a transport to the pod that it stands for. Its parts are opened with the first
/// connection and let go with the bench.
#[derive(Debug)]
pub struct Bench {
    plan: Plan,
    running: OnceLock<Running>,
}

/// The parts in use. They are let go when it is dropped.
#[derive(Debug)]
struct Running {
    parts: Arc<Parts>,
    /// Takes new connections.
    connections: mpsc::Sender<DuplexStream>,
}

/// Serves connections until nobody can open one any more. Then sessions end first, so that none of them has a part that
/// nobody keeps.
async fn serve(
    parts: Arc<Parts>,
    mut keepers: JoinSet<()>,
    mut connections: mpsc::Receiver<DuplexStream>,
) {
    let mut sessions = JoinSet::new();
    loop {
        tokio::select! {
            connection = connections.recv() => {
                let Some(connection) = connection else { break };
                let parts = parts.clone();
                sessions.spawn(async move {
                    tokio::select! {
                        () = session::run(&parts, connection) => {}
                        () = parts.presences.none() => {}
                    }
                });
            }
            Some(_ended) = sessions.join_next() => {}
        }
    }
    sessions.shutdown().await;
    keepers.shutdown().await;
}

impl Bench {
    pub(crate) fn new(plan: Plan) -> Self {
        Self {
            plan,
            running: OnceLock::new(),
        }
    }

    fn running(&self) -> &Running {
        self.running.get_or_init(|| Running::start(&self.plan))
    }
}

impl Running {
    fn start(plan: &Plan) -> Self {
        let of = [
            (Part::Probe, plan.probe.is_some()),
            (Part::Uart, plan.uart.is_some()),
            (Part::Power, plan.power.is_some()),
            (Part::Logic, plan.instruments.logic.is_some()),
            (Part::Analog, plan.instruments.analog.is_some()),
        ];
        let of = of
            .into_iter()
            .filter_map(|(part, is_there)| is_there.then_some(part));
        let presences = Arc::new(Presences::new(of));
        let probe = plan
            .probe
            .clone()
            .map(|plan| Arc::new(Probe::new(plan, presences.clone())));
        let uart = plan
            .uart
            .clone()
            .map(|plan| Arc::new(Uart::new(plan, presences.clone())));
        let power = plan
            .power
            .clone()
            .map(|plan| Arc::new(Power::new(plan, presences.clone())));
        let mut keepers = JoinSet::new();
        if let Some(probe) = probe.clone() {
            keepers.spawn(async move { probe.keep().await });
        }
        if let Some(uart) = uart.clone() {
            keepers.spawn(async move { uart.keep().await });
        }
        if let Some(power) = power.clone() {
            keepers.spawn(async move { power.keep().await });
        }
        let sampler = |part, instrument: &Option<Arc<dyn Instrument>>| {
            let instrument = instrument.clone()?;
            Some(Arc::new(Sampler::new(part, instrument, presences.clone())))
        };
        let logic = sampler(Part::Logic, &plan.instruments.logic);
        let analog = sampler(Part::Analog, &plan.instruments.analog);
        for sampler in [&logic, &analog].into_iter().flatten() {
            let sampler = sampler.clone();
            keepers.spawn(async move { sampler.keep().await });
        }
        let parts = Arc::new(Parts {
            name: plan.name.clone(),
            presences,
            uart,
            power,
            probe,
            logic,
            analog,
            since: Instant::now(),
        });
        let (connections, opened) = mpsc::channel(CONNECTIONS_MAX);
        tokio::spawn(serve(parts.clone(), keepers, opened));
        Self { parts, connections }
    }

    async fn connect(&self) -> io::Result<BoxedStream> {
        let presences = &self.parts.presences;
        // Afterwards, what was not tried counts as away.
        let _ = timeout(FIRST_TRY_MAX, presences.tried()).await;
        let missing = presences.missing();
        if missing.len() == presences.all().len() {
            let all = no_parts(&missing);
            return Err(io::Error::new(io::ErrorKind::NotConnected, all));
        }
        let (near, far) = duplex(PIPE_BYTES);
        let served = self.connections.send(far).await;
        served.map_err(|_| io::ErrorKind::NotConnected)?;
        Ok(Box::new(near))
    }
}

impl Transport for Bench {
    fn kind(&self) -> &'static str {
        SCHEME
    }

    fn connections_max(&self) -> usize {
        CONNECTIONS_MAX
    }

    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move { self.running().connect().await })
    }

    fn arrival(&self) -> Arriving<'_> {
        Box::pin(async move { self.running().parts.presences.any().await })
    }

    fn changed(&self) -> Arriving<'_> {
        Box::pin(async move { self.running().parts.presences.changed().await })
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use tokio::io::{AsyncRead, ReadBuf};
    use tokio::sync::oneshot;

    use super::*;

    /// What keeps a part: when it is let go, it looks whether the session at the other end of its connection has ended.
    struct Kept {
        near: DuplexStream,
        told: Option<oneshot::Sender<bool>>,
    }

    impl Drop for Kept {
        fn drop(&mut self) {
            let mut context = Context::from_waker(Waker::noop());
            let mut byte = [0];
            let mut buffer = ReadBuf::new(&mut byte);
            let read = Pin::new(&mut self.near).poll_read(&mut context, &mut buffer);
            let has_ended = matches!(read, Poll::Ready(Ok(()))) && buffer.filled().is_empty();
            let told = self.told.take().map(|told| told.send(has_ended));
            assert_eq!(told, Some(Ok(())));
        }
    }

    #[tokio::test]
    async fn sessions_end_before_their_parts_are_let_go() {
        let parts = Arc::new(Parts {
            name: "b".to_owned(),
            presences: Arc::new(Presences::new([Part::Uart].into_iter())),
            uart: None,
            power: None,
            probe: None,
            logic: None,
            analog: None,
            since: Instant::now(),
        });
        parts.presences.there(Part::Uart);
        let (near, far) = duplex(PIPE_BYTES);
        let (send, told) = oneshot::channel();
        let kept = Kept {
            near,
            told: Some(send),
        };
        let mut keepers = JoinSet::new();
        keepers.spawn(async move {
            let _kept = kept;
            std::future::pending().await
        });
        let (connections, opened) = mpsc::channel(1);
        let serving = tokio::spawn(serve(parts, keepers, opened));
        connections.send(far).await.unwrap();
        // The session has begun, and the keeper keeps.
        tokio::task::yield_now().await;
        drop(connections);
        serving.await.unwrap();
        assert_eq!(told.await, Ok(true));
    }
}
