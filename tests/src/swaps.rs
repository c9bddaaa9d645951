//! Many requests while versions of a plugin follow one another: every request has an answer, and every answer is one
//! version's, of those that served while it was on its way.
//!
//! An answer names its version three times: twice from the component (in a header and in its body), and once from the
//! manifest, by way of the configuration that the host gives it.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking"
)]

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::package::{self, ID};
use crate::{Kept, Line, Operator, PodSim, Server, Socket};

/// Callers at once, besides those who upload and those with sockets.
pub const CALLERS: usize = 64;

/// Callers whose bodies arrive in two halves.
const UPLOADERS: usize = 4;

/// Bytes of such a body.
const UPLOAD_BYTES: usize = 512 << 10;

/// Between the halves of a body.
const UPLOAD_PAUSE: Duration = Duration::from_millis(3);

/// Sockets that stay open.
const SOCKETS: usize = 2;

/// A line that echoes.
const ECHO: &str = "rx=10&tx=9";

/// The versions that take turns.
const VERSIONS: [&str; 2] = ["1.0.0", "2.0.0"];

/// All callers are one user, who may not have all places.
const LIMITS: &str = "in_flight = 64\nmemory_mib = 16";
const WANTS: &str = "public = true";
const CONFIG: &str = "[http]\nrate_per_s = 0\n[plugins]\ninstances_max = 256\n";

/// How much.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Answers, at least.
    pub requests: u64,
    pub swaps: usize,
}

/// What became of it.
#[derive(Debug)]
pub struct Report {
    pub answers: u64,
    pub uploads: u64,
    /// Lines that came back over sockets.
    pub echoes: u64,
    pub took: Duration,
    /// Between an operator's order and its end, for versions that are installed and for those that come back.
    pub installs: Vec<Duration>,
    pub returns: Vec<Duration>,
    /// From when a version was ready to be called until it was the one that is, as the server's log says.
    pub exchanges: Vec<Duration>,
}

/// A server with both versions compiled, and a pod whose line echoes.
struct Site {
    _pod: PodSim,
    dir: TempDir,
    server: Server,
    operator: Operator,
    device: String,
}

/// What all callers know of the swaps, each of which has a number from 1 on.
#[derive(Default)]
struct Course {
    begun: AtomicUsize,
    done: AtomicUsize,
    answers: AtomicU64,
    uploads: AtomicU64,
    echoes: AtomicU64,
    stop: AtomicBool,
}

/// Carry out a plan. Panics when a request is lost, or an answer is not what one version says.
#[must_use]
pub fn run(plan: Plan) -> Report {
    let site = Site::start();
    let course = Course::default();
    let began = Instant::now();
    let (mut installs, mut returns) = (Vec::new(), Vec::new());
    thread::scope(|scope| {
        // If anything panics, the others end, too.
        let guarded = |work: fn(&Site, &Course)| {
            let (site, course) = (&site, &course);
            scope.spawn(move || {
                let _end = End(course);
                work(site, course);
            });
        };
        (0..CALLERS).for_each(|_| guarded(call));
        (0..UPLOADERS).for_each(|_| guarded(upload));
        (0..SOCKETS).for_each(|_| guarded(echo));
        let _end = End(&course);
        for swap in 1..=plan.swaps {
            let due = plan.requests * swap as u64 / (plan.swaps as u64 + 1);
            course.wait_for(due);
            if course.stop.load(Ordering::Relaxed) {
                return;
            }
            course.begun.store(swap, Ordering::SeqCst);
            let ordered = Instant::now();
            if swap % 2 == 1 {
                site.operator.install(&site.package(VERSIONS[1])).unwrap();
                installs.push(ordered.elapsed());
            } else {
                site.operator.roll_back(ID).unwrap();
                returns.push(ordered.elapsed());
            }
            course.done.store(swap, Ordering::SeqCst);
        }
        course.wait_for(plan.requests);
    });
    let log = site.server.log();
    let exchanges = exchanges(&log);
    Report {
        answers: course.answers.into_inner(),
        uploads: course.uploads.into_inner(),
        echoes: course.echoes.into_inner(),
        took: began.elapsed(),
        installs,
        returns,
        // The first ones are those of the set-up.
        exchanges: exchanges.skip(VERSIONS.len()).collect(),
    }
}

/// What a server's log says of exchanges.
fn exchanges(log: &str) -> impl Iterator<Item = Duration> {
    let told = log.lines().filter_map(|line| {
        let (_, after) = line.split_once("exchange_us")?;
        let digits = after.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = digits.find(|c: char| !c.is_ascii_digit());
        digits[..end.unwrap_or(digits.len())].parse().ok()
    });
    told.map(Duration::from_micros)
}

/// Everybody stops when this is dropped.
struct End<'a>(&'a Course);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

