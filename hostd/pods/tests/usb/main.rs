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
mod bursts;
mod link;
mod plugging;
mod probe;
mod raw;
mod serial;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pod_sim::{SimConfig, SimPod, TargetConfig};
use pods::{Pod, PodOptions};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use usb_trials::{CLOSED_WITHIN, Case, PATIENCE, run};

/// The tests that touch each interface of a pod once.
const SHORT: &[&str] = &[
    "link::commands_are_answered",
    "link::a_capture_arrives_whole",
    "bursts::an_empty_packet_follows_a_full_one",
    "plugging::what_is_plugged_in_is_listed",
    "plugging::unplugged_while_it_captures",
    "probe::a_debugger_reads_the_target",
    "serial::the_console_is_a_serial_port",
];

fn main() -> ExitCode {
    let lists = [
        ("link", link::CASES),
        ("bursts", bursts::CASES),
        ("plugging", plugging::CASES),
        ("probe", probe::CASES),
        ("serial", serial::CASES),
        ("bench", bench::CASES),
    ];
    usb_trials::main(SHORT, &lists)
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
