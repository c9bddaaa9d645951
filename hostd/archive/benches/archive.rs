//! `cargo xtask bench archive`: what the server does with a job's archive, compared with the system's `tar
//! xzf`.
//!
//! The archive is a gzip tar of 50 MB, made of source-like text and of objects that hardly compress, some two
//! thousand files. *Ours* is both passes, inspecting and unpacking, one after the other; *tar* is the
//! program, including its start. They alternate, so that a busy machine slows both alike, and each round
//! unpacks into a new folder, which is removed outside the measured time. *Zip* is the same files as a zip,
//! compared with `unzip` where that is installed.
//!
//! Options: `--rounds N` (default 9), `--mb N` compressed (default 50).

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints its figures and fails by panicking"
)]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use archive::{Limits, inspect, unpack};
use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::{Mode, OFlags};
use zip::write::{SimpleFileOptions, ZipWriter};

fn main() {
    let rounds = option("--rounds", 9);
    let bytes = option("--mb", 50) as u64 * 1_000_000;
    let folder = tempfile::tempdir().unwrap();
    let tar = folder.path().join("job.tar.gz");
    let zip = folder.path().join("job.zip");
    let (files, unpacked) = write_archives(&tar, &zip, bytes);
    let size = |path: &Path| path.metadata().unwrap().len() / 1_000_000;
    println!(
        "{files} files, {} MB unpacked; tar.gz {} MB, zip {} MB; {rounds} rounds",
        unpacked / 1_000_000,
        size(&tar),
        size(&zip)
    );
    compare("tar xzf", &tar, folder.path(), rounds, |into| {
        let mut tool = Command::new("tar");
        tool.arg("xzf").arg(&tar).arg("-C").arg(into);
        tool
    });
    compare("unzip", &zip, folder.path(), rounds, |into| {
        let mut tool = Command::new("unzip");
        tool.arg("-q").arg(&zip).arg("-d").arg(into);
        tool
    });
}

fn option(name: &str, default: usize) -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    let given = arguments.nth(1);
    given.map_or(default, |number| number.parse().unwrap())
}

/// Writes the same files into both archives, until the first has `packed_max` bytes.
fn write_archives(tar: &Path, zip: &Path, packed_max: u64) -> (usize, usize) {
    let gzip = GzEncoder::new(File::create(tar).unwrap(), Compression::default());
    let mut tar = tar::Builder::new(gzip);
    let mut zip = ZipWriter::new(File::create(zip).unwrap());
    let mut random = fastrand::Rng::with_seed(12);
    let (mut files, mut unpacked) = (0, 0);
    while tar
        .get_ref()
        .get_ref()
        .metadata()
        .is_ok_and(|about| about.len() < packed_max)
    {
        let is_text = files % 4 != 0;
        let (name, content) = if is_text {
            (format!("src/m{}/f{files}.c", files % 50), text(&mut random))
        } else {
            (format!("lib/o{files}.o"), object(&mut random))
        };
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        header.set_cksum();
        tar.append_data(&mut header, &name, &*content).unwrap();
        zip.start_file(&name, SimpleFileOptions::default()).unwrap();
        zip.write_all(&content).unwrap();
        files += 1;
        unpacked += content.len();
    }
    tar.into_inner().unwrap().finish().unwrap();
    zip.finish().unwrap();
    (files, unpacked)
}

fn text(random: &mut fastrand::Rng) -> Vec<u8> {
    let words = [
        "uint32_t",
        "return",
        "static",
        "GPIO_SetPin",
        "if (",
        ") {\n",
        "0x4002",
        ";\n",
    ];
    let mut text = String::new();
    while text.len() < 24_000 {
        text.push_str(words[random.usize(..words.len())]);
        text.push_str(&random.u16(..).to_string());
    }
    text.into_bytes()
}

fn object(random: &mut fastrand::Rng) -> Vec<u8> {
    (0..60_000).map(|_| random.u8(..200)).collect()
}

/// Lets both unpack `archive` in turns.
fn compare(
    tool_name: &str,
    archive: &Path,
    folder: &Path,
    rounds: usize,
    tool: impl Fn(&Path) -> Command,
) {
    let (mut inspecting, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (first, both) = in_new_folder(folder, |into| passes(archive, into));
        inspecting.push(first);
        ours.push(both);
        let time = in_new_folder(folder, |into| {
            let began = Instant::now();
            let status = tool(into).stdin(Stdio::null()).status();
            status
                .is_ok_and(|status| status.success())
                .then(|| began.elapsed())
        });
        let Some(time) = time else {
            println!("{tool_name} is not installed");
            return;
        };
        theirs.push(time);
    }
    let (inspecting, ours, theirs) = (median(inspecting), median(ours), median(theirs));
    println!(
        "{tool_name}: {} ms; ours, both passes: {} ms (the first {} ms); ratio {:.2}",
        theirs.as_millis(),
        ours.as_millis(),
        inspecting.as_millis(),
        ours.as_secs_f64() / theirs.as_secs_f64()
    );
}

/// The time of the first pass, and of both.
fn passes(archive: &Path, into: &Path) -> (Duration, Duration) {
    let limits = Limits::default();
    let began = Instant::now();
    inspect(File::open(archive).unwrap(), &limits, Some("ci.yaml")).unwrap();
    let first = began.elapsed();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = rustix::fs::open(into, flags, Mode::empty()).unwrap();
    unpack(File::open(archive).unwrap(), &limits, dir).unwrap();
    (first, began.elapsed())
}

fn in_new_folder<T>(folder: &Path, work: impl FnOnce(&Path) -> T) -> T {
    let into = folder.join("into");
    std::fs::create_dir(&into).unwrap();
    let result = work(&into);
    std::fs::remove_dir_all(&into).unwrap();
    result
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
