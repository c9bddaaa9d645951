//! Mutated files are read or refused, and what is read is checked, without a panic, and without a process that grows.

use emi::fuzz;
use rayon::prelude::*;

use crate::sheet::{Sheet, Style, four_layers, pad, plate_with_hole, plated};

/// How many mutations each reader gets: `MUTATIONS`, or what takes a few seconds.
fn count() -> usize {
    std::env::var("MUTATIONS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(4_000)
}

/// How many mutations one random sequence makes. Each has its own seed, so that threads share them in any order.
const BATCH: usize = 250;

/// Most memory that this process may ever take, in KiB: a board within the bounds of the fuzz entry needs a few MiB.
const PEAK_KIB_MAX: usize = 1 << 20;

/// The most memory that this process has taken so far, in KiB, where the system tells.
fn peak_kib() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn sheet() -> Sheet {
    let slot = ((5.0, 5.0), (8.0, 12.0));
    let two = |a, b| vec![pad("1", (-0.5, 0.0), a), plated("2", (0.5, 0.0), b)];
    Sheet {
        size: Some((20.0, 15.0)),
        ..four_layers()
    }
    .fill(
        "GND",
        "In1.Cu",
        plate_with_hole((0.5, 0.5), (19.5, 14.5), slot),
    )
    .fill(
        "GND",
        "B.Cu",
        plate_with_hole((0.5, 0.5), (19.5, 14.5), slot),
    )
    .track("D+", "F.Cu", &[(2.0, 7.0), (12.0, 7.0)])
    .track("D-", "F.Cu", &[(2.0, 7.4), (12.0, 7.4)])
    .via("D+", (12.0, 7.0))
    .track("D+", "B.Cu", &[(12.0, 7.0), (18.0, 7.0)])
    .part("U1", "", (12.0, 10.0), two("+3V3", "GND"))
    .part("J1", "", (2.0, 12.0), two("+3V3", "D+"))
    .part("Y1", "", (9.0, 10.0), two("D-", "X"))
}

const PIECES: &[&[u8]] = &[
    b"(",
    b")",
    b"\"",
    b" nan ",
    b" inf ",
    b" -1999.9 ",
    b" 1e308 ",
    b" 0 ",
    b"(at 0 0)",
    b"\\",
    b"(net 1)",
    b"\xff",
    b" 1e-300 ",
    b"(pts)",
    b"custom",
    b"*.Cu",
    b"{",
    b"[",
    b": ",
    b"\n- ",
    b"&a ",
    b"*a",
    b"*\n",
    b"%",
    b"%LPC*%",
    b"D01*",
    b"D02*",
    b"D03*",
    b"G36*\n",
    b"G37*\n",
    b"X0",
    b"Y-1999000000",
    b"%SRX9Y9I0.1J0.1*%",
    b"R9X1.0\n",
    b"PK\x01\x02",
    b"(fill none)",
    b"(stroke (width 0.3))",
    b"(layer \"Inner\" (shape rect) (size 2 2))",
    b"%IC*%",
    b"4,1,3,0,0,1,0,1,1,0,1,0*",
    b"M71,LZ,00.0\n",
    b";Holesize 1. = 9.0 PLATED MM\n",
];

/// Calls `entry` with so many mutations of `valid`, on all threads.
fn mutate(valid: &[u8], seed: u64, count: usize, entry: impl Fn(&[u8]) + Sync) {
    (0..count.div_ceil(BATCH))
        .into_par_iter()
        .for_each(|batch| {
            let mut random = fastrand::Rng::with_seed(seed << 32 | batch as u64);
            for _ in 0..BATCH.min(count - batch * BATCH) {
                entry(&mutation(valid, &mut random));
            }
        });
    let peak = peak_kib().unwrap_or(0);
    assert!(peak < PEAK_KIB_MAX, "the process took {peak} KiB");
}

fn mutation(valid: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = valid.to_vec();
    for _ in 0..random.usize(1..6) {
        if bytes.is_empty() {
            break;
        }
        let at = random.usize(..bytes.len());
        match random.u8(0..6) {
            0 => bytes[at] = random.u8(..),
            1 => drop(bytes.remove(at)),
            2 => drop(bytes.splice(at..at, random.choice(PIECES).unwrap().iter().copied())),
            3 => bytes[at] = b'0' + random.u8(0..10),
            4 if random.u8(0..8) == 0 => bytes.truncate(at),
            _ => {
                let end = (at + random.usize(..120)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                let to = random.usize(..bytes.len());
                bytes.splice(to..to, part);
            }
        }
    }
    bytes
}

#[test]
fn boards() {
    let versions = [
        (1, 20_171_130),
        (2, 20_221_018),
        (3, 20_241_229),
        (4, 20_260_206),
    ];
    for (seed, version) in versions {
        mutate(
            sheet()
                .text(&Style {
                    version,
                    ..Style::default()
                })
                .as_bytes(),
            seed,
            count() / versions.len(),
            fuzz::board,
        );
    }
}

/// Copper that is drawn, pads of several forms, a stack-up given twice.
#[test]
fn boards_of_many_forms() {
    let valid = include_bytes!("../../testdata/forms.kicad_pcb");
    fuzz::board(valid);
    mutate(valid, 13, count(), fuzz::board);
}

#[test]
fn rules_files() {
    let valid = "version: 1\nboard:\n  max_frequency_hz: 1.6e9\n  epsilon_r: 4.3\nrules:\n  radiator: false\n  plane-gap:\n    \
                 severity: info\n    params: {min_crossing_mm: 2}\ngroups:\n  - match: \"DDR_DQ*\"\n    params: { byte_lane_ps: 6 }\n\
                 suppress:\n  - rule: edge-proximity\n    net: GND\n    reason: \"guard ring\"\nclocks:\n  - {net: SCK, hz: 1e6, rise_s: 1e-9, volts: 3, load_ohm: 50, spread: 0.01}\n\
                 cables:\n  - {connector: J1, length_m: 1.5, shielded: true}\nstandard: fcc-15.109\nclass: B\ndistance_m: 3\n";
    mutate(valid.as_bytes(), 5, count(), fuzz::rules);
}

#[test]
fn stored_reports() {
    mutate(
        sheet().report("").json().as_bytes(),
        7,
        count(),
        fuzz::stored,
    );
}

#[test]
fn projects() {
    let valid = r#"{"net_settings": {"classes": [{"name": "pwr", "nets": ["+5F"]}],
        "netclass_patterns": [{"netclass": "USB", "pattern": "/usb/*"}], "netclass_assignments": {"SDA": ["slow"]}}}"#;
    mutate(valid.as_bytes(), 6, count(), fuzz::project);
}

