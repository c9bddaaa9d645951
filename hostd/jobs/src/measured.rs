//! What the steps of a run measure, each with its limits.

use std::fs;
use std::io;
use std::path::Path;

use evidence::measurement::{
    COUNT_MAX, FILE_BYTES_MAX, Measurement, NAME_CHARS_MAX, VALUE_MAX, WrongLine, read,
};
use pipeline::limits::{DECIMAL_MAX, LABEL_CHARS_MAX};

use crate::attempt::Attempt;
use crate::below;
use crate::outcome::{Failure, Outcome};
use crate::results::StepEnd;
use crate::script::OUT;
use crate::tree;

/// The file in `$HOSTD_OUT` in which a program leaves what it measured. It is taken away behind each step.
pub(crate) const FILE: &str = "measurements.jsonl";

const _: () = assert!(LABEL_CHARS_MAX == NAME_CHARS_MAX, "of steps as of lines");
const _: () = assert!(DECIMAL_MAX == VALUE_MAX, "of steps as of lines");

/// What a run has measured so far.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    count: usize,
    /// The board that a step named last.
    serial: Option<String>,
}

impl Measured {
    /// Takes what a program left behind that has ended.
    pub(crate) fn take(&mut self, attempt: &Attempt<'_>, end: &mut StepEnd) {
        if end.outcome == Outcome::Cancelled {
            return;
        }
        let mut found = Vec::new();
        let taken = self.read(attempt, &mut found);
        self.keep(attempt, found, end);
        let failure = match taken {
            Ok(()) => outside(&end.measurements),
            Err(why) => Some(Failure::BadMeasurements(why)),
        };
        match failure {
            // Another reason is the better one: a program that was ended may have left half a line.
            Some(failure) if !end.outcome.has_passed() => {
                attempt.log.note(&failure.to_string());
            }
            Some(failure) => end.outcome = Outcome::Failed(failure),
            None => {}
        }
    }

    /// Takes what a step has measured of a capture.
    pub(crate) fn add(
        &mut self,
        attempt: &Attempt<'_>,
        mut measured: Measurement,
        end: &mut StepEnd,
    ) -> Result<(), Failure> {
        if self.count >= COUNT_MAX {
            let why = format!("a run records at most {COUNT_MAX} values");
            return Err(Failure::BadMeasurements(why));
        }
        measured.serial.clone_from(&self.serial);
        self.keep(attempt, vec![measured], end);
        outside(&end.measurements).map_or(Ok(()), Err)
    }

    fn read(&mut self, attempt: &Attempt<'_>, found: &mut Vec<Measurement>) -> Result<(), String> {
        let job = attempt.place().job();
        let path = format!("{OUT}/{FILE}");
        let read_text = below::read(&job, &path, FILE_BYTES_MAX);
        if matches!(&read_text, Err(error) if error.kind() == io::ErrorKind::NotFound) {
            return Ok(());
        }
        // Also one that cannot be read: the next step is not to fail by it.
        let removed = remove(&job, &path);
        let text = read_text.map_err(|error| format!("failed to read {FILE}: {error}"))?;
        removed.map_err(|error| format!("failed to remove {FILE}: {error}"))?;
        let room = COUNT_MAX.saturating_sub(self.count);
        read(&text, &mut self.serial, room, found)
            .map_err(|WrongLine { line, why }| format!("{FILE}:{line}: {why}"))
    }

    fn keep(&mut self, attempt: &Attempt<'_>, mut found: Vec<Measurement>, end: &mut StepEnd) {
        self.count += found.len();
        let secrets = attempt.grounds.secrets;
        for measured in &mut found {
            secrets.redact(&mut measured.name);
            secrets.redact(&mut measured.unit);
            if let Some(serial) = &mut measured.serial {
                secrets.redact(serial);
            }
            let told = measured.told();
            attempt.log.note(&format!("{}: {told}", measured.name));
        }
        end.measurements.append(&mut found);
    }
}

/// What values outside their limits come to.
fn outside(all: &[Measurement]) -> Option<Failure> {
    let mut bad = all.iter().filter(|measured| !measured.is_within());
    let first = bad.next()?.to_string();
    Some(Failure::Limits(1 + bad.count() as u64, first))
}

/// Removes a file. No link is followed on the way.
fn remove(job: &Path, path: &str) -> io::Result<()> {
    match tree::beneath(job, Path::new(path))? {
        Some(path) => fs::remove_file(path),
        None => Ok(()),
    }
}
