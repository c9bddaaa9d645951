//! Analyzers with an FX2, behind the kernel's own USB stack: given a firmware, found again, sampled and unplugged.
//!
//! They are simulated and plugged into the kernel's virtual controller (`vhci_hcd`), which takes root. Where that is
//! missing the tests are left out; `cargo xtask test-usb` runs them in a virtual machine.

#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test, though it is its own harness"
)]

mod failing;
mod sampling;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use acquire::{AcquireError, Capture, Facts, Fx2lafw, Fx2lafwSettings, Input, Instrument, Request};
use pod_protocol::capture::{Condition, Edge, Frame, Trigger};
use tempfile::TempDir;
use usb_sim::fx2::{Analyzer, Settings, levels};
use usb_trials::{CLOSED_WITHIN, Case, PATIENCE, run};

/// The tests that load a firmware, sample, and lose an analyzer.
const SHORT: &[&str] = &[
    "sampling::the_first_capture_loads_the_firmware",
    "sampling::a_trigger_makes_sample_0",
    "failing::one_at_a_time",
];

fn main() -> ExitCode {
    let lists = [("sampling", sampling::CASES), ("failing", failing::CASES)];
    usb_trials::main(SHORT, &lists)
}

/// A firmware that nobody wrote: what an analyzer is given matters to none of the two sides here.
struct Firmware {
    folder: TempDir,
    image: Vec<u8>,
}

impl Firmware {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let image: Vec<u8> = (0..8120_u32)
            .map(|at| u8::try_from(at * 7 % 251).unwrap())
            .collect();
        std::fs::write(folder.path().join("fx2lafw-saleae-logic.fw"), &image).unwrap();
        std::fs::write(folder.path().join("fx2lafw-sigrok-fx2-16ch.fw"), &image).unwrap();
        Self { folder, image }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// The first analyzer, which gets this firmware.
    fn instrument(&self) -> Fx2lafw {
        let settings = Fx2lafwSettings {
            firmware: Some(self.path()),
            ..Fx2lafwSettings::default()
        };
        Fx2lafw::new(settings).unwrap()
    }
}

/// A clone of the Saleae Logic, once the kernel has it.
async fn plugged(settings: Settings) -> Analyzer {
    // That of the test before leaves first.
    listed(0).await;
    let analyzer = Analyzer::new(settings).unwrap();
    listed(1).await;
    analyzer
}

/// Waits until so many analyzers are there; their ports.
async fn listed(count: usize) -> Vec<String> {
    let began = std::time::Instant::now();
    loop {
        let devices = nusb::list_devices().await.unwrap();
        let analyzers = devices.filter(|device| [0x0925, 0x1D50].contains(&device.vendor_id()));
        let port = |device: nusb::DeviceInfo| {
            let chain: Vec<String> = device.port_chain().iter().map(u8::to_string).collect();
            format!(
                "{}-{}",
                device.bus_id().trim_start_matches('0'),
                chain.join(".")
            )
        };
        let mut ports: Vec<String> = analyzers.map(port).collect();
        if ports.len() == count {
            ports.sort();
            return ports;
        }
        assert!(began.elapsed() < PATIENCE, "{ports:?}, and not {count}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn request(samples: u64, rate_hz: f64) -> Request {
    Request {
        input: Input::Logic,
        samples,
        rate_hz,
        trigger: None,
    }
}

/// The edges of all samples, and how many these are.
async fn all(capture: &mut Capture) -> Result<(Vec<(u64, u16)>, u64), AcquireError> {
    let (mut all, mut end) = (Vec::new(), 0);
    while let Some(frame) = capture.next().await {
        let Frame::La { edges, upto } = frame? else {
            panic!("levels were asked for")
        };
        all.extend(edges);
        end = upto;
    }
    Ok((all, end))
}

/// The edges of what an analyzer samples, from a sample on.
fn expected(first: u64, samples: u64, mask: u16) -> Vec<(u64, u16)> {
    let words = (0..samples).map(|index| (index, levels(first + index) & mask));
    let mut edges: Vec<(u64, u16)> = Vec::new();
    for (index, word) in words {
        if edges.last().is_none_or(|(_, last)| *last != word) {
            edges.push((index, word));
        }
    }
    edges
}
