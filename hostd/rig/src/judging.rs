//! Rules about what was recorded.

use std::time::Instant;

use jobs::{BenchError, Judging, Ruled, Ruling, Until};
use lab::captures::reader::Reader;
use rules::{Analog, Capture, EvaluateError, Goldens, Logic, Verdict, evaluate, picture};
use store::captures::ChannelRecord;

use crate::device::{Rig, within};
use crate::errors::{lost, of_capture};

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
        let _permit = within(&self.lab.handle, until, async {
            Ok(captures.reader_permit().await)
        })?;
        let mut goldens = Goldens::default();
        for (name, bytes) in judging.goldens {
            let added = goldens.add(name, bytes);
            added.map_err(|error| BenchError::Refused(format!("use {name}: {error}")))?;
        }
        let capture = view(&reader, judging)?;
        let stop = || until.cancel.is_set() || until.at <= Instant::now();
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
            ruled.push(Ruled {
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
            });
        }
        let json = serde_json::to_string_pretty(&report);
        Ok(Ruling {
            rules: ruled,
            json: json.map_err(|error| lost(&error))? + "\n",
        })
    }
}

/// A capture whose channels have the names that its step gave them, and those of the pod besides.
fn view<'r>(reader: &'r Reader, judging: &Judging<'_>) -> Result<Capture<'r>, BenchError> {
    let record = reader.record();
    let failed = |error| lost(&error);
    let logic = record
        .channels
        .iter()
        .filter(|channel| channel.la.is_some());
    let names: Vec<(&str, &str)> = logic
        .map(|channel| (channel.name.as_str(), given(channel, judging)))
        .collect();
    let logic = match reader.has_logic() {
        true => {
            let own = names.iter().map(|(_, own)| (*own).to_owned());
            let segment = reader.logic().map_err(failed)?;
            Some(Logic::new(segment, own.collect()))
        }
        false => None,
    };
    let mut analog = Vec::new();
    for channel in record
        .channels
        .iter()
        .filter(|channel| channel.la.is_none())
    {
        analog.push(Analog {
            segment: reader.analog().map_err(failed)?,
            name: channel.name.clone(),
            unit: channel.unit.clone(),
            offset: channel.value(0),
            step: channel.value(1) - channel.value(0),
        });
    }
    // What a file calls a channel may stand for a name of the pod.
    let of = |meant: &str| {
        let mut names = names.iter();
        names
            .find(|(pod, _)| *pod == meant)
            .map(|(_, own)| (*own).to_owned())
    };
    let own = judging.names.iter();
    let own: Vec<(&str, String)> = own
        .map(|(name, meant)| (name.as_str(), of(meant).unwrap_or_else(|| meant.clone())))
        .collect();
    let capture = Capture::new(logic, analog).with_names(names.iter().copied());
    Ok(capture.with_names(own.iter().map(|(name, of)| (*name, of.as_str()))))
}

/// What the step calls a channel.
fn given<'n>(channel: &'n ChannelRecord, judging: &Judging<'n>) -> &'n str {
    let mut given = judging.capture.channels.iter();
    let found = given.find(|(_, number)| channel.la.map(u64::from) == Some(**number));
    found.map_or(channel.name.as_str(), |(name, _)| name.as_str())
}
