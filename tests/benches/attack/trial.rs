//! One attack on one server: slices with and without the attack take turns, so that a busy machine
//! disturbs both alike. The server's memory is watched meanwhile.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use tests::judge::{Clock, Deed as Measured, Resident, Samples, Trial};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::attack::{Attack, Met, Tally};
use crate::honest::{self, Deed};
use crate::site::{Host, Site};

/// How long things take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) clock: Clock,
    rounds: u32,
    alone: Duration,
    beside: Duration,
    /// Time that an attack gets to build up before anything is measured.
    lead: Duration,
    /// Time after which a server that has grown must have given memory back.
    settle: Duration,
}

impl Plan {
    /// Enough samples to judge the slowest hundredth.
    pub(crate) const FULL: Self = Self {
        clock: Clock::Judged,
        rounds: 4,
        alone: Duration::from_secs(5),
        beside: Duration::from_secs(5),
        lead: Duration::from_secs(1),
        settle: Duration::from_secs(10),
    };

    /// Enough to see what is refused and what hangs.
    pub(crate) const SHORT: Self = Self {
        clock: Clock::Shown,
        rounds: 1,
        alone: Duration::from_millis(500),
        beside: Duration::from_secs(2),
        lead: Duration::from_secs(1),
        settle: Duration::from_secs(2),
    };
}

/// Between two looks at the server's memory.
const LOOK_PAUSE: Duration = Duration::from_millis(20);

/// Try one attack on a fresh server.
pub(crate) fn run(attack: &dyn Attack, plan: &Plan) -> Result<Trial> {
    let host = Host::start(attack.settings()).context("start a server")?;
    let own = runtime()?;
    let deeds = attack.deeds();
    let (mut alone, mut beside) = (Tables::new(deeds), Tables::new(deeds));
    let pid = host.server.pid();
    // Anything used for the first time is set up here, and does not count in any slice.
    own.block_on(honest::slice(&host.site, deeds, plan.lead));
    let mut resident = Resident {
        before: resident_mib(pid)?,
        most: attack.resident_mib_max(),
        ..Resident::default()
    };
    let mut met = Met::default();
    resident.peak = thread::scope(|scope| -> Result<u64> {
        let (ends, ended) = channel::<()>();
        let watcher = scope.spawn(move || watch(pid, &ended));
        for _ in 0..plan.rounds {
            alone.join(own.block_on(honest::slice(&host.site, deeds, plan.alone)));
            let attacker = Attacker::start(scope, attack, &host.site);
            thread::sleep(plan.lead);
            beside.join(own.block_on(honest::slice(&host.site, deeds, plan.beside)));
            met.join(attacker.stop()?);
            own.block_on(attack.calm(&host.site));
        }
        drop(ends);
        watcher.join().map_err(|_| anyhow!("the watcher panicked"))
    })?;
    if attack.swells() {
        thread::sleep(plan.settle);
    }
    resident.settled = resident_mib(pid)?;
    let measured = deeds.iter().zip(alone.0.into_iter().zip(beside.0));
    Ok(Trial {
        deeds: measured
            .map(|(deed, (alone, beside))| Measured {
                name: deed.name(),
                quick: attack.quick(*deed),
                alone,
                beside,
            })
            .collect(),
        resident,
        complaints: attack.complaints(&met),
        met: met.to_string(),
    })
}

/// Samples of each deed.
struct Tables(Vec<Samples>);

impl Tables {
    fn new(deeds: &[Deed]) -> Self {
        Self(vec![Samples::default(); deeds.len()])
    }

    fn join(&mut self, slice: Vec<Samples>) {
        for (all, more) in self.0.iter_mut().zip(slice) {
            all.join(more);
        }
    }
}

/// A running attack, on a thread of its own so that it does not slow down the callers that are
/// measured. It ends when this is dropped.
struct Attacker<'scope> {
    stop: oneshot::Sender<()>,
    thread: ScopedJoinHandle<'scope, Result<Met>>,
}

impl<'scope> Attacker<'scope> {
    fn start<'env: 'scope>(
        scope: &'scope Scope<'scope, 'env>,
        attack: &'env dyn Attack,
        site: &'env Site,
    ) -> Self {
        let (stop, stopped) = oneshot::channel();
        let thread = scope.spawn(move || {
            let tally = Tally::default();
            runtime()?.block_on(async {
                tokio::select! {
                    () = attack.run(site, &tally) => {}
                    _ = stopped => {}
                }
            });
            Ok(tally.met())
        });
        Self { stop, thread }
    }

    /// End it and return what it met.
    fn stop(self) -> Result<Met> {
        drop(self.stop);
        let met = self.thread.join();
        met.map_err(|_| anyhow!("the attacker panicked"))?
    }
}

fn runtime() -> Result<Runtime> {
    let built = Builder::new_current_thread().enable_all().build();
    built.context("start an async runtime")
}

/// The highest memory use of a process until the other side of `ended` is dropped.
fn watch(pid: u32, ended: &Receiver<()>) -> u64 {
    let mut peak = 0;
    while ended.recv_timeout(LOOK_PAUSE) == Err(RecvTimeoutError::Timeout) {
        // If the server is gone, everybody else will notice.
        peak = peak.max(resident_mib(pid).unwrap_or_default());
    }
    peak
}

fn resident_mib(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"));
    let status = status.context("look at the server's memory; it may have ended")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    let kib: u64 = kib.context("a line VmRSS of the server")?.parse()?;
    Ok(kib >> 10)
}
