//! A bench: its parts, and connections to it inside this process.

use std::io;
use std::sync::{Arc, OnceLock};

use acquire::Instrument;
use pod_protocol::connection::{Arriving, BoxedStream, Connecting, Transport};
use tokio::io::duplex;
use tokio::task::JoinHandle;
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
const PIPE_BYTES: usize = 64 * 1024;

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

#[derive(Debug)]
struct Running {
    parts: Arc<Parts>,
    keepers: Vec<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        for keeper in &self.keepers {
            keeper.abort();
        }
    }
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
        let mut keepers = Vec::new();
        keepers.extend(
            probe
                .clone()
                .map(|probe| tokio::spawn(async move { probe.keep().await })),
        );
        keepers.extend(
            uart.clone()
                .map(|uart| tokio::spawn(async move { uart.keep().await })),
        );
        keepers.extend(
            power
                .clone()
                .map(|power| tokio::spawn(async move { power.keep().await })),
        );
        let sampler = |part, instrument: &Option<Arc<dyn Instrument>>| {
            let instrument = instrument.clone()?;
            Some(Arc::new(Sampler::new(part, instrument, presences.clone())))
        };
        let logic = sampler(Part::Logic, &plan.instruments.logic);
        let analog = sampler(Part::Analog, &plan.instruments.analog);
        for sampler in [&logic, &analog].into_iter().flatten() {
            let sampler = sampler.clone();
            keepers.push(tokio::spawn(async move { sampler.keep().await }));
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
        Self { parts, keepers }
    }

    async fn connect(&self) -> io::Result<BoxedStream> {
        let presences = &self.parts.presences;
        // Afterwards, what was not tried counts as away.
        let _ = timeout(FIRST_TRY_MAX, presences.tried()).await;
        let missing = presences.missing();
        if missing.len() == presences.all().len() {
            let reasons = missing
                .iter()
                .map(|away| format!("{}: {}", away.part, away.reason));
            let reasons: Vec<String> = reasons.collect();
            let all = format!("none of its parts is there: {}", reasons.join("; "));
            return Err(io::Error::new(io::ErrorKind::NotConnected, all));
        }
        let (near, far) = duplex(PIPE_BYTES);
        let parts = self.parts.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = session::run(&parts, far) => {}
                () = parts.presences.none() => {}
            }
        });
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
