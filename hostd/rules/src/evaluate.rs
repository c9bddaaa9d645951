//! Every rule of a list on one capture.

use decode::DecodeError;
use decode::segment::SegmentError;
use pipeline::rules::{EdgeOf, Name, Rule, Unit};

use crate::analog::Trace;
use crate::capture::{Capture, Found};
use crate::golden::Goldens;
use crate::kinds;
use crate::lane::{Lane, Range, Stop};
use crate::number::{float, samples, snap, whole};
use crate::report::{Judged, Report, Verdict};
use crate::words::quantity;

/// Why rules were not evaluated; each fits after "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The capture is damaged.
    #[error("read the samples")]
    Damaged(#[from] SegmentError),
    /// The caller said that time is over.
    #[error("evaluate the rules in time: look at a shorter range, or at fewer rules")]
    Late,
}

/// Why one rule was not evaluated.
#[derive(Debug)]
pub(crate) enum Fault {
    Damaged(SegmentError),
    Late,
    /// The capture lacks what the rule needs, in a sentence.
    Unfit(String),
}

impl From<SegmentError> for Fault {
    fn from(error: SegmentError) -> Self {
        Self::Damaged(error)
    }
}

impl From<DecodeError> for Fault {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Segment(error) => Self::Damaged(error),
            other => Self::Unfit(format!("the capture fails to be decoded: {other}")),
        }
    }
}

/// What each rule comes to. `stop` is asked now and then, from any thread, whether time is over.
///
/// # Errors
/// The capture is damaged, or time is over. What a rule asks for and the capture lacks is a verdict of that rule.
pub fn evaluate(
    capture: &Capture<'_>,
    rules: &[Rule],
    goldens: &Goldens,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Report, EvaluateError> {
    let mut judged = Vec::new();
    for rule in rules {
        if stop() {
            return Err(EvaluateError::Late);
        }
        let scene = Scene {
            capture,
            rule,
            goldens,
            stop,
        };
        judged.push(scene.judged()?);
    }
    Ok(Report::new(judged))
}

/// One rule before a capture.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) capture: &'a Capture<'a>,
    pub(crate) rule: &'a Rule,
    pub(crate) goldens: &'a Goldens,
    pub(crate) stop: Stop<'a>,
}

impl<'a> Scene<'a> {
    fn judged(&self) -> Result<Judged, EvaluateError> {
        let mut judged = Judged {
            name: self.rule.name().to_owned(),
            kind: self.rule.kind_name(),
            verdict: Verdict::Error,
            wanted: kinds::wanted(self.rule),
            seen: String::new(),
            place: None,
            margin: None,
            found: 0,
            places: Vec::new(),
            lanes: Vec::new(),
            guides: Vec::new(),
            due: Vec::new(),
        };
        match kinds::sight(self) {
            Ok(sight) => {
                judged.verdict = match sight.passed {
                    true => Verdict::Passed,
                    false => Verdict::Failed,
                };
                judged.seen = sight.seen;
                judged.place = sight.place;
                judged.margin = sight.margin;
                judged.found = sight.wrong.found;
                judged.places = sight.wrong.places;
                judged.lanes = sight.lanes;
                judged.guides = sight.guides;
                judged.due = sight.due;
                self.doubt(&mut judged);
            }
            Err(Fault::Unfit(why)) => judged.seen = why,
            Err(Fault::Damaged(error)) => return Err(error.into()),
            Err(Fault::Late) => return Err(EvaluateError::Late),
        }
        Ok(judged)
    }

    /// Of a rule whose samples were lost in part nothing is known: it fails, whatever the rest of them says.
    fn doubt(&self, judged: &mut Judged) {
        let Some(logic) = self.capture.logic.as_ref() else {
            return;
        };
        let samples = logic.segment.samples();
        let Ok(range) = self.range(samples, logic.segment.sample_rate_hz()) else {
            return;
        };
        let looked = range.from..range.to;
        let mut lost = self.capture.gaps.within(&looked);
        let Some(first) = lost.next() else {
            return;
        };
        let others = match lost.count() {
            0 => String::new(),
            more => format!(", and {more} more times others"),
        };
        judged.verdict = Verdict::Failed;
        judged.seen = format!(
            "unknown because samples {} to {} were lost{others}: record at a lower rate, or look at another range",
            first.start,
            first.end - 1
        );
        judged.place = judged
            .lanes
            .first()
            .map(|channel| range.place(channel, first.start, first.end - 1));
        judged.margin = None;
        judged.found = 0;
        judged.places.clear();
    }

