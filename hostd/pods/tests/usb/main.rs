//! Pods on USB, behind the kernel's own USB stack: found, opened, unplugged, and shared between programs.
//!
//! The pods are simulated and plugged into the kernel's virtual controller (`vhci_hcd`), which takes root. Where that
//! is missing the tests are left out; `cargo xtask test-usb` runs them in a virtual machine.

#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test, though it is its own harness"
)]

mod bench;
mod link;
mod plugging;
mod probe;
mod raw;
mod serial;

use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use pod_sim::{SimConfig, SimPod, TargetConfig};
use pods::{Pod, PodOptions};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use usb_sim::Attached;

/// Makes it a failure that there is no virtual controller.
const NEEDED: &str = "TESTS_NEED_USB";

/// How long anything may take. An emulated processor is slow.
const PATIENCE: Duration = Duration::from_secs(30);

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
        ("link", link::CASES),
        ("plugging", plugging::CASES),
        ("probe", probe::CASES),
        ("serial", serial::CASES),
        ("bench", bench::CASES),
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
        let ended = tokio::time::timeout(2 * PATIENCE, test).await;
        ended.expect("the test takes too long")
    })
}

/// A simulated pod with a target.
fn simulated(seed: u64) -> Arc<SimPod> {
    SimPod::new(SimConfig {
        seed,
        target: Some(TargetConfig::demo()),
        ..SimConfig::default()
    })
}

/// The pod that an address means, once it is online.
async fn online(address: &str) -> Pod {
    let pod = spawned(address);
    pod.wait_online(PATIENCE).await.unwrap();
    pod
}

fn spawned(address: &str) -> Pod {
    let transport = pods::transport(&[&pods::usb::Driver], address).unwrap();
    let options = PodOptions {
        grace: Duration::ZERO,
        ..PodOptions::default()
    };
    Pod::spawn(transport, options)
}

async fn command(pod: &Pod, command: Value) -> Value {
    let command: Map<String, Value> = command.as_object().unwrap().clone();
    pod.command(command, PATIENCE).await.unwrap()
}

async fn ping(pod: &Pod) {
    command(pod, json!({"cmd": "ping"})).await;
}

/// The next line of a connection.
async fn line(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        line.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(line).unwrap()
}
