//! From an operator's command, or from a package that comes into the watched folder, to the first answer, of a version that was
//! never compiled.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use tests::Kept;
use tests::package::{self, ID};
use tests::server::binary;

use crate::site::{Site, median, ms};

const ROUNDS: usize = 11;

/// It should take no longer, in milliseconds.
const AIM_MS: f64 = 150.0;

/// Between two requests of who waits for a version.
const PAUSE: Duration = Duration::from_micros(500);

pub(crate) fn run() {
    println!(
        "install: a component of Rust that was never compiled, to its first answer; aim {AIM_MS:.0} ms"
    );
    let site = Site::start();
    // What all plugins stand on is made with the first of them.
    site.install(ID, &package(&site, 0));
    row("by a command", &mut rounds(&site, 1, command));
    row("from the folder", &mut rounds(&site, 1 + ROUNDS, put));
}

fn row(name: &str, times: &mut [Duration]) {
    let middle = ms(median(times));
    println!(
        "  {name:<20}{middle:.0} ms, {:.0} best, {:.0} worst",
        ms(times[0]),
        ms(*times.last().unwrap())
    );
}

/// How long it takes until the versions from this number on answer, one after the other.
fn rounds(site: &Site, first: usize, begin: fn(&Site, usize) -> Instant) -> Vec<Duration> {
    let mut kept = site.kept();
    let rounds = first..first + ROUNDS;
    let took = rounds.map(|number| {
        let began = begin(site, number);
        wait_for(&mut kept, &version(number));
        began.elapsed()
    });
    took.collect()
}

fn command(site: &Site, number: usize) -> Instant {
    let folder = package(site, number);
    let ordered = Instant::now();
    site.operator.install(&folder).unwrap();
    ordered
}

/// Move a packed version into the folder.
fn put(site: &Site, number: usize) -> Instant {
    let packed = site.dropped(&format!(".{number}.tar"));
    let status = Command::new(binary().unwrap())
        .args(["plugin", "pack"])
        .arg(package(site, number))
        .arg("--output")
        .arg(&packed)
        .output()
        .unwrap()
        .status;
    assert!(status.success(), "it cannot be packed");
    let moved = Instant::now();
    std::fs::rename(&packed, site.dropped("plugin.tar")).unwrap();
    moved
}

fn wait_for(kept: &mut Kept, version: &str) {
    let request = kept.request("GET", &format!("/api/x/{ID}/mark"));
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let heard = kept.ask(&request).unwrap();
        if heard.header("x-release") == Some(version) {
            return;
        }
        assert!(Instant::now() < end, "version {version} does not come");
        thread::sleep(PAUSE);
    }
}

fn version(number: usize) -> String {
    format!("1.{}.{}", number / 10, number % 10)
}

fn package(site: &Site, number: usize) -> std::path::PathBuf {
    let version = version(number);
    let folder = site.folder(&version);
    package::write_version(&folder, &version, "public = true", "").unwrap();
    folder
}
