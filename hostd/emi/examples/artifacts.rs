//! Writes all artifacts of a board into a folder, and how long each step takes: `artifacts BOARD FOLDER [RULES]`.
#![expect(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;
use std::{env, fs};

use emi::{Limits, RulesFile, Settings, SourceFile, kicad};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("name a board")?;
    let folder = arguments.next().ok_or("name a folder")?;
    let mut settings = Settings::default();
    if let Some(rules) = arguments.next() {
        settings = settings.with(RulesFile::read(&fs::read(rules)?)?);
    }
    let bytes = fs::read(&path)?;
    let begin = Instant::now();
    let mut board = kicad::read(&bytes, &Limits::default())?;
    let report = emi::check(&mut board, &settings, &())?;
    println!("{:8.1} ms  checked", begin.elapsed().as_secs_f64() * 1e3);
    let begin = Instant::now();
    let name = Path::new(&path).file_name().unwrap_or_default();
    let source = SourceFile::new(name.to_string_lossy(), &bytes, &report);
    let made = emi::artifacts(&board, &report, &source);
    println!("{:8.1} ms  made", begin.elapsed().as_secs_f64() * 1e3);
    fs::create_dir_all(&folder)?;
    for artifact in made {
        println!("{:10} bytes  {}", artifact.bytes.len(), artifact.name);
        fs::write(Path::new(&folder).join(artifact.name), artifact.bytes)?;
    }
    Ok(())
}
