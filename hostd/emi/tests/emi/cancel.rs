//! A check that is stopped ends at once, wherever it is; one that goes on says how far it is.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use emi::fields::emission::{Clock, Driver, EmissionError, Setting, report};
use emi::fields::limits::table;
use emi::fields::radiation::{CurrentLoop, Site};
use emi::fields::section::{Cache, Section, SectionError};
use emi::fields::wire::{Scan, Wire, WireError};
use emi::{Cancelled, Observer};

use crate::sheet::{Sheet, four_layers, pad, plate_with_hole, rules_of};

/// Says stop from some question on, and counts the questions after it.
struct Stopping {
    after: usize,
    asked: AtomicUsize,
}

impl Stopping {
    fn after(after: usize) -> Self {
        Self {
            after,
            asked: AtomicUsize::new(0),
        }
    }

    fn ask(&self) -> bool {
        self.after <= self.asked.fetch_add(1, Ordering::Relaxed)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Observer for Stopping {
    fn is_cancelled(&self) -> bool {
        self.ask()
    }
}

/// Everything that takes long: inner layers that the solver solves, a clock with many harmonics, a cable.
fn busy() -> Sheet {
    let slot = ((28.0, 10.0), (33.0, 30.0));
    let jack = vec![pad("1", (0.0, 0.0), "SCK"), pad("2", (0.0, 2.0), "GND")];
    let mut sheet = Sheet {
        gaps: vec![0.2, 1.035, 0.2],
        ..four_layers()
    };
    sheet = sheet
        .fill(
            "GND",
            "F.Cu",
            plate_with_hole((0.5, 0.5), (59.5, 39.5), slot),
        )
        .plane("GND", "In2.Cu")
        .part("J1", "", (50.0, 20.0), jack);
    for (index, net) in ["SCK", "A", "B", "C", "D_P", "D_N"].into_iter().enumerate() {
        let y = 12.0 + 0.5 * index as f64;
        let width = 0.1 + 0.02 * index as f64;
        sheet = sheet.track_of(width, net, "In1.Cu", &[(10.0, y), (50.0, y)]);
    }
    sheet
}

const RULES: &str = "clocks: [{net: SCK, hz: 5e6, rise_s: 1e-9, volts: 3.3, load_ohm: 50}]\n\
                     cables: [{connector: J1, length_m: 0.3}]";

/// More questions than these after the first "stop" would mean that work went on: each of the rules asks once or twice more.
const LATE_MAX: usize = 150;

#[test]
fn a_check_ends_promptly_after_any_question() {
    let (sheet, settings) = (busy(), rules_of(RULES));
    let run = |stopping: &Stopping| emi::check(sheet.board(), &settings, stopping);
    let never = Stopping::after(usize::MAX);
    run(&never).unwrap();
    let all = never.asked();
    // Rows of equations, places of the antenna, lines of the spectrum: work comes in small pieces.
    assert!(all > 10_000, "asked only {all} times");
    let nearly_all = all - 2 * LATE_MAX;
    let places = (0..200).chain((200..nearly_all).step_by(nearly_all / 60));
    for after in places {
        let stopping = Stopping::after(after);
        assert_eq!(run(&stopping).unwrap_err(), Cancelled, "after {after}");
        let late = stopping.asked() - after;
        assert!(late <= LATE_MAX, "asked {late} times after {after}");
    }
}

fn section() -> Section {
    Section::microstrip(0.2e-3, 0.12e-3, 35e-6, 4.3).with_neighbour(0.15e-3)
}

/// How a solver ended.
type End = Result<(), &'static str>;

fn end<T, E>(found: Result<T, E>, is_stopped: impl Fn(&E) -> bool) -> End {
    found.map(drop).map_err(|error| match is_stopped(&error) {
        true => "stopped",
        false => "failed",
    })
}

fn solve(stop: &Stopping) -> End {
    let found = section().solve_unless(&|| stop.ask());
    end(found, |error| *error == SectionError::Stopped)
}

fn solve_with_cache(stop: &Stopping) -> End {
    let found = Cache::default().solve_unless(&section(), &|| stop.ask());
    end(found, |error| *error == SectionError::Stopped)
}

fn sweep(stop: &Stopping) -> End {
    let wire = Wire {
        points_m: vec![[-0.1, 0.0, 0.8], [0.0, 0.0, 0.8], [0.5, 0.0, 0.8]],
        radius_m: 1e-3,
        source: 1,
        loads: Vec::new(),
        floor: true,
    };
    let scan = Scan::mast([0.0, 0.0], 3.0);
    let found = wire.sweep(&[100e6], &scan, &|| stop.ask());
    end(found, |error| *error == WireError::Stopped)
}

fn spectrum(stop: &Stopping) -> End {
    let clock = Clock {
        frequency_hz: 10e6,
        rise_s: 1e-9,
        duty: 0.4,
        volts: 3.3,
        load_ohm: 50.0,
        spread: None,
    };
    let drivers = [Driver {
        name: "CLK".to_owned(),
        clock: Some(clock),
        loops: vec![CurrentLoop {
            area_m2: 1e-5,
            length_m: 0.03,
        }],
    }];
    let setting = Setting {
        table: table("cispr-32-b").unwrap(),
        distance_m: 3.0,
        site: Site::Reflecting,
        highest_hz: None,
    };
    let found = report(&drivers, &setting, &|| stop.ask());
    end(found, |error| *error == EmissionError::Stopped)
}

#[test]
fn each_solver_ends_at_the_question_that_says_so() {
    let runs: [fn(&Stopping) -> End; 4] = [solve, solve_with_cache, sweep, spectrum];
    for (index, run) in runs.into_iter().enumerate() {
        let never = Stopping::after(usize::MAX);
        assert_eq!(run(&never), Ok(()));
        let all = never.asked();
        assert!(all >= 100, "{index} asked only {all} times");
        for after in (0..all).step_by(1 + all / 100) {
            let stopping = Stopping::after(after);
            assert_eq!(
                run(&stopping),
                Err("stopped"),
                "{index} after {after} of {all}"
            );
            assert!(stopping.asked() - after <= 4 * rayon::current_num_threads());
        }
    }
    // What was stopped is not kept as an answer.
    let cache = Cache::default();
    assert!(cache.solve_unless(&section(), &|| true).is_err() && cache.is_empty());
    assert!(cache.solve(&section()).is_ok());
}

#[derive(Default)]
struct Told(Mutex<(Vec<&'static str>, Vec<u8>)>);

impl Observer for Told {
    fn stage(&self, name: &'static str) {
        self.0.lock().unwrap().0.push(name);
    }

    fn progress(&self, percent: u8) {
        self.0.lock().unwrap().1.push(percent);
    }
}

#[test]
fn progress_rises_to_a_hundred() {
    let told = Told::default();
    emi::check(busy().board(), &rules_of(RULES), &told).unwrap();
    let (stages, percents) = told.0.into_inner().unwrap();
    assert_eq!(stages, ["nets", "copper", "emission", "rules", "report"]);
    assert!(percents.is_sorted_by(|x, y| x < y), "{percents:?}");
    assert_eq!((percents[0], percents.last()), (0, Some(&100)));
    assert!(percents.len() > 15, "{percents:?}");
}
