//! Rules about what was recorded.

use std::time::Instant;

use decode::gaps::Gaps;
use jobs::{BenchError, Judging, Ruled, Ruling, Until};
use lab::captures::reader::{ReadError, Reader};
use pipeline::rules::golden_captures;
use rules::{Analog, Capture, EvaluateError, Goldens, Judged, Logic, Verdict, evaluate, picture};
use store::captures::ChannelRecord;

use crate::device::{Rig, within};
use crate::errors::{lost, of_capture};
use crate::turn::Turn;

impl Rig {
    pub(crate) fn judge_kept(
        &self,
        capture: &str,
        judging: &Judging<'_>,
        until: &Until<'_>,
    ) -> Result<Ruling, BenchError> {
        let captures = &self.lab.captures;
        let reader = within(&self.lab.handle, until, async {
            let reader = captures.read(&self.hold.org, capture).await;
            reader.map_err(|error| of_capture(&error))
        })?;
        let mut goldens = Goldens::default();
        for (name, bytes) in judging.goldens {
            let added = goldens.add(name, bytes);
            added.map_err(|error| BenchError::Refused(format!("use {name}: {error}")))?;
        }
        let capture = named(&reader, judging)?;
        let turn = Turn::take(&self.lab, until)?;
        self.add_good(judging, &turn, until, &mut goldens)?;
        let stop = || {
            turn.pass(until);
            until.cancel.is_set() || until.at <= Instant::now()
        };
        let failed = |error: &EvaluateError| match error {
            EvaluateError::Late if until.cancel.is_set() => BenchError::Cancelled,
            EvaluateError::Late => BenchError::TimedOut,
            EvaluateError::Damaged(_) => lost(error),
        };
        let report = evaluate(&capture, judging.rules, &goldens, &stop);
        let report = report.map_err(|error| failed(&error))?;
        let mut ruled = Vec::new();
        for rule in &report.rules {
            let picture = match rule.verdict {
                Verdict::Failed => {
                    picture(&capture, rule, &stop).map_err(|error| failed(&error))?
                }
                Verdict::Passed | Verdict::Error => None,
            };
            ruled.push(of_judged(rule, picture));
        }
        let json = serde_json::to_string_pretty(&report);
        Ok(Ruling {
            rules: ruled,
            json: json.map_err(|error| lost(&error))? + "\n",
        })
    }
}

impl Rig {
    /// Adds the good captures that rules name by their ids, of the run's organisation.
    fn add_good(
        &self,
        judging: &Judging<'_>,
        turn: &Turn<'_>,
        until: &Until<'_>,
        goldens: &mut Goldens,
    ) -> Result<(), BenchError> {
        for (_, id) in golden_captures(judging.rules) {
            let unusable = |error: &dyn std::fmt::Display| {
                BenchError::Refused(format!("compare with the capture {id}: {error}"))
            };
            let reader = within(&self.lab.handle, until, async {
                let reader = self.lab.captures.read(&self.hold.org, id).await;
                reader.map_err(|error| unusable(&error))
            })?;
            let made = goldens.add_capture(id, &named(&reader, judging)?, judging.rules);
            made.map_err(|error| unusable(&error))?;
            turn.pass(until);
        }
        Ok(())
    }
}

/// A capture with the names that the step and its rules have for channels.
fn named<'r>(reader: &'r Reader, judging: &Judging<'_>) -> Result<Capture<'r>, BenchError> {
    let names = judging.names.iter();
    let names = names.map(|(name, meant)| (name.as_str(), meant.as_str()));
    let capture = view(reader, &|channel| given(channel, judging), names);
    capture.map_err(|error| lost(&error))
}

/// What a rule came to.
fn of_judged(rule: &Judged, picture: Option<String>) -> Ruled {
    Ruled {
        name: rule.name.clone(),
        holds: match rule.verdict {
            Verdict::Passed => Some(true),
            Verdict::Failed => Some(false),
            Verdict::Error => None,
        },
        wanted: rule.wanted.clone(),
        seen: rule.seen.clone(),
        detail: rule.told(),
        picture,
    }
}

/// A stored capture for rules. Its channels have the names that are `given` them, or their own, and those of the pod
/// besides; `names` are more of them, each with the one that it stands for.
///
/// # Errors
/// A file of it is damaged.
pub fn view<'r, 'n>(
    reader: &'r Reader,
    given: &dyn Fn(&ChannelRecord) -> Option<String>,
    names: impl IntoIterator<Item = (&'n str, &'n str)>,
) -> Result<Capture<'r>, ReadError> {
    let channels = || reader.record().channels.iter();
    let logic = channels().filter(|channel| channel.la.is_some());
    let pod: Vec<(&str, String)> = logic
        .map(|channel| {
            let own = given(channel).unwrap_or_else(|| channel.name.clone());
            (channel.name.as_str(), own)
        })
        .collect();
    let logic = match reader.has_logic() {
        true => {
            let own = pod.iter().map(|(_, own)| own.clone());
            Some(Logic::new(reader.logic()?, own.collect()))
        }
        false => None,
    };
    let mut analog = Vec::new();
    for channel in channels().filter(|channel| channel.la.is_none()) {
        analog.push(Analog {
            segment: reader.analog()?,
            name: channel.name.clone(),
            unit: channel.unit.clone(),
            offset: channel.value(0),
            step: channel.value(1) - channel.value(0),
        });
    }
    // What a file calls a channel may stand for a label, or for a name of the pod.
    let record = reader.record();
    let labels: Vec<(&str, &str)> = channels()
        .enumerate()
        .map(|(index, channel)| (record.shown(index), channel.name.as_str()))
        .filter(|(label, name)| label != name)
        .collect();
    let of = |meant: &str| {
        let labelled = labels.iter().find(|(label, _)| *label == meant);
        let name = labelled.map_or(meant, |(_, name)| *name);
        let found = pod.iter().find(|(pod, _)| *pod == name);
        found.map_or_else(|| name.to_owned(), |(_, own)| own.clone())
    };
    let labelled = labels.iter().map(|(label, name)| (*label, of(name)));
    let labelled: Vec<(&str, String)> = labelled.collect();
    let names = names.into_iter();
    let names: Vec<(&str, String)> = names.map(|(name, meant)| (name, of(meant))).collect();
    let renamed = pod.iter().filter(|(pod, own)| pod != own);
    let renamed = renamed.map(|(pod, own)| (*pod, own.as_str()));
    let trigger_s = record.trigger_s().unwrap_or_default();
    let capture = Capture::new(logic, analog)
        .with_trigger(trigger_s)
        .with_gaps(Gaps::new(record.gaps.iter().copied()))
        .with_names(renamed);
    let labelled = labelled.iter().map(|(label, own)| (*label, own.as_str()));
    let capture = capture.with_names(labelled);
    Ok(capture.with_names(names.iter().map(|(name, of)| (*name, of.as_str()))))
}

/// What the step calls a channel.
fn given(channel: &ChannelRecord, judging: &Judging<'_>) -> Option<String> {
    let mut given = judging.capture.channels.iter();
    let found = given.find(|(_, number)| channel.la.map(u64::from) == Some(**number));
    found.map(|(name, _)| name.clone())
}