#[test]
fn parameters() {
    let valid = r#"{"clocks": [{"net": "SCK", "hz": 25e6, "rise_s": 1e-9, "volts": 3.3, "load_ohm": 50, "spread": 0.01}],
        "cables": [{"connector": "J1", "length_m": 1, "shielded": true, "common_mode_a": 5e-6}],
        "standard": "fcc-15.109", "class": "A", "distance_m": 10, "max_frequency_hz": 2e9, "epsilon_r": 4.4}"#;
    mutate(valid.as_bytes(), 7, count(), fuzz::params);
}

#[test]
fn probes() {
    let mut valid =
        "% time-domain voltage integration by openEMS v0.0.35\n% t/s\tvoltage\n".to_owned();
    for index in 0..30 {
        valid += &format!("{}e-11\t{:e}\n", index, (f64::from(index) * 0.7).sin());
    }
    mutate(valid.as_bytes(), 8, count(), fuzz::probes);
}

/// A file of the set that mutations begin with.
fn of_set(name: &str) -> &'static [u8] {
    let file = fuzz::SET.into_iter().find(|(other, _)| *other == name);
    file.unwrap().1
}

#[test]
fn gerbers() {
    mutate(of_set("a.gtl"), 7, count(), fuzz::gerber);
    mutate(of_set("a.gbl"), 8, count(), fuzz::gerber);
}

#[test]
fn drill_files() {
    mutate(of_set("a.drl"), 9, count(), fuzz::excellon);
    let allegro = b";Holesize 1. = 28.0 Tolerance = +0.0/-0.0 PLATED MILS Quantity = 2\n%\nG90\nT01\nX002000Y-002000\nM30\n";
    mutate(allegro, 14, count() / 2, fuzz::excellon);
}

#[test]
fn netlists() {
    mutate(of_set("a.ipc"), 10, count(), fuzz::netlist);
}

#[test]
fn job_files() {
    mutate(of_set("a.gbrjob"), 11, count(), fuzz::job);
}

#[test]
fn zips() {
    mutate(&fuzz::zipped(&fuzz::SET), 12, count(), fuzz::opened);
}
