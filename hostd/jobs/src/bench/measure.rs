//! Measuring a capture: the value is recorded, and one outside its limits fails the step.

use evidence::measurement::Measurement;
use pipeline::plan::Measure;

use super::course::Course;
use crate::attempt::Stop;
use crate::judge::failed;
use crate::outcome::Outcome;
use crate::results::StepEnd;
use crate::step::Deadline;

impl Course<'_, '_> {
    pub(super) fn measure(
        &mut self,
        measure: &Measure,
        own: Deadline,
        end: &mut StepEnd,
    ) -> Stop<()> {
        let Some(recorded) = self.recordings.find(&measure.on) else {
            let unmade = "it was not made".to_owned();
            return Err(failed(format!("the capture {}", measure.on), unmade));
        };
        let (capture, kept) = self.collect(recorded, own)?;
        let id = kept.id.clone();
        end.captures.push(kept);
        let until = own.until(self.attempt.cancel);
        let found = self.bench.measure(&id, (capture, measure), &until);
        let Some(found) = found.map_err(|error| error.outcome(own))? else {
            let quantity = measure.quantity.written();
            let lacks = "what was recorded has none".to_owned();
            return Err(failed(format!("{quantity} of {}", measure.on), lacks));
        };
        let measured = Measurement {
            name: measure.name.clone(),
            value: found.value,
            unit: found.unit,
            low: measure.low,
            high: measure.high,
            serial: None,
        };
        let attempt = self.attempt;
        let added = self.judge.measured.add(&attempt, measured, end);
        added.map_err(Outcome::Failed)
    }
}
