//! Firmware through a probe on USB, behind the kernel's own USB stack, as a device of plain parts: programmed and
//! verified, beside probe-rs alone on the same probe, and with the probe pulled out meanwhile.
//!
//! The probe is that of a simulated pod, plugged into the kernel's virtual controller (`vhci_hcd`), which takes root.
//! Where that is missing the tests are left out; `cargo xtask test-usb` runs them in a virtual machine.

#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test, though it is its own harness"
)]

#[path = "flashing/vendor.rs"]
mod vendor;

use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base::config::{DeviceConfig, ProbePart};
use flash::{DapLink, FlashError, Image, LinkError, Phase, Progress, Report, Request, Stop};
use pod_sim::{SimConfig, SimPod, TargetConfig};
use pods::pod::{BlockingDap, DapError, DapRequest};
use pods::{Driver as _, Pod, PodOptions, PodState, Transport};
use probe_rs::flashing::{BinLoader, BinOptions, DownloadOptions, download_file_with_options};
use probe_rs::probe::Probe;
use probe_rs::probe::list::Lister;
use probe_rs::{MemoryInterface, Permissions};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};
use usb_sim::Attached;
use usb_trials::{CLOSED_WITHIN, Case, PATIENCE, run};

const CHIP: &str = "STM32F030R8";

/// Where its flash begins.
const FLASH_BASE: u64 = 0x0800_0000;

/// Bytes of what is programmed against the clock, and of what else is.
const TIMED_BYTES: usize = 32 * 1024;
const BYTES: usize = 8 * 1024;

/// Rounds, of which the median counts.
const ROUNDS: u64 = 3;

/// Time for one packet and for a whole job.
const PACKET_MAX: Duration = Duration::from_secs(15);
const JOB_MAX: Duration = Duration::from_secs(60);

/// How soon a job ends whose probe is gone.
const ENDED_WITHIN: Duration = Duration::from_secs(5);

const CASES: &[Case] = &[
    ("unplugged_at_any_point", || run(unplugged_at_any_point())),
    ("through_a_jlink", || run(vendor::jlink())),
    ("through_an_stlink", || run(vendor::stlink())),
    ("through_a_probe_of_the_first_version", || {
        run(through_a_probe_of_the_first_version());
    }),
];

/// Numbers to read, and none to pass.
const BENCHES: &[Case] = &[("beside_probe_rs_alone", || run(beside_probe_rs_alone()))];

/// The test that programs once.
const SHORT: &[&str] = &["flashing::through_a_probe_of_the_first_version"];

fn main() -> ExitCode {
    usb_trials::main(SHORT, &[("flashing", CASES), ("bench", BENCHES)])
}

/// A simulated pod whose target has power, whoever does that.
async fn simulated() -> Arc<SimPod> {
    let sim = SimPod::new(SimConfig {
        seed: 1,
        target: Some(TargetConfig::demo()),
        ..SimConfig::default()
    });
    let own: Arc<dyn Transport> = sim.clone();
    let own = online(&own).await;
    for command in [
        json!({"cmd": "la_voltage", "mv": 3300}),
        json!({"cmd": "target_power", "efuse": 1, "state": 1}),
    ] {
        let Value::Object(command) = command else {
            unreachable!("commands are objects");
        };
        own.command(command, PATIENCE).await.unwrap();
    }
    sim
}

/// A bench that has nothing but the probe of the simulated pod.
fn bench() -> Arc<dyn Transport> {
    with_probe("usb:1209:0001")
}

/// A bench that has nothing but this probe.
fn with_probe(address: &str) -> Arc<dyn Transport> {
    let device = DeviceConfig {
        name: "b".to_owned(),
        address: "parts:b".to_owned(),
        probe: Some(ProbePart {
            address: address.to_owned(),
        }),
        ..DeviceConfig::default()
    };
    parts::Driver::new(&[device]).transport("b").unwrap()
}

fn firmware(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..bytes).map(|_| random.u8(..)).collect()
}

/// The bench as a device of the server.
async fn online(bench: &Arc<dyn Transport>) -> Pod {
    let options = PodOptions {
        grace: Duration::ZERO,
        ..PodOptions::default()
    };
    let pod = Pod::spawn(bench.clone(), options);
    pod.wait_online(PATIENCE).await.unwrap();
    pod
}

