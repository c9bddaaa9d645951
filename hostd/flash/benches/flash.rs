//! `cargo xtask bench flash`: 128 KiB erased, programmed, verified and started through [`flash::run`], beside
//! plain probe-rs doing the same on the same simulated chip in the same run.
//!
//! Both use the same driver for the probe and alternate, so that the machine's mood is in both. The difference is
//! what a job does besides: finding out what the target is, images, progress. The flash of the simulated chip is
//! fast, so that it is the host's time that is compared; the simulated core executes the real flash algorithm,
//! which is in both times.
//!
//! Options: `--rounds N` (default 15).

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints its figures and fails by panicking"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use flash::{DapLink, Image, LinkError, Order, SPEED_KHZ_DEFAULT, Stop, open_probe, run};
use probe_rs::Permissions;
use probe_rs::flashing::{BinLoader, BinOptions, DownloadOptions, download_file_with_options};
use target_sim::dap::Probe;
use target_sim::stm32f0::{FLASH_BASE, FlashTimes, STM32F030RC};
use target_sim::target::{BareBoard, Target};

const CHIP: &str = "STM32F030RC";
const BYTES: usize = 128 * 1024;
const PACKET_BYTES: usize = 1024;
const PACKET_COUNT: u8 = 4;
const FAST: FlashTimes = FlashTimes {
    program_ns: 100,
    erase_ns: 1000,
};

/// A chip and a probe, in the thread that flashes.
struct Bench {
    target: Target,
    probe: Probe,
}

impl Bench {
    fn new() -> Self {
        let mut target = Target::new(STM32F030RC);
        target.chip().set_flash_times(FAST);
        target.set_power(true, &mut BareBoard);
        let probe = Probe::new(PACKET_BYTES, PACKET_COUNT);
        Self { target, probe }
    }
}

impl DapLink for Bench {
    fn exchange(&mut self, packet: &[u8]) -> Result<Vec<u8>, LinkError> {
        let mut answer = Vec::new();
        let target = &mut self.target;
        self.probe
            .process(target, &mut BareBoard, packet, &mut answer);
        Ok(answer)
    }
}

fn ours(order: &Order) -> Duration {
    let began = Instant::now();
    let report = run(Bench::new(), order, &Stop::new(), &mut |_| {}).unwrap();
    assert!(report.verified && report.bytes == BYTES as u64);
    began.elapsed()
}

fn plain(file: &Path) -> Duration {
    let began = Instant::now();
    let probe = open_probe(Bench::new(), &Stop::new(), SPEED_KHZ_DEFAULT).unwrap();
    let mut session = probe.attach(CHIP, Permissions::default()).unwrap();
    let mut options = DownloadOptions::default();
    options.verify = true;
    let format = BinLoader(BinOptions {
        base_address: Some(FLASH_BASE.into()),
        skip: 0,
    });
    download_file_with_options(&mut session, file, format, options).unwrap();
    session.core(0).unwrap().reset().unwrap();
    drop(session);
    began.elapsed()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn main() {
    let options: Vec<String> = std::env::args().collect();
    let at = options.iter().position(|option| option == "--rounds");
    let rounds: usize = at.map_or(15, |at| options[at + 1].parse().unwrap());
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let noise = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    });
    let data: Vec<u8> = noise.take(BYTES).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("firmware.bin");
    std::fs::write(&file, &data).unwrap();
    let order = Order::new(CHIP, Image::parse(&data, "firmware.bin").unwrap());

    // The descriptions of the chips are decoded once in a process.
    let first = ours(&order);
    plain(&file);
    let (mut job, mut direct) = (Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        job.push(ours(&order));
        direct.push(plain(&file));
    }
    let (job, direct) = (median(&mut job), median(&mut direct));
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let ratio = job.as_secs_f64() / direct.as_secs_f64();
    println!("128 KiB programmed and verified on a simulated {CHIP}, medians of {rounds} rounds");
    println!(
        "flash::run       {:8.1} ms (first in the process {:.1} ms)",
        ms(job),
        ms(first)
    );
    println!("probe-rs alone   {:8.1} ms", ms(direct));
    println!("ratio            {ratio:8.2}    (aim: at most 1.1)");
}
