//! A lab with one simulated device, and a short way to carry a run out on it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::clock::Clock;
use base::config::{CapturesConfig, LeasesConfig, WaveformsConfig};
use base::space::Space;
use jobs::{Cancel, Live, Options, RunEnd, Runner, Task};
use lab::blobs::Blobs;
use lab::captures::Captures;
use lab::captures::order::{OfJob, Origin};
use lab::devices::{Device, Devices};
use lab::flashing::Flashing;
use lab::leases::{Ask, Caller, Claim, Leases, Shown};
use lab::uart::Uarts;
use lab::waveforms::Waveforms;
use pipeline::plan::{Artifact, Plan};
use pod_sim::{SimConfig, SimPod, TargetConfig};
use rig::{Hold, Lab, Rig, Wiring};
use serde_json::{Value, json};
use store::Store;
use store::captures::CaptureRecord;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const ORG: &str = "01ARYZ6S410000000000000000";
const JOB: &str = "01ARYZ6S41000000000000000J";
const RUN: &str = "smoke";
const OWNER: &str = "org/jobs";
const LEASE: &str = "job-1";

/// Ends a test that hangs.
const WAIT: Duration = Duration::from_secs(60);

pub(crate) struct Bench {
    pub(crate) pod: Arc<SimPod>,
    pub(crate) lab: Lab,
    pub(crate) folder: TempDir,
    devices: Arc<Devices>,
    runtime: Option<Runtime>,
}

/// What came of a run.
pub(crate) struct Ran {
    pub(crate) end: RunEnd,
}

impl Ran {
    pub(crate) fn words(&self) -> Vec<&str> {
        let steps = self.end.steps.iter();
        steps.map(|step| step.outcome.word()).collect()
    }
}

impl Bench {
    /// A pod with a blank target.
    pub(crate) fn new() -> Self {
        Self::with(SimConfig {
            target: Some(TargetConfig::blank()),
            ..SimConfig::default()
        })
    }

    pub(crate) fn with(config: SimConfig) -> Self {
        let folder = tempfile::Builder::new().prefix("rig-").tempdir().unwrap();
        let runtime = Runtime::new().unwrap();
        let pod = SimPod::new(config);
        let (devices, lab) = runtime.block_on(lab(&folder, runtime.handle().clone(), pod.clone()));
        let bench = Self {
            pod,
            lab,
            folder,
            devices,
            runtime: Some(runtime),
        };
        bench.take();
        bench
    }

    pub(crate) fn device(&self) -> Device {
        self.devices.list(ORG).remove(0)
    }

    fn take(&self) {
        let claim = Claim {
            lease_id: LEASE.to_owned(),
            owner: OWNER.to_owned(),
            holder: "job 1".to_owned(),
            device_name: "bench-1".to_owned(),
            ttl_ms: 600_000,
        };
        let device = self.device().record.id;
        let taken = self.lab.leases.acquire(&device, claim, Ask::ONCE);
        self.block_on(taken).unwrap();
    }

    /// Ends the lease of the run.
    pub(crate) fn take_away(&self) {
        let shown = Shown {
            lease_id: Some(LEASE),
            owner: OWNER,
        };
        let device = self.device().record.id;
        self.block_on(self.lab.leases.release(&device, shown))
            .unwrap();
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.as_ref().unwrap().block_on(work)
    }

    /// Asks the pod for something, beside the run.
    pub(crate) fn command(&self, command: &Value) -> Value {
        let device = self.device().record.id;
        let caller = Caller {
            org: ORG,
            may_use: &|_| true,
            shown: Shown {
                lease_id: None,
                owner: "",
            },
        };
        let beside = self.lab.leases.look(&caller, &device).unwrap();
        let command = command.as_object().unwrap().clone();
        self.block_on(beside.pod.command(command, WAIT)).unwrap()
    }

    /// Puts a sensor on the target's bus, with its pull-ups.
    pub(crate) fn with_sensor(self) -> Self {
        self.command(&json!({"cmd": "la_voltage", "mv": 3300}));
        for la in [1, 2] {
            self.command(&json!({"cmd": "la", "la": la, "pullup": "on"}));
        }
        self.command(&json!({"cmd": "sensor_start", "type": "bmp280", "sda": 2, "scl": 1}));
        self
    }

    /// What the job recorded.
    pub(crate) fn recorded(&self) -> Vec<CaptureRecord> {
        self.block_on(self.lab.captures.of_job(ORG, JOB)).unwrap()
    }

