//! Parts on USB, behind the kernel's own USB stack: a probe and a serial port, which are those of a simulated pod of which
//! a bench of parts knows nothing else, and a hub that switches its ports.
//!
//! They are plugged into the kernel's virtual controller (`vhci_hcd`), which takes root. Where that is missing the tests
//! are left out; `cargo xtask test-usb` runs them in a virtual machine.

#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test, though it is its own harness"
)]

mod adapter;
mod hub;
mod line;
mod probe;
mod serial;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use base::config::DeviceConfig;
use libtest_mimic::{Arguments, Trial};
use pod_protocol::connection::Transport;
use pod_protocol::driver::Driver as _;
use pod_sim::{SimConfig, SimPod, TargetConfig};
use serde_json::json;
use tokio::time::timeout;
use usb_sim::Attached;

use line::Line;

/// Makes it a failure that there is no virtual controller.
const NEEDED: &str = "TESTS_NEED_USB";

/// How long anything may take. An emulated processor is slow.
const PATIENCE: Duration = Duration::from_secs(30);

/// How soon the kernel has cancelled what was under way to a device that a program no longer uses.
const CLOSED_WITHIN: Duration = Duration::from_millis(500);

/// A test, which panics if it fails.
type Case = (&'static str, fn());

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    if !Attached::is_possible() && !arguments.list {
        eprintln!("this kernel has no virtual USB controller, so these tests are left out");
        return match std::env::var_os(NEEDED) {
            Some(_) => ExitCode::FAILURE,
            None => ExitCode::SUCCESS,
        };
    }
    let lists = [
        ("probe", probe::CASES),
        ("hub", hub::CASES),
        ("serial", serial::CASES),
    ];
    let cases = |(about, cases): (&'static str, &'static [Case])| {
        let trial = move |(name, case): &'static Case| {
            Trial::test(format!("{about}::{name}"), move || {
                case();
                Ok(())
            })
        };
        cases.iter().map(trial)
    };
    let trials = lists.into_iter().flat_map(cases).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs an asynchronous test.
fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let ended = timeout(4 * PATIENCE, test).await;
        ended.expect("the test takes too long")
    })
}

/// A bench of the parts that the configuration has.
fn bench(parts: DeviceConfig) -> Arc<dyn Transport> {
    let device = DeviceConfig {
        name: "b".to_owned(),
        address: "parts:b".to_owned(),
        ..parts
    };
    parts::Driver::new(&[device]).transport("b").unwrap()
}

/// A simulated pod whose target has power, whoever does that.
async fn simulated() -> Arc<SimPod> {
    let sim = SimPod::new(SimConfig {
        seed: 1,
        target: Some(TargetConfig::demo()),
        ..SimConfig::default()
    });
    let own: Arc<dyn Transport> = sim.clone();
    let mut own = Line::to(&own).await;
    own.ask(json!({"cmd": "la_voltage", "mv": 3300})).await;
    own.ask(json!({"cmd": "target_power", "efuse": 1, "state": 1}))
        .await;
    sim
}
