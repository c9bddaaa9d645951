//! How long others wait while callers of a hostile plugin ask as fast as they can: callers of a first-party group, and of
//! another plugin. Slices with and without the hostile callers take turns. Who is refused a place asks again after a while,
//! so that crimes are measured, and not refusals; the row `ordinary` is the same without a crime.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tests::judge::Samples;

use crate::site::{Site, ms};

/// Callers of the hostile plugin at once.
const CALLERS: usize = 8;

const SLICE: Duration = Duration::from_secs(2);

const ROUNDS: usize = 4;

/// Time for an attack to build up.
const LEAD: Duration = Duration::from_millis(300);

/// Between two requests of an honest caller.
const PAUSE: Duration = Duration::from_millis(4);

/// Pause of a hostile caller that was refused a place.
const REFUSED_PAUSE: Duration = Duration::from_millis(50);

/// A version that fails five times in its first minute is off. This one has lived for longer.
const TRIAL: Duration = Duration::from_secs(62);

/// What is asked of how many times as long is allowed.
const AIM: f64 = 2.0;

const HOSTILE: &str = "bench.hostile";
const OTHER: &str = "bench.other";

/// What the hostile plugin is asked for. The first is no crime, for comparison.
const CRIMES: [(&str, &str); 9] = [
    ("ordinary", "/mark"),
    ("loop", "/crime/loop"),
    ("memory", "/crime/memory"),
    ("recursion", "/crime/recursion"),
    ("trap", "/crime/trap"),
    ("log", "/crime/log"),
    ("handles", "/crime/handles"),
    ("body", "/crime/body"),
    ("random", "/crime/random"),
];

pub(crate) fn run() {
    println!(
        "hostile: others beside {CALLERS} callers of a hostile plugin; p50 and p99 in ms, alone and beside; aim {AIM} times"
    );
    println!(
        "  {:<12}{:<12}{:>8}{:>8}{:>8}{:>8}{:>7}{:>7}{:>10}",
        "crime", "who", "p50", "p99", "p50", "p99", "p50 x", "p99 x", "crimes/s"
    );
    let site = Site::start();
    site.install_obedient(OTHER, "");
    site.install_obedient(HOSTILE, "memory_mib = 16");
    thread::sleep(TRIAL);
    for (name, path) in CRIMES {
        crime(&site, name, path);
    }
}

fn crime(site: &Site, name: &str, path: &str) {
    let paths = [
        "/api/bench/devices".to_owned(),
        format!("/api/x/{OTHER}/mark"),
    ];
    let (mut alone, mut beside) = (<[Samples; 2]>::default(), <[Samples; 2]>::default());
    let (crimes, mut time) = (AtomicU64::new(0), Duration::ZERO);
    honest(site, &paths, LEAD);
    for _ in 0..ROUNDS {
        join(&mut alone, honest(site, &paths, SLICE));
        let stop = AtomicBool::new(false);
        let began = Instant::now();
        thread::scope(|scope| {
            for _ in 0..CALLERS {
                scope.spawn(|| {
                    let mut kept = site.kept();
                    let request = kept.request("GET", &format!("/api/x/{HOSTILE}{path}"));
                    while !stop.load(Ordering::Relaxed) {
                        let status = kept.ask(&request).unwrap().status;
                        if matches!(status, 200 | 500 | 504) {
                            crimes.fetch_add(1, Ordering::Relaxed);
                        } else {
                            thread::sleep(REFUSED_PAUSE);
                        }
                    }
                });
            }
            thread::sleep(LEAD);
            join(&mut beside, honest(site, &paths, SLICE));
            stop.store(true, Ordering::Relaxed);
        });
        time += began.elapsed();
    }
    let rate = crimes.into_inner() as f64 / time.as_secs_f64();
    assert!(rate > 0.0, "no crime was committed");
    for (who, (alone, beside)) in ["first party", "plugin"]
        .iter()
        .zip(alone.iter().zip(&beside))
    {
        let at = |samples: &Samples, percent| ms(samples.percentile(percent).unwrap());
        let ratio = |percent| at(beside, percent) / at(alone, percent);
        println!(
            "  {name:<12}{who:<12}{:>8.2}{:>8.2}{:>8.2}{:>8.2}{:>7.1}{:>7.1}{rate:>10.0}",
            at(alone, 50),
            at(alone, 99),
            at(beside, 50),
            at(beside, 99),
            ratio(50),
            ratio(99),
        );
        assert_eq!(beside.errors(), 0, "an honest caller was refused");
    }
}

fn join(all: &mut [Samples; 2], more: [Samples; 2]) {
    for (all, more) in all.iter_mut().zip(more) {
        all.join(more);
    }
}

/// Ask for each path at a fixed pace.
fn honest(site: &Site, paths: &[String; 2], time: Duration) -> [Samples; 2] {
    thread::scope(|scope| {
        let callers = [0, 1].map(|which| {
            scope.spawn(move || {
                let mut kept = site.kept();
                let request = kept.request("GET", &paths[which]);
                let mut samples = Samples::default();
                let end = Instant::now() + time;
                while Instant::now() < end {
                    thread::sleep(PAUSE);
                    let asked = Instant::now();
                    match kept.ask(&request).unwrap().status {
                        200 => samples.waited(asked.elapsed()),
                        status => samples.failed(&status.to_string()),
                    }
                }
                samples
            })
        });
        callers.map(|caller| caller.join().unwrap())
    })
}
