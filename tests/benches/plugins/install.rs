//! From an operator's command, or from a package that comes into the watched folder, to the first answer, of a component that was
//! never compiled: the next version of the tested plugin, and the first of a plugin in each language.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use tests::Kept;
use tests::package::{self, ID};
use tests::server::binary;

use crate::languages::{first_route, languages};
use crate::site::{Site, median, ms};

const ROUNDS: usize = 11;

/// It should take no longer, in milliseconds.
const AIM_MS: f64 = 150.0;

/// Between two requests of who waits for a version: few, since they take processor time from the compiler.
const PAUSE: Duration = Duration::from_millis(4);

/// Longest wait for one.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the runtime of any language needs. They want nothing, so nobody has to approve.
const LIMITS: &str = "[limits]\nmemory_mib = 64\n";

pub(crate) fn run() {
    println!(
        "install: a component that was never compiled, to its first answer, in ms; aim {AIM_MS:.0} for Rust from the folder"
    );
    println!(
        "  {:<28}{:>8}{:>8}{:>8}{:>16}",
        "", "median", "best", "worst", "component, KB"
    );
    let own = package::component("guests/plugin.wasm").unwrap();
    let site = Site::start();
    // What all plugins stand on is made with the first of them.
    site.install(ID, &package(&site, 0));
    let commands = &mut rounds(&site, 1, command);
    row("rust (tests), by a command", commands, &own);
    let puts = &mut rounds(&site, 1 + ROUNDS, put);
    row("rust (tests)", puts, &own);
    for (language, component) in languages() {
        row(&language, &mut firsts(&component), &component);
    }
}

fn row(name: &str, times: &mut [Duration], component: &[u8]) {
    let middle = ms(median(times));
    println!(
        "  {name:<28}{middle:>8.0}{:>8.0}{:>8.0}{:>16}",
        ms(times[0]),
        ms(*times.last().unwrap()),
        component.len() / 1000,
    );
}

/// How long it takes until plugins that nobody knew answer, one after the other.
fn firsts(component: &[u8]) -> Vec<Duration> {
    let site = Site::start();
    let mut kept = site.kept();
    // The first tells the route, and makes what all plugins stand on.
    site.operator.install(&first(&site, component, 0)).unwrap();
    let route = first_route(&site, &id(0));
    let rounds = 1..=ROUNDS;
    let took = rounds.map(|number| {
        let folder = first(&site, component, number);
        let moved = drop_in(&site, &folder, &format!("{number}.tar"));
        let request = kept.request("GET", &format!("/api/x/{}{route}", id(number)));
        let end = Instant::now() + PATIENCE;
        while kept.ask(&request).unwrap().status == 404 {
            assert!(Instant::now() < end, "plugin {number} does not come");
            thread::sleep(PAUSE);
        }
        moved.elapsed()
    });
    took.collect()
}

fn id(number: usize) -> String {
    format!("bench.first-{number}")
}

/// The package of a plugin that nobody knows.
fn first(site: &Site, component: &[u8], number: usize) -> PathBuf {
    let folder = site.folder(&id(number));
    let component = unlike(component, number);
    package::write(&folder, &component, (&id(number), "1.0.0"), LIMITS).unwrap();
    folder
}

/// A component like this one with other bytes: it gets a custom section, which nothing reads.
fn unlike(component: &[u8], number: usize) -> Vec<u8> {
    const CUSTOM: u8 = 0;
    let name = format!("number-{number:03}");
    let length = u8::try_from(name.len()).unwrap();
    let mut unlike = component.to_vec();
    unlike.extend([CUSTOM, length + 1, length]);
    unlike.extend(name.bytes());
    unlike
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

fn put(site: &Site, number: usize) -> Instant {
    drop_in(site, &package(site, number), "plugin.tar")
}

/// Packs a folder and moves it below the watched one under this name; when it was moved.
fn drop_in(site: &Site, folder: &Path, name: &str) -> Instant {
    let packed = site.dropped(&format!(".{name}"));
    let status = Command::new(binary().unwrap())
        .args(["plugin", "pack"])
        .arg(folder)
        .arg("--output")
        .arg(&packed)
        .output()
        .unwrap()
        .status;
    assert!(status.success(), "it cannot be packed");
    let moved = Instant::now();
    std::fs::rename(&packed, site.dropped(name)).unwrap();
    moved
}

fn wait_for(kept: &mut Kept, version: &str) {
    let request = kept.request("GET", &format!("/api/x/{ID}/mark"));
    let end = Instant::now() + PATIENCE;
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

fn package(site: &Site, number: usize) -> PathBuf {
    let version = version(number);
    let folder = site.folder(&version);
    package::write_version(&folder, &version, "public = true", "").unwrap();
    folder
}
