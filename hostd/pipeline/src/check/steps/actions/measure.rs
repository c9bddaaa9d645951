//! A measurement fits the capture that it is of.

use super::{Check, step};
use crate::definition::Step;
use crate::definition::action::{Capture, CaptureKind, Measure};
use crate::definition::measurand::Measurand;
use crate::path::Path;
use crate::problem::{Code, did_you_mean};

/// The name of what an analog capture has.
const ANALOG: &str = "ADC";

pub(super) fn check(check: &mut Check<'_>, path: &Path, measure: &Measure, before: &[&Step]) {
    for (key, time) in [("from", measure.from), ("to", measure.to)] {
        if time.is_some_and(|time| time.0 < 0) {
            let message = "this counts from the first sample: it cannot be negative";
            check.find(path.key(key), Code::InvalidValue, message);
        }
    }
    if let (Some(from), Some(to)) = (measure.from, measure.to)
        && from >= to
    {
        let message = "`to` must be behind `from`";
        check.find(path.key("to"), Code::InvalidValue, message);
    }
    let Some(target) = step(check, path.key("on"), &measure.on, before) else {
        return;
    };
    let on = &measure.on.0;
    let Some(capture) = &target.capture else {
        let message = format!("`{on}` is no capture, and nothing else can be measured");
        check.find(path.key("on"), Code::UnknownReference, message);
        return;
    };
    if !measure.quantity.is_of(capture.kind) {
        let known: Vec<String> = Measurand::all(capture.kind)
            .map(|one| one.written())
            .collect();
        let kind = match capture.kind {
            CaptureKind::La => "digital",
            CaptureKind::Adc => "analog",
        };
        let message = format!(
            "a {kind} channel has no `{}`, but {}",
            measure.quantity.written(),
            known.join(", ")
        );
        check.find(path.key("quantity"), Code::InvalidValue, message);
    }
    channel(check, path, measure, capture);
}

fn channel(check: &mut Check<'_>, path: &Path, measure: &Measure, capture: &Capture) {
    let on = &measure.on.0;
    let names: Vec<&str> = match capture.kind {
        CaptureKind::La => capture.channels.keys().map(|name| &**name).collect(),
        CaptureKind::Adc => vec![ANALOG],
    };
    match &measure.channel {
        None if names.len() > 1 => {
            let all = names.join(", ");
            let message = format!("`{on}` has several channels: say which of {all}");
            check.find(path.clone(), Code::MissingKey, message);
        }
        Some(name) if !names.contains(&&**name) => {
            let hint = did_you_mean(name, names.iter().copied());
            let message = format!("the capture `{on}` has no channel `{}`{hint}", name.0);
            check.find(path.key("channel"), Code::UnknownReference, message);
        }
        _ => {}
    }
}