struct Link(BlockingDap);

impl DapLink for Link {
    fn exchange(&mut self, packet: &[u8]) -> Result<Vec<u8>, LinkError> {
        self.0.exchange(packet).map_err(told)
    }

    fn exchange_all(&mut self, packets: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, LinkError> {
        self.0.exchange_all(packets).map_err(told)
    }
}

fn told(error: DapError) -> LinkError {
    match error {
        DapError::Cancelled => LinkError::Cancelled,
        DapError::Deadline => LinkError::Deadline,
        DapError::Pod(error) => LinkError::lost(error),
    }
}

/// Programs, verifies and starts firmware as the server does.
async fn flashed(
    pod: &Pod,
    data: &[u8],
    mut report: impl FnMut(Progress) + Send + 'static,
) -> Result<Report, FlashError> {
    let dap = pod.dap(&DapRequest::new(11, 12)).await.unwrap();
    let (dap, _) = dap.blocking(PACKET_MAX, tokio::time::Instant::now() + JOB_MAX);
    let request = Request::new(CHIP, Image::parse(data, "firmware.bin", None).unwrap());
    let job = move || flash::run(Link(dap), &request, &Stop::new(), &mut report);
    spawn_blocking(job).await.unwrap()
}

/// The probe as probe-rs finds and opens it by itself, once nobody else has it.
fn opened() -> Probe {
    let until = Instant::now() + PATIENCE;
    loop {
        let found = Lister::new().list_all();
        let why = match found.first().map(|found| found.open()) {
            Some(Ok(probe)) => return probe,
            Some(Err(error)) => error.to_string(),
            None => "it finds none".to_owned(),
        };
        assert!(Instant::now() < until, "{why}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Does the same with nothing but the library; how long that took, without looking for the probe. The library has limits
/// of its own for each page, which a slow machine does not keep: then it says so, and there is no time.
fn alone(data: &[u8]) -> Option<Duration> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("firmware.bin");
    std::fs::write(&file, data).unwrap();
    let mut probe = opened();
    let began = Instant::now();
    probe.set_speed(flash::SPEED_KHZ_DEFAULT).unwrap();
    let mut session = probe.attach(CHIP, Permissions::default()).unwrap();
    let mut options = DownloadOptions::default();
    options.verify = true;
    let format = BinLoader(BinOptions {
        base_address: Some(FLASH_BASE),
        skip: 0,
    });
    if let Err(error) = download_file_with_options(&mut session, &file, format, options) {
        println!("probe-rs alone gave up: {error:?}");
        return None;
    }
    session.core(0).unwrap().reset().unwrap();
    drop(session);
    Some(began.elapsed())
}

/// What is in the flash, read by the library alone.
fn content(bytes: usize) -> Vec<u8> {
    let mut session = opened().attach(CHIP, Permissions::default()).unwrap();
    let mut content = vec![0; bytes];
    let mut core = session.core(0).unwrap();
    core.read(FLASH_BASE, &mut content).unwrap();
    content
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Of both without their first round, if every round has its times.
fn medians(ours: Vec<Duration>, plain: Vec<Duration>) -> Option<[Duration; 2]> {
    let are_all = ours.len() == plain.len();
    are_all.then(|| [ours, plain].map(|times| median(times[1..].to_vec())))
}

async fn beside_probe_rs_alone() {
    let plugged = Attached::new(simulated().await.plug()).unwrap();
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    // The first round is not counted: it decodes the descriptions of all chips.
    for round in 0..=ROUNDS {
        let [one, other] = [0, 1].map(|which| firmware(2 * round + which, TIMED_BYTES));
        let bench = bench();
        let pod = online(&bench).await;
        let began = Instant::now();
        let report = flashed(&pod, &one, |_| {}).await.unwrap();
        ours.push(began.elapsed());
        assert!(report.verified && report.reset);
        assert_eq!(report.programmed.bytes(), TIMED_BYTES as u64);
        // It lets go of the probe.
        drop((pod, bench));
        let taken = spawn_blocking(move || {
            assert!(content(TIMED_BYTES) == one, "what was programmed is there");
            alone(&other)
        });
        plain.extend(taken.await.unwrap());
    }
    if let Some([ours, plain]) = medians(ours, plain) {
        let ratio = ours.as_secs_f64() / plain.as_secs_f64();
        let kib = TIMED_BYTES / 1024;
        println!(
            "flashing {kib} KiB: {ours:?} through a bench, {plain:?} by probe-rs alone, ratio {ratio:.2}"
        );
    }
    // Pulled out while transfers to it are being cancelled, a virtual device leaves the kernel waiting for ever.
    sleep(CLOSED_WITHIN).await;
    drop(plugged);
}

async fn unplugged_at_any_point() {
    let sim = simulated().await;
    let bench = bench();
    let data = firmware(1, BYTES);
    let half = BYTES as u64 / 2;
    let mut plugged = Attached::new(sim.plug()).unwrap();
    let pod = online(&bench).await;
    for (phase, bytes) in [
        (Phase::Connecting, 0),
        (Phase::Erasing, 0),
        (Phase::Programming, 0),
        (Phase::Programming, half),
        (Phase::Verifying, 0),
    ] {
        pulled_out(&pod, plugged, &data, phase, bytes).await;
        // It is of use again as soon as it is plugged in.
        plugged = Attached::new(sim.plug()).unwrap();
        pod.wait_online(PATIENCE).await.unwrap();
    }
    let report = flashed(&pod, &data, |_| {}).await.unwrap();
    assert!(report.verified);
    drop((pod, bench));
    assert!(spawn_blocking(|| content(BYTES)).await.unwrap() == data);
    sleep(CLOSED_WITHIN).await;
    drop(plugged);
}

/// Programs as far as a point of a phase, where the probe is pulled out.
async fn pulled_out(pod: &Pod, plugged: Attached, data: &[u8], phase: Phase, bytes: u64) {
    let unplugged = Arc::new(Mutex::new(None));
    let (mut plug, noted) = (Some(plugged), unplugged.clone());
    let result = flashed(pod, data, move |now| {
        if now.phase == phase && now.bytes >= bytes {
            plug = plug.take().and_then(|plug| {
                drop(plug);
                *noted.lock().unwrap() = Some(Instant::now());
                None
            });
        }
    })
    .await;
    let since = unplugged
        .lock()
        .unwrap()
        .expect("it was unplugged")
        .elapsed();
    let error = result.expect_err("the probe is gone");
    println!("unplugged at {phase}: {error} after {since:?}");
    assert!(matches!(error, FlashError::LinkLost { .. }), "{error:?}");
    assert!(since < ENDED_WITHIN, "{since:?}");
    let mut state = pod.watch();
    let gone = state.wait_for(|state| matches!(state, PodState::Offline { .. }));
    timeout(PATIENCE, gone).await.unwrap().unwrap();
}

/// The target behind a probe that is a human interface device. The library reaches such a one only through another library
/// in C, so it reads through the other probe what was programmed.
async fn through_a_probe_of_the_first_version() {
    let sim = simulated().await;
    let bench = with_probe("usb:1209:0003:A");
    let plugged = Attached::new(sim.hid_probe("A")).unwrap();
    let pod = online(&bench).await;
    let data = firmware(1, BYTES);
    let half = BYTES as u64 / 2;
    pulled_out(&pod, plugged, &data, Phase::Programming, half).await;
    let plugged = Attached::new(sim.hid_probe("A")).unwrap();
    pod.wait_online(PATIENCE).await.unwrap();
    let began = Instant::now();
    let report = flashed(&pod, &data, |_| {}).await.unwrap();
    let took = began.elapsed();
    println!("flashing {} KiB in reports: {took:?}", BYTES / 1024);
    assert!(report.verified && report.reset);
    drop((pod, bench));
    sleep(CLOSED_WITHIN).await;
    drop(plugged);
    let other = Attached::new(sim.plug()).unwrap();
    assert!(spawn_blocking(|| content(BYTES)).await.unwrap() == data);
    sleep(CLOSED_WITHIN).await;
    drop(other);
}
