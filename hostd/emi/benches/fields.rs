//! How long each solver takes, on one thread: `cargo bench -p emi --bench fields`.

#![allow(clippy::print_stdout, reason = "printing is what a bench is for")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use emi::fields::emission::{Clock, Driver, Setting, report};
use emi::fields::limits::table;
use emi::fields::line;
use emi::fields::radiation::{CurrentLoop, Site};
use emi::fields::section::{Above, Cache, Section};
use emi::fields::wire::{Scan, Wire};

fn main() {
    // `cargo test --benches` runs this too, to see that it still works.
    let quick = std::env::args().any(|argument| argument == "--test");
    let rounds = if quick { 1 } else { 20 };
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a pool of one thread starts")
        .install(|| {
            sections(rounds);
            cables(rounds);
            reports(rounds);
        });
}

/// Prints the best of several rounds.
fn time<T>(what: &str, rounds: u32, mut run: impl FnMut() -> T) {
    let best = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed()
        })
        .min()
        .unwrap_or(Duration::ZERO);
    println!("{what:<52} {:>10.1} µs", best.as_secs_f64() * 1e6);
}

fn sections(rounds: u32) {
    time("microstrip, closed form", rounds, || {
        line::microstrip(0.2e-3, 0.12e-3, 35e-6, 4.3)
    });
    let single = Section::microstrip(0.2e-3, 0.12e-3, 35e-6, 4.3);
    let mask = Above::Mask {
        thickness_m: 20e-6,
        permittivity: 3.5,
    };
    let masked = Section {
        above: mask,
        ..single.clone()
    };
    let coplanar = Section {
        coplanar_gap_m: Some(0.2e-3),
        ..single.clone()
    };
    let masked_pair = masked.clone().with_neighbour(0.15e-3);
    let poured = Section {
        coplanar_gap_m: Some(0.2e-3),
        ..masked.clone()
    };
    let poured_pair = Section {
        coplanar_gap_m: Some(0.2e-3),
        ..masked_pair.clone()
    };
    let pair = single.clone().with_neighbour(0.15e-3);
    let stripline = Section::stripline(0.15e-3, 0.4e-3, 18e-6, 4.0);
    let coupled = stripline.clone().with_neighbour(0.15e-3);
    for (what, section) in [
        ("microstrip, solver", &single),
        ("microstrip with mask", &masked),
        ("coplanar over a plane", &coplanar),
        ("microstrip with mask between pours", &poured),
        ("stripline, solver", &stripline),
        ("coupled microstrip", &pair),
        ("coupled microstrip with mask", &masked_pair),
        ("coupled microstrip with mask between pours", &poured_pair),
        ("coupled stripline", &coupled),
    ] {
        time(what, rounds, || section.solve());
    }
    for (what, section) in [
        ("odd mode, coupled microstrip", &pair),
        ("odd mode, with mask", &masked_pair),
        ("odd mode, with mask between pours", &poured_pair),
        ("odd mode, coupled stripline", &coupled),
    ] {
        time(what, rounds, || section.odd_unless(&|| false));
    }
    let cache = Cache::default();
    time("500 tracks of 50 geometries, cached", 1, || {
        for index in 0..500 {
            let width = 0.1e-3 + 2e-6 * f64::from(index % 50);
            let section = Section::microstrip(width, 0.12e-3, 35e-6, 4.3).with_neighbour(0.15e-3);
            let _ = black_box(cache.solve(&section));
        }
    });
}

fn cables(rounds: u32) {
    let scan = Scan::mast([0.0, 0.0], 3.0);
    for length in [1.0, 3.0] {
        let wire = Wire {
            points_m: vec![[-0.1, 0.0, 0.8], [0.0, 0.0, 0.8], [length, 0.0, 0.8]],
            radius_m: 1e-3,
            source: 1,
            loads: vec![],
            floor: true,
        };
        for megahertz in [30.0, 100.0, 300.0, 1000.0] {
            let Ok(solved) = wire.solve(megahertz * 1e6, &|| false) else {
                continue;
            };
            let nodes = solved.value.nodes_m.len();
            let what = format!("cable {length} m, {megahertz} MHz, {nodes} nodes");
            time(&what, rounds, || wire.solve(megahertz * 1e6, &|| false));
        }
        let solved = wire
            .solve(100e6, &|| false)
            .expect("the cable is short enough");
        time("scan of 312 places", rounds, || solved.value.peak(&scan));
    }
}

fn reports(rounds: u32) {
    let limits = table("cispr-32-b").expect("the table exists");
    let drivers: Vec<Driver> = (1..=20)
        .map(|index| Driver {
            name: format!("CLK{index}"),
            clock: Some(Clock {
                frequency_hz: 5e6 * f64::from(index),
                rise_s: 1e-9,
                duty: 0.5,
                volts: 3.3,
                load_ohm: 50.0,
                spread: None,
            }),
            loops: vec![
                CurrentLoop {
                    area_m2: 1e-5,
                    length_m: 0.03,
                };
                10
            ],
        })
        .collect();
    let setting = Setting {
        table: limits,
        distance_m: 3.0,
        site: Site::Reflecting,
        highest_hz: None,
    };
    time("report of 20 clocks up to 6 GHz", rounds, || {
        report(&drivers, &setting, &|| false)
    });
}
