//! Recording signals.

mod wait;

use jobs::{BenchError, Recording, Taken, Until};
use lab::captures::order::{Logic, Order, Scope, Trigger, Wanted};
use pipeline::CaptureKind;
use pipeline::plan::Capture;
use store::captures::{Setup, Status};

use crate::device::{Lab, Rig, within};
use crate::errors::{OVER, of_capture, of_target};
use crate::picture;

/// A capture that goes on.
struct Take {
    lab: Lab,
    org: String,
    id: String,
    capture: Capture,
    /// In what the device does otherwise than was asked.
    warnings: Vec<String>,
    has_ended: bool,
}

impl Rig {
    pub(crate) fn record(
        &self,
        step: &str,
        capture: &Capture,
        until: &Until<'_>,
    ) -> Result<Box<dyn Recording>, BenchError> {
        let entered = self.enter()?;
        let mut visit = self.enter()?.visit;
        let (order, captures) = (ordered(capture), &self.lab.captures);
        let (mv, mut of) = (self.hold.wiring.la_mv, self.hold.of.clone());
        let device = &self.hold.device;
        let holder = self.lab.leases.holder(device).map(|(holder, _)| holder);
        let setup = Setup {
            holder,
            firmware: self.lab.flashing.firmware(device),
            ..Setup::default()
        };
        if let Some(of) = &mut of {
            of.origin.step = Some(step.to_owned());
        }
        let (id, warnings) = self.drive(until, &mut visit, async {
            if capture.kind == CaptureKind::La {
                entered.select_level(mv).await.map_err(of_target)?;
            }
            let started = captures.start(entered, &order, None, of, setup).await;
            let (record, warnings) = started.map_err(|error| of_capture(&error))?;
            captures.begun(&record.id).await;
            Ok((record.id, warnings))
        })?;
        Ok(Box::new(Take {
            lab: self.lab.clone(),
            org: self.hold.org.clone(),
            id,
            capture: capture.clone(),
            warnings,
            has_ended: false,
        }))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a rate of at most 24 MHz is exact"
)]
fn ordered(capture: &Capture) -> Order {
    let sample_rate_mhz = capture.rate_hz as f64 / 1e6;
    let wanted = match capture.kind {
        CaptureKind::La => Wanted::Logic(Logic {
            samples: capture.samples,
            sample_rate_mhz,
            channels: capture
                .channels
                .values()
                .copied()
                .map(wait::small)
                .collect(),
            voltage_mv: None,
        }),
        CaptureKind::Adc => Wanted::Scope(Scope {
            samples: capture.samples,
            sample_rate_mhz,
            source: None,
        }),
    };
    let trigger = capture.trigger.as_ref().map(|trigger| Trigger {
        wait: wait::of(&trigger.wait),
        timeout_ms: u32::try_from(trigger.timeout_ms).unwrap_or(u32::MAX),
    });
    Order {
        name: None,
        trigger,
        pre_samples: capture.pre_samples,
        wanted,
    }
}

impl Recording for Take {
    fn wait(&mut self, until: &Until<'_>) -> Result<Taken, BenchError> {
        let captures = &self.lab.captures;
        let record = within(&self.lab.handle, until, async {
            let finished = captures.finished(&self.org, &self.id).await;
            finished.map_err(|error| of_capture(&error))
        })?;
        self.has_ended = true;
        match record.status {
            Status::Done => {}
            Status::TimedOut => return Err(BenchError::NoTrigger),
            Status::Cancelled => return Err(BenchError::LeaseLost(OVER.to_owned())),
            _ => {
                let why = record.error.unwrap_or_default();
                return Err(BenchError::Lost(format!("the capture failed: {why}")));
            }
        }
        let picture = within(&self.lab.handle, until, async {
            let reader = captures.read(&self.org, &self.id).await;
            Ok(reader.ok())
        })?;
        Ok(Taken {
            id: self.id.clone(),
            picture: picture.and_then(|reader| picture::of(&reader, &self.capture)),
            warnings: self.warnings.clone(),
        })
    }
}

impl Drop for Take {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let (captures, org, id) = (self.lab.captures.clone(), self.org.clone(), self.id.clone());
        self.lab.handle.spawn(async move {
            // It may have finished by itself.
            let _ = captures.cancel(&org, &id).await;
        });
    }
}
