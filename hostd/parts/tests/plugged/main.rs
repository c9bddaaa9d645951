//! Parts on USB, behind the kernel's own USB stack: a probe and a serial port, which are those of a simulated pod of which
//! a bench of parts knows nothing else, a hub that switches its ports, serial adapters, and lines that switch.
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
mod cp210x;
mod found;
mod gpio;
mod hid;
mod hub;
mod line;
mod probe;
mod serial;
mod udev;
#[cfg(feature = "vendor-probes")]
mod vendor;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use base::config::DeviceConfig;
use pod_protocol::connection::Transport;
use pod_protocol::driver::Driver as _;
use pod_sim::{SimConfig, SimPod, TargetConfig};
use serde_json::json;
use usb_sim::Attached;
use usb_trials::{CLOSED_WITHIN, Case, PATIENCE, run};

use line::Line;

/// Makes it a failure that there is no udevd.
const UDEVD_NEEDED: &str = "TESTS_NEED_UDEVD";

/// The tests that use each kind of device once.
const SHORT: &[&str] = &[
    "probe::plugged_in_used_and_pulled_out",
    "hid::used_and_let_go",
    "hub::a_port_is_switched_and_read_back",
    "serial::rate_and_parity_reach_the_device",
    "cp210x::rate_and_parity_reach_the_device",
    "gpio::a_line_is_switched_and_read_back",
    #[cfg(feature = "vendor-probes")]
    "vendor::jlink",
    #[cfg(feature = "vendor-probes")]
    "vendor::stlink",
];

/// The test that reads the rules of udev, where it runs.
const SHORT_OF_UDEV: &str = "udev::a_pod_is_given_to_its_groups";

fn main() -> ExitCode {
    let mut short = SHORT.to_vec();
    let mut lists = vec![
        ("probe", probe::CASES),
        ("hid", hid::CASES),
        ("hub", hub::CASES),
        ("serial", serial::CASES),
        ("cp210x", cp210x::CASES),
        ("gpio", gpio::CASES),
        #[cfg(feature = "vendor-probes")]
        ("vendor", vendor::CASES),
    ];
    if udev::is_possible() {
        lists.push(("udev", udev::CASES));
        short.push(SHORT_OF_UDEV);
    } else if std::env::var_os(UDEVD_NEEDED).is_some() {
        eprintln!("there is no udevd, or one is running");
        return ExitCode::FAILURE;
    }
    usb_trials::main(&short, &lists)
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

/// A simulated pod whose target has no power.
fn unpowered() -> Arc<SimPod> {
    SimPod::new(SimConfig {
        seed: 1,
        target: Some(TargetConfig::demo()),
        ..SimConfig::default()
    })
}

/// A simulated pod whose target has power, whoever does that.
async fn simulated() -> Arc<SimPod> {
    let sim = unpowered();
    let mut own = line_of(&sim).await;
    own.ask(json!({"cmd": "la_voltage", "mv": 3300})).await;
    own.ask(json!({"cmd": "target_power", "efuse": 1, "state": 1}))
        .await;
    sim
}

/// Starts the target afresh. One that a probe left running takes more time than a machine has that is emulated itself.
async fn restarted(sim: &Arc<SimPod>) {
    let mut own = line_of(sim).await;
    for state in [0, 1] {
        own.ask(json!({"cmd": "target_power", "efuse": 1, "state": state}))
            .await;
    }
}

async fn line_of(sim: &Arc<SimPod>) -> Line {
    let own: Arc<dyn Transport> = sim.clone();
    Line::to(&own).await
}
