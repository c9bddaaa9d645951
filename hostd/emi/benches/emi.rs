//! How long a board takes from its bytes to its report, and how much memory: `cargo xtask bench emi`, or with the path of a
//! board after `--`. The boards are those of `cargo xtask emi-boards`. `-- --crowds` measures boards with very many of one thing in
//! their place.

#![allow(clippy::print_stdout, reason = "printing is what a bench is for")]

#[path = "emi/crowds.rs"]
mod crowds;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use emi::{Limits, Observer, RULES, RulesFile, Settings, kicad};

const BOARDS: [&str; 4] = [
    "kicad-demos/usr/share/kicad/demos/video/video.kicad_pcb",
    "kicad-demos/usr/share/kicad/demos/kit-dev-coldfire-xilinx_5213/kit-dev-coldfire-xilinx_5213.kicad_pcb",
    "edea/edea-0.8.4/tests/kicad_projects/leako/ColecoVision Clone.kicad_pcb",
    "kicad-demos/usr/share/kicad/demos/stickhub/StickHub.kicad_pcb",
];

/// Asks a copy of this program for the memory that one check takes.
const ONCE: &str = "--once";

/// Measures boards with very many of one thing.
const CROWDS: &str = "--crowds";

/// Rounds whose median is printed.
const ROUNDS: usize = 9;

/// Rules that are listed, the slowest first.
const RULES_SHOWN: usize = 8;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` runs this too, to see that it still works.
    let rounds = if arguments.iter().any(|argument| argument == "--test") {
        1
    } else {
        ROUNDS
    };
    if let [flag, path] = arguments.as_slice()
        && flag == ONCE
    {
        once(Path::new(path));
        return;
    }
    if arguments.iter().any(|argument| argument == CROWDS) {
        crowds::measure(if rounds == 1 { 100 } else { 1 });
        return;
    }
    let named: Vec<PathBuf> = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--"))
        .map(PathBuf::from)
        .collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/emi-boards");
    let boards = if named.is_empty() {
        BOARDS.iter().map(|board| folder.join(board)).collect()
    } else {
        named
    };
    println!(
        "{} threads, medians of {rounds} rounds",
        rayon::current_num_threads()
    );
    println!(
        "{:<32} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "board", "MB", "read", "index", "emission", "rules", "all", "one core", "MB peak"
    );
    for board in &boards {
        match std::fs::read(board) {
            Ok(bytes) => measure(board, &bytes, rounds),
            Err(error) => println!(
                "{}: {error}; `cargo xtask emi-boards` fetches it",
                board.display()
            ),
        }
    }
    if let Some(bytes) = boards.first().and_then(|board| std::fs::read(board).ok()) {
        slowest_rules(&bytes, rounds);
    }
}

/// When stages began.
#[derive(Default)]
struct Stages(Mutex<Vec<(&'static str, Instant)>>);

impl Observer for Stages {
    fn stage(&self, name: &'static str) {
        let mut stages = self.0.lock().expect("nobody panics");
        stages.push((name, Instant::now()));
    }
}

/// Times of one check: reading, indexing, emission, rules, all.
fn check(bytes: &[u8], settings: &Settings) -> [Duration; 5] {
    let start = Instant::now();
    let board = kicad::read(bytes, &Limits::default()).expect("the board is whole");
    let read = start.elapsed();
    let stages = Stages::default();
    let report = emi::check(board, settings, &stages).expect("nobody stops it");
    let all = start.elapsed();
    black_box(report.json());
    let stages = stages.0.into_inner().expect("nobody panics");
    let began = |name: &str| {
        let stage = stages.iter().find(|(stage, _)| *stage == name);
        stage.map_or(start, |(_, began)| *began)
    };
    let index = began("emission") - began("nets");
    let emission = began("rules") - began("emission");
    let rules = began("report") - began("rules");
    [read, index, emission, rules, all]
}

fn measure(path: &Path, bytes: &[u8], rounds: usize) {
    let settings = Settings::default();
    let mut found: Vec<[Duration; 5]> = (0..rounds).map(|_| check(bytes, &settings)).collect();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let alone = one.expect("a pool of one thread starts").install(|| {
        let mut all: Vec<Duration> = (0..rounds).map(|_| check(bytes, &settings)[4]).collect();
        median(&mut all)
    });
    let medians: Vec<String> = (0..5)
        .map(|column| {
            let mut times: Vec<Duration> = found.iter_mut().map(|times| times[column]).collect();
            format!("{:>5.0} ms", median(&mut times).as_secs_f64() * 1e3)
        })
        .collect();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let peak = peak_mb(path).map_or_else(|| "?".to_owned(), |mb| format!("{mb:.0}"));
    println!(
        "{name:<32} {:>7.1} {} {:>5.0} ms {peak:>8}",
        bytes.len() as f64 / 1e6,
        medians.join(" "),
        alone.as_secs_f64() * 1e3,
    );
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The most memory that a process takes which checks this board and nothing else.
fn peak_mb(path: &Path) -> Option<f64> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program).arg(ONCE).arg(path).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

fn once(path: &Path) {
    let bytes = std::fs::read(path).expect("the board is there");
    check(&bytes, &Settings::default());
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    println!("{:.1}", kib.unwrap_or(0.0) * 1024.0 / 1e6);
}

/// Each rule alone, without what all of them share.
fn slowest_rules(bytes: &[u8], rounds: usize) {
    let with = |only: Option<&str>| {
        let off = RULES.iter().filter(|rule| Some(rule.id) != only);
        let off: Vec<String> = off.map(|rule| format!("{}: false", rule.id)).collect();
        let text = format!("version: 1\nrules: {{{}}}\n", off.join(", "));
        let file = RulesFile::read(text.as_bytes()).expect("it is well formed");
        let settings = Settings::default().with(file);
        let mut times: Vec<Duration> = (0..rounds).map(|_| check(bytes, &settings)[3]).collect();
        median(&mut times)
    };
    let none = with(None);
    let mut of_rules: Vec<(Duration, &str)> = RULES
        .iter()
        .map(|rule| (with(Some(rule.id)).saturating_sub(none), rule.id))
        .collect();
    of_rules.sort_unstable_by(|x, y| y.cmp(x));
    println!("slowest rules of the first board, each alone:");
    for (time, rule) in of_rules.into_iter().take(RULES_SHOWN) {
        println!("  {rule:<20} {:>5.0} ms", time.as_secs_f64() * 1e3);
    }
}
