//! First-party requests each second: without a plugin, with plugins that are loaded and idle, and of the build before, if
//! there is one.

use std::thread;
use std::time::{Duration, Instant};

use tests::Kept;

use crate::site::Site;

/// Names the program of the build before.
const BEFORE: &str = "PLUGINS_BEFORE";

const CALLERS: usize = 16;

const SLICE: Duration = Duration::from_secs(2);

const ROUNDS: usize = 7;

const PLUGINS: usize = 3;

const PATH: &str = "/api/bench/waveforms";

pub(crate) fn run() {
    println!("requests: GET {PATH} of a first-party group, {CALLERS} connections");
    let without = Site::start();
    let with = Site::start();
    for number in 0..PLUGINS {
        with.install_obedient(&format!("bench.idle-{number}"), "");
    }
    let before = std::env::var_os(BEFORE).map(|program| Site::of(program.as_ref()));
    let mut rows: Vec<(&str, &Site, Vec<f64>)> = vec![
        ("without a plugin", &without, Vec::new()),
        ("with three, idle", &with, Vec::new()),
    ];
    match &before {
        Some(before) => rows.push(("the build before", before, Vec::new())),
        None => println!("  {BEFORE} names no program: nothing to compare this build with"),
    }
    for _ in 0..ROUNDS {
        for (_, site, rates) in &mut rows {
            rates.push(rate(site));
        }
    }
    let mut first = None;
    for (name, _, rates) in &mut rows {
        rates.sort_by(f64::total_cmp);
        let middle = rates[rates.len() / 2];
        let base = *first.get_or_insert(middle);
        println!("  {name:<20}{middle:>9.0} requests/s  {:.2}", middle / base);
    }
}

fn rate(site: &Site) -> f64 {
    let end = Instant::now() + SLICE;
    let counts: u64 = thread::scope(|scope| {
        let work = |mut kept: Kept| {
            move || {
                let request = kept.request("GET", PATH);
                let mut count = 0_u64;
                while Instant::now() < end {
                    assert_eq!(kept.ask(&request).unwrap().status, 200);
                    count += 1;
                }
                count
            }
        };
        let callers: Vec<_> = (0..CALLERS)
            .map(|_| scope.spawn(work(site.kept())))
            .collect();
        callers
            .into_iter()
            .map(|caller| caller.join().unwrap())
            .sum()
    });
    counts as f64 / SLICE.as_secs_f64()
}
