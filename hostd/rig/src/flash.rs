//! Programming the target.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jobs::{BenchError, Flashed, Until};
use lab::flashing::{Firmware, Outcome, Phase, Request};
use pipeline::plan::Flash;
use sha2::{Digest, Sha256};

use crate::device::{Rig, within};
use crate::errors::{WRONG_TARGET, lost, of_failure, of_flashing};

/// Time for a flash that was told to end: one exchange with the pod, and closing.
const STOP_WAIT: Duration = Duration::from_secs(20);

/// Bytes that are read at once.
const PIECE_BYTES: usize = 64 << 10;

impl Rig {
    pub(crate) fn program(
        &self,
        file: &Path,
        flash: &Flash,
        until: &Until<'_>,
        anew: &mut dyn FnMut(),
    ) -> Result<Flashed, BenchError> {
        let request = self.request(flash)?;
        let firmware = firmware(file, &flash.artifact.name).map_err(|error| lost(&error))?;
        let entered = self.enter()?;
        let device = entered.device.record.id.clone();
        let flashing = &self.lab.flashing;
        let started = within(&self.lab.handle, until, async {
            let started = flashing.start(entered, request, firmware).await;
            started.map_err(|error| of_flashing(&error))
        })?;
        let ended = within(&self.lab.handle, until, async {
            let course = flashing.watch(&device, &started.id);
            let mut course = course.map_err(|error| of_flashing(&error))?;
            let mut is_told = false;
            loop {
                let seen = course.borrow_and_update().clone();
                if seen.phase == Phase::Resetting && !std::mem::replace(&mut is_told, true) {
                    anew();
                }
                if let Some(outcome) = seen.outcome {
                    return Ok(outcome);
                }
                // The sender lives as long as the flash is remembered.
                if course.changed().await.is_err() {
                    return Err(BenchError::Lost("the flash was forgotten".to_owned()));
                }
            }
        });
        if ended.is_err() {
            self.stop(&device, &started.id);
        }
        let outcome = ended?;
        match &outcome.failure {
            Some(failure) if failure.code == WRONG_TARGET => {
                let wired = self.hold.wiring.target.as_deref();
                Err(other_chip(
                    flash.target.as_deref(),
                    wired,
                    &failure.sentence,
                ))
            }
            _ => flashed(outcome),
        }
    }

    fn request(&self, flash: &Flash) -> Result<Request, BenchError> {
        let wiring = &self.hold.wiring;
        let unwired = |what: &str| BenchError::Refused(format!("its wiring has no {what}"));
        let target = flash.target.clone().or_else(|| wiring.target.clone());
        let target = target.ok_or_else(|| {
            let why = "its wiring names no chip; name one as the step's `target`";
            BenchError::Refused(why.to_owned())
        })?;
        let has_power = self.has_switched.load(Ordering::Relaxed);
        Ok(Request {
            target,
            load_address: None,
            swclk: wiring.swclk.ok_or_else(|| unwired("swd_swclk"))?,
            swdio: wiring.swdio.ok_or_else(|| unwired("swd_swdio"))?,
            efuse: (!has_power).then_some(wiring.efuse),
            la_mv: wiring.la_mv,
            verify: flash.verify,
            reset: true,
            force: false,
            connect_under_reset: false,
            attended: false,
        })
    }

    /// Ends a flash that nobody waits for any more, before the next step uses the probe.
    fn stop(&self, device: &str, id: &str) {
        let flashing = &self.lab.flashing;
        self.lab.handle.block_on(async {
            let stopped = flashing.cancel(device, id);
            // It has ended by itself, or its lease ends it.
            let _ = tokio::time::timeout(STOP_WAIT, stopped).await;
        });
    }
}

/// The device has another chip than was asked for: whose word was wrong, and who changes it. What the wiring says as well,
/// or alone, is the bench's mistake; what the pipeline says against it, or alone, is the pipeline's.
fn other_chip(asked: Option<&str>, wired: Option<&str>, found: &str) -> BenchError {
    let change = "change the `target` of the step or of its pack";
    match (asked, wired) {
        (Some(asked), Some(wired)) if !asked.eq_ignore_ascii_case(wired) => BenchError::Refused(
            format!("{found}; the device's wiring says {wired}, the pipeline {asked}: {change}"),
        ),
        (Some(_), None) => BenchError::Refused(format!(
            "{found}; the device's wiring names no chip: {change}, or take a device that has it"
        )),
        _ => BenchError::WrongTarget(found.to_owned()),
    }
}

fn flashed(outcome: Outcome) -> Result<Flashed, BenchError> {
    match outcome.failure {
        Some(failure) => Err(of_failure(&failure)),
        None => Ok(Flashed {
            bytes: outcome.programmed.bytes(),
            places: outcome.programmed.lines(),
            chip: outcome.chip.unwrap_or_default(),
            time: outcome.duration,
        }),
    }
}

fn firmware(path: &Path, name: &str) -> io::Result<Firmware> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut size_bytes = 0;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let len = file.read(&mut piece)?;
        if len == 0 {
            break;
        }
        size_bytes += len as u64;
        digest.update(&piece[..len]);
    }
    Ok(Firmware {
        name: name.to_owned(),
        size_bytes,
        sha256: hex::encode(digest.finalize()),
        build: None,
        path: path.to_owned(),
        staged: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_who_contradicts_the_chip_hears_of_it() {
        let found = "the target is STM32F030, not STM32F401RE";
        let of = |asked, wired| other_chip(asked, wired, found);
        let pipeline = of(Some("STM32F401RE"), Some("STM32F030R8"));
        let BenchError::Refused(why) = pipeline else {
            panic!("{pipeline:?}");
        };
        for part in [found, "wiring says STM32F030R8", "change the `target`"] {
            assert!(why.contains(part), "{why}");
        }
        let alone = of(Some("STM32F401RE"), None);
        assert!(matches!(alone, BenchError::Refused(why) if why.contains("names no chip")));
        let bench = BenchError::WrongTarget(found.to_owned());
        assert_eq!(of(None, Some("STM32F401RE")), bench);
        assert_eq!(of(Some("stm32f401re"), Some("STM32F401RE")), bench);
    }
}
