//! Checks a board (`.kicad_pcb` or zip) and prints what is found, and how long it takes: `check BOARD [PROJECT] [RULES]`.
#![expect(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::time::Instant;
use std::{env, fs};

use emi::{Limits, Observer, RulesFile, Settings, kicad};

/// Prints when a stage begins.
struct Stages(Instant);

impl Observer for Stages {
    fn stage(&self, name: &'static str) {
        println!("{:8.1} ms  {name}", self.0.elapsed().as_secs_f64() * 1e3);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("name a board")?;
    let bytes = fs::read(&path)?;
    let stages = Stages(Instant::now());
    let opened = emi::open(&bytes, &Limits::default(), &stages)?;
    let mut board = opened.board;
    let mut settings = opened
        .rules
        .map_or_else(Settings::default, |rules| Settings::default().with(rules));
    for path in env::args().skip(2) {
        if path.ends_with(".kicad_pro") {
            kicad::Project::read(&fs::read(path)?)?.apply(&mut board);
        } else {
            let rules = RulesFile::read(&fs::read(path)?)?;
            rules.notes.iter().for_each(|note| println!("{note}"));
            settings = settings.with(rules);
        }
    }
    stages.stage("opened");
    println!(
        "{} layers, {} nets, {} pieces of tracks, {} vias, {} pads, {} fills with {} sides",
        board.layers.len(),
        board.nets.len(),
        board.tracks.len(),
        board.vias.len(),
        board.pads.len(),
        board.fills.len(),
        board
            .fills
            .iter()
            .map(|fill| fill.shape.points.len())
            .sum::<usize>(),
    );
    let report = emi::check(board, &settings, &stages)?;
    stages.stage("done");
    print!("{}", report.text());
    Ok(())
}