impl Site {
    fn start() -> Self {
        let pod = PodSim::start(&["--jumper", "9=10"]).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("hostd.toml");
        let device = format!(
            "[[devices]]\nname = \"net\"\naddress = \"tcp:{}\"\n",
            pod.address
        );
        std::fs::write(&config, format!("{CONFIG}{device}")).unwrap();
        let with = ["--config", config.to_str().unwrap()];
        let server = Server::demo_in_with(dir.path(), &with).unwrap();
        let listed = server.client().get("/api/bench/devices").unwrap();
        let listed = listed.expect(200);
        let mut devices = listed["devices"].as_array().unwrap().iter();
        let device = devices.find(|device| device["name"] == "net").unwrap();
        let site = Self {
            operator: Operator::on(&dir.path().join("data")),
            device: device["id"].as_str().unwrap().to_owned(),
            _pod: pod,
            dir,
            server,
        };
        for version in VERSIONS.iter().rev() {
            package::write_version(&site.package(version), version, WANTS, LIMITS).unwrap();
            site.operator.install(&site.package(version)).unwrap();
        }
        site.operator.approve(ID).unwrap();
        site
    }

    fn package(&self, version: &str) -> PathBuf {
        self.dir.path().join(format!("package-{version}"))
    }

    fn kept(&self) -> Kept {
        Kept::open(&self.server.url, &self.key()).unwrap()
    }

    fn key(&self) -> String {
        format!("ApiKey {}", self.server.api_key)
    }
}

impl Course {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// Wait for so many answers.
    fn wait_for(&self, answers: u64) {
        while self.answers.load(Ordering::Relaxed) < answers && self.goes_on() {
            thread::sleep(Duration::from_micros(200));
        }
    }

    /// Whether an answer of this version may have come for a request that was sent when `done` swaps were over.
    fn check(&self, done: usize, version: &str) {
        let begun = self.begun.load(Ordering::SeqCst);
        let mut served = (done..=begun).map(|swap| VERSIONS[swap % 2]);
        assert!(
            served.any(|one| one == version),
            "version {version} answered a request from between the swaps {done} and {begun}"
        );
    }
}

/// The one version that an answer names.
fn version(heard: &crate::kept::Heard<'_>) -> String {
    assert_eq!(heard.status, 200, "{}", heard.text());
    let release = heard.header("x-release").unwrap();
    let mark = package::mark(release);
    assert_eq!(heard.header("x-mark"), Some(mark.as_str()), "a mix");
    release.to_owned()
}

fn call(site: &Site, course: &Course) {
    let mut kept = site.kept();
    let request = kept.request("GET", &format!("/api/x/{ID}/mark"));
    while course.goes_on() {
        let done = course.done.load(Ordering::SeqCst);
        let heard = kept.ask(&request).unwrap();
        let version = version(&heard);
        let body: Value = serde_json::from_slice(heard.body).unwrap();
        assert_eq!(body["mark"], package::mark(&version), "a mix");
        assert_eq!(body["release"], version, "a mix");
        course.check(done, &version);
        course.answers.fetch_add(1, Ordering::Relaxed);
    }
}

fn upload(site: &Site, course: &Course) {
    let mut kept = site.kept();
    let head = kept.head_with_body("POST", &format!("/api/x/{ID}/echo"), UPLOAD_BYTES);
    let mut body = vec![0_u8; UPLOAD_BYTES];
    while course.goes_on() {
        let number = course.uploads.fetch_add(1, Ordering::Relaxed);
        body.fill(number.to_le_bytes()[0]);
        let done = course.done.load(Ordering::SeqCst);
        kept.send(&head).unwrap();
        kept.send(&body[..UPLOAD_BYTES / 2]).unwrap();
        thread::sleep(UPLOAD_PAUSE);
        kept.send(&body[UPLOAD_BYTES / 2..]).unwrap();
        let heard = kept.hear().unwrap();
        course.check(done, &version(&heard));
        assert!(heard.body == body, "another body came back");
    }
}

/// A line of a device that first-party endpoints keep open.
fn echo(site: &Site, course: &Course) {
    let path = format!("/api/bench/devices/{}/uart/ws?{ECHO}", site.device);
    let key = site.key();
    let opened = Socket::open(&site.server.url, &path, &[("authorization", &key)]);
    let mut line = Line::new(opened.unwrap().socket());
    let me = format!("{:?}", thread::current().id());
    let mut number = 0_u64;
    while course.goes_on() {
        number += 1;
        let text = format!("<{me} {number}>");
        line.write(text.as_bytes());
        // The other one's lines come here, too.
        line.until(text.as_bytes());
        assert!(line.told.iter().all(|told| told["type"] != "overrun"));
        course.echoes.fetch_add(1, Ordering::Relaxed);
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let took = self.took.as_secs_f64();
        let Self {
            answers,
            uploads,
            echoes,
            ..
        } = self;
        writeln!(
            f,
            "{answers} answers, {uploads} uploads and {echoes} lines over sockets in {took:.1} s; none lost, none a mix"
        )?;
        for (name, times) in [
            ("install", &self.installs),
            ("rollback", &self.returns),
            ("exchange", &self.exchanges),
        ] {
            let mut times = times.clone();
            times.sort_unstable();
            let ms = |percent: usize| {
                let at = (times.len() * percent).div_ceil(100).max(1) - 1;
                times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3)
            };
            writeln!(
                f,
                "{name}: {} times, {:.1} ms median, {:.1} p90, {:.1} most",
                times.len(),
                ms(50),
                ms(90),
                ms(100)
            )?;
        }
        Ok(())
    }
}
