//! `cargo xtask bench pods`: many simulated pods in one process, each driven as hostd drives one:
//! captures one after the other, and a stream of commands beside them. Measures the cost, whether
//! anything was late, and the same for one pod in the same run.
//!
//! Both sides are in the figures, the simulated instrument and its driver. Three pods of four
//! capture 1 s of the logic analyzer at 1 MS/s, on a bus that is busy a fifth of the time; the
//! fourth captures 1 s of its ADC at 0.4 MS/s. The pods begin one after the other within a second, as
//! benches do that know nothing of each other.
//!
//! Options: `--pods N` (default 32), `--seconds N` (default 60).

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints its figures and fails by panicking"
)]

use std::time::{Duration, Instant};

use pod_sim::{Playback, Recording, SimConfig, SimPod};
use pods::{CaptureRequest, Pod, PodOptions};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// How much later than its own time a capture may end, and how long a command may take.
const SLACK: Duration = Duration::from_millis(250);

/// A capture's own time.
const CAPTURE: Duration = Duration::from_secs(1);

/// Between two commands to a pod.
const COMMAND_INTERVAL: Duration = Duration::from_millis(100);

const PATIENCE: Duration = Duration::from_secs(30);

/// What a pod's tasks counted.
#[derive(Default)]
struct Work {
    captures: u64,
    late_captures: u64,
    /// Longest time a capture took beyond its own.
    worst: Duration,
    latencies: Vec<Duration>,
}

/// One row of the table.
struct Row {
    pods: u32,
    /// Processor time as a share of one core.
    cores: f64,
    resident_bytes: u64,
    work: Work,
}

fn main() {
    let options: Vec<String> = std::env::args().collect();
    let number = |name: &str, default: u32| {
        let at = options.iter().position(|option| option == name);
        at.map_or(default, |at| options[at + 1].parse().unwrap())
    };
    let (many, seconds) = (number("--pods", 32), number("--seconds", 60));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let duration = Duration::from_secs(seconds.into());
    let one = runtime.block_on(run(1, duration));
    let all = runtime.block_on(run(many, duration));
    println!(
        "{:>5} {:>9} {:>10} {:>9} {:>24} {:>9} {:>9} {:>7}",
        "pods",
        "% a core",
        "MiB most",
        "commands",
        "ms p50 / p99 / most",
        "captures",
        "ms late",
        "missed"
    );
    one.print();
    all.print();
    println!(
        "{many} pods cost {:.1} times the processor time of one",
        all.cores / one.cores
    );
}

impl Row {
    fn print(&self) {
        let mut latencies = self.work.latencies.clone();
        latencies.sort_unstable();
        let part = |share: usize| ms(latencies[(latencies.len() - 1) * share / 100]);
        let slow = latencies.iter().filter(|taken| **taken > SLACK).count();
        println!(
            "{:>5} {:>9.1} {:>10.1} {:>9} {:>24} {:>9} {:>9.0} {:>7}",
            self.pods,
            self.cores * 100.0,
            mib(self.resident_bytes),
            latencies.len(),
            format!("{:.2} / {:.2} / {:.2}", part(50), part(99), part(100)),
            self.work.captures,
            ms(self.work.worst),
            self.work.late_captures + u64::try_from(slow).unwrap()
        );
    }
}

/// Works with so many pods for so long.
async fn run(count: u32, duration: Duration) -> Row {
    reset_resident();
    let mut pods = Vec::new();
    for number in 0..count {
        let bench = SimPod::new(config(number));
        let pod = Pod::spawn(bench, PodOptions::default());
        pod.wait_online(PATIENCE).await.unwrap();
        pods.push(pod);
    }
    let (began, cpu) = (Instant::now(), processor_time());
    let mut tasks = JoinSet::new();
    for (number, pod) in (0..).zip(&pods) {
        let first = began + CAPTURE * number / count;
        tasks.spawn(capture(
            pod.clone(),
            request(number),
            first,
            began + duration,
        ));
        tasks.spawn(command(pod.clone(), began + duration));
    }
    let mut work = Work::default();
    while let Some(done) = tasks.join_next().await {
        let done = done.unwrap();
        work.captures += done.captures;
        work.late_captures += done.late_captures;
        work.worst = work.worst.max(done.worst);
        work.latencies.extend(done.latencies);
    }
    Row {
        pods: count,
        cores: (processor_time() - cpu).as_secs_f64() / began.elapsed().as_secs_f64(),
        resident_bytes: resident_bytes(),
        work,
    }
}

/// A pod whose LA1 and LA2 carry a bus: 2 ms of a clock with data at 100 kHz, 8 ms idle.
fn config(number: u32) -> SimConfig {
    let level = |half: u16| (half % 2) | ((half / 4 % 2) << 1);
    let mut edges: Vec<(u64, u16)> = (0..400)
        .map(|half| (u64::from(half) * 5, level(half)))
        .collect();
    edges.push((2000, 0b11));
    let recording = Recording {
        sample_rate_hz: 1e6,
        samples: 10_000,
        edges,
    };
    let playback = Playback::new(&recording, &[(0, 1), (1, 2)], None).unwrap();
    SimConfig {
        seed: u64::from(number) + 1,
        la_voltage_mv: Some(3300),
        playback: Some(playback),
        ..SimConfig::default()
    }
}

fn request(number: u32) -> CaptureRequest {
    if number % 4 == 3 {
        return CaptureRequest::Scope {
            samples: 400_000,
            rate_mhz: 0.4,
            source: None,
            trigger: None,
        };
    }
    CaptureRequest::La {
        samples: 1_000_000,
        rate_mhz: 1.0,
        trigger: None,
    }
}

/// Captures one after the other.
async fn capture(pod: Pod, request: CaptureRequest, first: Instant, until: Instant) -> Work {
    let mut work = Work::default();
    tokio::time::sleep_until(first.into()).await;
    while Instant::now() + CAPTURE < until {
        let began = Instant::now();
        let mut stream = pod.capture(request.clone()).await.unwrap();
        while let Some(frame) = stream.next().await {
            frame.unwrap();
        }
        let late = began.elapsed().saturating_sub(CAPTURE);
        work.captures += 1;
        work.late_captures += u64::from(late > SLACK);
        work.worst = work.worst.max(late);
    }
    work
}

/// Sends commands at fixed times; one that is late makes the next one late, and both count.
async fn command(pod: Pod, until: Instant) -> Work {
    let commands: [Value; 4] = [
        json!({"cmd": "gpio", "la": 5, "mode": "output", "value": 1}),
        json!({"cmd": "status"}),
        json!({"cmd": "gpio", "la": 5, "mode": "output", "value": 0}),
        json!({"cmd": "la_pins"}),
    ];
    let mut work = Work::default();
    let mut due = Instant::now();
    for command in commands.iter().cycle() {
        due += COMMAND_INTERVAL;
        if due >= until {
            break;
        }
        tokio::time::sleep_until(due.into()).await;
        let command = command.as_object().cloned().unwrap();
        pod.command(command, PATIENCE).await.unwrap();
        work.latencies.push(due.elapsed());
    }
    work
}

/// User and system time of this process.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap()
}

/// Resets the peak of resident memory, where the system allows it.
fn reset_resident() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// `VmHWM`, the most memory that was resident.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib: u64 = line
        .and_then(|line| line.split_whitespace().nth(1))
        .unwrap()
        .parse()
        .unwrap();
    kib << 10
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
