//! `cargo xtask bench flash`: 128 KiB erased, programmed, read back and started on a simulated STM32F030RC,
//! twice over.
//!
//! *Served*: as a user has it, `POST …/flash` with the file to a real `hostd serve`, beside plain probe-rs on
//! the same pod (`hostd pod-sim`, over TCP) in the same run. The chip takes the times of its data sheet. The
//! difference is everything that the server is: the request, its handler, the pod's session, the job.
//!
//! *In process*: [`flash::run`] beside plain probe-rs on a chip whose flash takes next to no time, so that it
//! is the host's own time that is compared. The difference is what a job does besides: finding out what the
//! target is, images, progress. The simulated core executes the real flash algorithm, which is in both times.
//!
//! In each pair both use the same driver for the probe and alternate, so that the machine's mood is in both.
//!
//! Options: `--rounds N` in process (default 15), `--served-rounds N` (default 5).

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints its figures and fails by panicking"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use flash::{DapLink, Image, LinkError, Request, SPEED_KHZ_DEFAULT, Stop, open_probe, run};
use probe_rs::Permissions;
use probe_rs::flashing::{BinLoader, BinOptions, DownloadOptions, download_file_with_options};
use target_sim::chip::{FLASH_BASE, FlashTimes, STM32F030RC};
use target_sim::dap::Probe;
use target_sim::target::{BareBoard, Target};

mod served;

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

fn ours(request: &Request) -> Duration {
    let began = Instant::now();
    let report = run(Bench::new(), request, &Stop::new(), &mut |_| {}).unwrap();
    assert!(report.verified && report.programmed.bytes() == BYTES as u64);
    began.elapsed()
}

/// What somebody would do who has only the library.
fn plain(link: impl DapLink, file: &Path) {
    let probe = open_probe(link, &Stop::new(), SPEED_KHZ_DEFAULT).unwrap();
    let mut session = probe.attach(CHIP, Permissions::default()).unwrap();
    let mut options = DownloadOptions::default();
    options.verify = true;
    let format = BinLoader(BinOptions {
        base_address: Some(FLASH_BASE.into()),
        skip: 0,
    });
    download_file_with_options(&mut session, file, format, options).unwrap();
    session.core(0).unwrap().reset().unwrap();
}

fn alone(file: &Path) -> Duration {
    let began = Instant::now();
    plain(Bench::new(), file);
    began.elapsed()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Alternates two ways of the same; gives their medians.
fn compare(
    rounds: usize,
    mut one: impl FnMut() -> Duration,
    mut other: impl FnMut() -> Duration,
) -> [Duration; 2] {
    // The descriptions of the chips are decoded once in a process.
    one();
    other();
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        ours.push(one());
        plain.push(other());
    }
    [median(&mut ours), median(&mut plain)]
}

fn show(name: &str, [ours, plain]: [Duration; 2]) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("{name:<28}{:9.1} ms", ms(ours));
    println!("{:<28}{:9.1} ms", "probe-rs alone", ms(plain));
    let ratio = ours.as_secs_f64() / plain.as_secs_f64();
    println!("{:<28}{ratio:9.2}    (aim: at most 1.1)", "ratio");
}

fn option(name: &str, default: usize) -> usize {
    let options: Vec<String> = std::env::args().collect();
    let at = options.iter().position(|option| option == name);
    at.map_or(default, |at| options[at + 1].parse().unwrap())
}

fn main() {
    let (rounds, served_rounds) = (option("--rounds", 15), option("--served-rounds", 5));
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
    let request = Request::new(CHIP, Image::parse(&data, "firmware.bin", None).unwrap());

    println!("128 KiB erased, programmed, verified and started on a simulated {CHIP}");
    let bench = served::Bench::new();
    println!("\nserved, over TCP to hostd pod-sim, medians of {served_rounds}");
    let times = compare(
        served_rounds,
        || bench.served(&data),
        || bench.direct(&file),
    );
    show("POST …/flash, hostd serve", times);
    println!("\nin process, flash that takes no time, medians of {rounds}");
    let times = compare(rounds, || ours(&request), || alone(&file));
    show("flash::run", times);
}