    pub(crate) fn is_on(&self) -> bool {
        self.command(&json!({"cmd": "target_status"}))["efuse1"]["enabled"] == 1
    }

    /// How the simulated target is wired.
    pub(crate) fn wiring() -> Wiring {
        let profile: Value = json!({
            "swd_target": "STM32F030R8", "uart_rx": 3, "uart_tx": 4, "i2c_scl": 1, "i2c_sda": 2
        });
        Wiring::of(profile.as_object().unwrap())
    }

    pub(crate) fn rig(&self) -> Rig {
        let hold = Hold {
            org: ORG.to_owned(),
            of: Some(OfJob {
                job: JOB.to_owned(),
                origin: Origin {
                    run: RUN.to_owned(),
                    attempt: 1,
                    step: None,
                },
            }),
            device: self.device().record.id,
            name: "bench-1".to_owned(),
            lease_id: LEASE.to_owned(),
            owner: OWNER.to_owned(),
            wiring: Self::wiring(),
            relay: None,
        };
        Rig::new(self.lab.clone(), hold)
    }

    /// Carries out a bench with these steps and further keys, and the demo firmware as `fw.elf`.
    pub(crate) fn run(&self, steps: &str) -> Ran {
        self.run_until(steps, &Cancel::default())
    }

    pub(crate) fn run_until(&self, steps: &str, cancel: &Cancel) -> Ran {
        let plan = plan(steps);
        let options = Options::new(self.folder.path().join("state"));
        let runner = Runner::open(options).unwrap();
        let firmware =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target-sim/firmware/demo.elf");
        let made = |artifact: &Artifact| (artifact.name == "fw.elf").then(|| firmware.clone());
        let (live, _events) = Live::new();
        let rig = self.rig();
        let run = plan.runs.iter().find(|run| run.of == "smoke").unwrap();
        let task = Task {
            artifact: &made,
            bench: Some(&rig),
            ..Task::new(
                &plan,
                run,
                self.folder.path(),
                self.folder.path().join("attempt"),
            )
        };
        let end = runner.attempt(&task, &live, cancel).unwrap();
        Ran { end }
    }

    pub(crate) fn eventually(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < WAIT, "{what} did not happen");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(5));
        }
    }
}

async fn lab(
    folder: &TempDir,
    handle: tokio::runtime::Handle,
    pod: Arc<SimPod>,
) -> (Arc<Devices>, Lab) {
    let store = Store::in_memory().unwrap();
    let clock = Clock::system();
    let devices = Devices::new(
        store.clone(),
        clock.clone(),
        |address| panic!("no pod is at {address}"),
        Default::default(),
    );
    let devices = Arc::new(devices);
    let attached = devices.attach_transport(ORG, "bench-1", "sim:bench-1", pod);
    attached.await.unwrap();
    devices.settle(WAIT).await;
    let (held, kept) = (LeasesConfig::default(), CapturesConfig::default());
    let leases = Leases::open(&held, store.clone(), clock.clone(), devices.clone());
    let captures = Captures::open(
        folder.path(),
        &kept,
        store.clone(),
        clock.clone(),
        Space::boundless(),
        devices.clone(),
    );
    let uarts = Arc::new(Uarts::new(clock.clone()));
    let blobs = Blobs::open(folder.path().join("blobs"), Space::boundless()).unwrap();
    let waveforms = Waveforms::new(
        &WaveformsConfig::default(),
        store,
        clock.clone(),
        Arc::new(blobs),
    );
    let lab = Lab {
        handle,
        leases: leases.await.unwrap(),
        captures: captures.await.unwrap(),
        flashing: Flashing::new(clock, uarts.clone(), devices.clone()),
        uarts,
        waveforms: Arc::new(waveforms),
    };
    (devices, lab)
}

fn plan(steps: &str) -> Plan {
    let text = format!(
        "version: 1
builds:
  - id: fw
    steps: [{{ run: make }}]
    packs: [{{ id: a, artifacts: [fw.elf] }}]
benches:
  - id: smoke
    for_each: fw
    device: {{ name: bench-1 }}
    steps:
{steps}
"
    );
    let caps = pipeline::Caps::default();
    let parsed =
        pipeline::parse(&text, &caps).unwrap_or_else(|report| panic!("{}", report.render("test")));
    pipeline::expand(&parsed, &caps)
}
