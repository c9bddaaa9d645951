//! What tests run inside a jail that a shell cannot do: using resources up, and staying.

use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The argument that makes this program do one of these things.
pub(crate) const MARK: &str = "inside";

/// Does the named thing and prints the result.
pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    match arguments {
        ["memory", most_mib] => memory(most_mib.parse().unwrap()),
        ["processes", most] => processes(most.parse().unwrap()),
        ["fill", path] => fill(path),
        ["files", folder] => files(folder),
        ["open"] => open(),
        ["spin", threads] => spin(threads.parse().unwrap()),
        ["orphans", count] => orphans(count.parse().unwrap()),
        ["hold", ..] => hold(),
        ["disk", how] => crate::gauge::hold(how),
        ["relay", bytes] => crate::relay::talk(bytes.parse().unwrap()),
        ["web-socket"] => crate::relay::talk_by_web_socket(),
        other => panic!("nothing like {other:?}"),
    }
    ExitCode::SUCCESS
}

/// Takes memory, a mebibyte at a time, and prints how much it got.
fn memory(most_mib: usize) {
    let mut held: Vec<Vec<u8>> = Vec::new();
    while held.len() < most_mib {
        let mut block = Vec::new();
        if block.try_reserve_exact(1 << 20).is_err() {
            break;
        }
        block.resize(1 << 20, 1);
        held.push(block);
    }
    println!("{}", held.len());
}

/// Starts processes that stay, and prints how many it could start.
fn processes(most: usize) {
    let mut started = Vec::new();
    while started.len() < most {
        let child = Command::new("sleep")
            .arg("600")
            .stdin(Stdio::null())
            .spawn();
        match child {
            Ok(child) => started.push(child),
            Err(_) => break,
        }
    }
    println!("{}", started.len());
}

/// Writes to a file until something refuses, and prints how many bytes there are.
fn fill(path: &str) {
    let mut file = File::create(path).unwrap();
    let block = vec![1; 1 << 16];
    let error = loop {
        if let Err(error) = file.write_all(&block) {
            break error;
        }
    };
    println!(
        "{} {}",
        file.metadata().unwrap().len(),
        error.raw_os_error().unwrap()
    );
}

/// Makes empty files until something refuses, and prints how many there are.
fn files(folder: &str) {
    let mut count = 0;
    while File::create(format!("{folder}/{count}")).is_ok() {
        count += 1;
    }
    println!("{count}");
}

/// Opens a file until something refuses, and prints how often it could be opened.
fn open() {
    let mut opened = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        opened.push(file);
    }
    println!("{}", opened.len());
}

/// Computes for a second on this many threads, and prints how many milliseconds of processor time
/// that took.
fn spin(threads: usize) {
    let until = Instant::now() + Duration::from_secs(1);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| while Instant::now() < until {});
        }
    });
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    println!("{}", spent.tv_sec * 1000 + spent.tv_nsec / 1_000_000);
}

/// Leaves processes behind, outside its session.
fn orphans(count: usize) {
    for _ in 0..count {
        let child = Command::new("setsid")
            .args(["--fork", "sleep", "600"])
            .status();
        assert!(child.unwrap().success());
    }
    // For a moment after its parent has gone, each is still another program.
    let mut sleeping = 0;
    while sleeping < count {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let is_asleep = |entry: &fs::DirEntry| {
            let arguments = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
            arguments.starts_with("sleep")
        };
        sleeping = processes.filter(is_asleep).count();
    }
    println!("{sleeping}");
}

/// Prints that it runs, and stays.
fn hold() {
    println!("holding");
    loop {
        std::thread::park();
    }
}