    /// A digital channel.
    pub(crate) fn lane(&self, name: &Name) -> Result<Lane<'a>, Fault> {
        let found = self.capture.find(name.as_str()).map_err(Fault::Unfit)?;
        self.lane_found(name.as_str(), found)
    }

    /// The digital channel of exactly this name.
    pub(crate) fn lane_named(&self, name: &str) -> Result<Lane<'a>, Fault> {
        let found = self.capture.find_exact(name).map_err(Fault::Unfit)?;
        self.lane_found(name, found)
    }

    fn lane_found(&self, name: &str, found: Found) -> Result<Lane<'a>, Fault> {
        let logic = self.capture.logic.as_ref();
        let (Found::Logic(channel), Some(logic)) = (found, logic) else {
            return Err(Fault::Unfit(format!(
                "`{name}` is analog, and the rule looks at a digital channel: name another one"
            )));
        };
        Ok(Lane {
            segment: &logic.segment,
            channel,
            name: &logic.names[channel],
            range: self.range(logic.segment.samples(), logic.segment.sample_rate_hz())?,
            stop: self.stop,
        })
    }

    /// The channel of an edge.
    pub(crate) fn lane_of(&self, edge: &EdgeOf) -> Result<Lane<'a>, Fault> {
        self.lane(&edge.channel)
    }

    /// An analog channel in this unit.
    pub(crate) fn trace(&self, name: &Name, unit: Option<Unit>) -> Result<Trace<'a>, Fault> {
        let trace = self.trace_named(name.as_str())?;
        let own = &trace.analog.unit;
        match unit.filter(|unit| unit.as_str() != own) {
            Some(unit) => Err(Fault::Unfit(format!(
                "`{name}` is in {own}, and the rule in {}: write its values in the unit of the channel",
                unit.as_str()
            ))),
            None => Ok(trace),
        }
    }

    pub(crate) fn trace_named(&self, name: &str) -> Result<Trace<'a>, Fault> {
        let found = self.capture.find(name).map_err(Fault::Unfit)?;
        let Found::Analog(at) = found else {
            return Err(Fault::Unfit(format!(
                "`{name}` is digital, and the rule looks at an analog channel: name another one"
            )));
        };
        let analog = &self.capture.analog[at];
        let segment = &analog.segment;
        Ok(Trace {
            analog,
            range: self.range(segment.samples(), segment.sample_rate_hz())?,
            stop: self.stop,
        })
    }

    /// The samples that the rule looks at, of so many at a rate.
    pub(crate) fn range(&self, all: u64, rate_hz: f64) -> Result<Range, Fault> {
        let trigger = snap(self.capture.trigger_s * rate_hz);
        let of = |time| snap(trigger + samples(time, rate_hz)).ceil();
        let late = |what: &str| {
            let end = quantity((float(all) - trigger) / rate_hz, "s");
            Fault::Unfit(format!(
                "the capture ends {end} after its trigger, before the {what} of the rule: record more, or look at less"
            ))
        };
        let early = || {
            let start = quantity(trigger / rate_hz, "s");
            Fault::Unfit(format!(
                "the capture begins {start} before its trigger, after the `from` of the rule: record more before it, or look at less"
            ))
        };
        let from = match self.rule.from() {
            Some(time) => whole(of(time)).ok_or_else(early)?,
            None => 0,
        };
        let to = match self.rule.to() {
            Some(time) => whole(of(time)).unwrap_or_default(),
            None => all,
        };
        if all < to {
            return Err(late("`to`"));
        }
        if all <= from {
            return Err(late("`from`"));
        }
        if to <= from {
            return Err(Fault::Unfit(
                "there is no sample between `from` and `to` of the rule: look at more".to_owned(),
            ));
        }
        Ok(Range {
            from,
            to,
            rate_hz,
            trigger,
        })
    }
}
