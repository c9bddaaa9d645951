//! What must hold within an action, and between it and the step it refers to.

mod measure;
mod trigger;

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use crate::definition::Step;
use crate::definition::action::{Assert, BusDecoder, Capture, CaptureKind, Decode, Uart};
use crate::definition::decoder::Decoder;
use crate::limits::{ADC_RATE_HZ_MAX, LA_RATE_HZ_MAX, RESET_PULSE_MS_MAX};
use crate::path::Path;
use crate::problem::{Code, did_you_mean};
use crate::rules::{self, Rule, RuleSource};
use crate::units::{Duration, RATES, shown};

/// Checks a step's action; `before` are the steps that ran by then.
pub(super) fn check(check: &mut Check<'_>, path: &Path, step: &Step, before: &[&Step]) {
    if let Some(pulse) = step.reset.as_ref().and_then(|reset| reset.pulse) {
        at_most(
            check,
            path.key("reset").key("pulse"),
            pulse,
            RESET_PULSE_MS_MAX,
        );
    }
    let channels = step.uart.as_ref().and_then(|uart| uart.channels.as_ref());
    if channels.is_some_and(|channels| channels.rx == channels.tx) {
        let path = path.key("uart").key("channels").key("tx");
        check.find(
            path,
            Code::InvalidValue,
            "`rx` and `tx` must be two channels",
        );
    }
    let is_idle =
        |uart: &&Uart| uart.send.is_none() && uart.expect.is_none() && uart.until.is_none();
    if step.uart.as_ref().filter(is_idle).is_some() && !step.background {
        let message = "this waits for nothing: give it `send`, `expect` or `until`, or let it read on with `background: true`";
        check.find(path.key("uart"), Code::MissingKey, message);
    }
    if let Some(capture) = &step.capture {
        self::capture(check, &path.key("capture"), capture);
    }
    if let Some(assert) = &step.assert {
        self::assert(check, &path.key("assert"), assert, before);
    }
    if let Some(measure) = &step.measure {
        measure::check(check, &path.key("measure"), measure, before);
    }
    if let Some(decode) = &step.decode {
        self::decode(check, &path.key("decode"), decode, before);
    }
}

fn at_most(check: &mut Check<'_>, path: Path, asked: Duration, ms_max: u64) {
    if asked.0 > ms_max {
        let message = format!("this must be at most {}", Duration(ms_max));
        check.find(path, Code::InvalidValue, message);
    }
}

fn capture(check: &mut Check<'_>, path: &Path, capture: &Capture) {
    let (rate_max, kind) = match capture.kind {
        CaptureKind::La => (LA_RATE_HZ_MAX, "la"),
        CaptureKind::Adc => (ADC_RATE_HZ_MAX, "adc"),
    };
    if capture.rate.0 > rate_max {
        let message = format!("`{kind}` samples at most at {}", shown(rate_max, RATES));
        check.find(path.key("rate"), Code::InvalidValue, message);
    }
    match (capture.kind, capture.channels.is_empty()) {
        (CaptureKind::La, true) => {
            let message = "`la` records channels by name: write `channels: {scl: 3, sda: 4}`";
            check.find(path.clone(), Code::MissingKey, message);
        }
        (CaptureKind::Adc, false) => {
            let message = "`adc` has one input and no channels: take them away";
            check.find(path.key("channels"), Code::NotHere, message);
        }
        _ => {}
    }
    let mut used = BTreeSet::new();
    for (name, channel) in capture.channels.iter() {
        if !used.insert(channel.0) {
            let message = format!("channel {} has another name already", channel.0);
            check.find(path.key("channels").key(name), Code::InvalidValue, message);
        }
    }
    let before = capture.pre_samples.as_ref().map_or(0, |pre| pre.0);
    if before > 0 && capture.trigger.is_none() {
        let message = "samples before a trigger need one: write `trigger`, or take this away";
        check.find(path.key("pre_samples"), Code::NotHere, message);
    }
    if let Some(trigger) = &capture.trigger {
        trigger::check(check, &path.key("trigger"), capture, trigger);
    }
}

/// The step of that id, or a finding.
fn step<'d>(check: &mut Check<'_>, path: Path, id: &str, before: &[&'d Step]) -> Option<&'d Step> {
    let found = before.iter().find(|step| step.id.as_deref() == Some(id));
    if found.is_none() {
        let hint = did_you_mean(id, before.iter().filter_map(|step| step.id.as_deref()));
        let message = format!("no step before this one has the id `{id}`{hint}");
        check.find(path, Code::UnknownReference, message);
    }
    found.copied()
}

fn assert(check: &mut Check<'_>, path: &Path, assert: &Assert, before: &[&Step]) {
    let kinds = [
        ("exit_code", assert.exit_code.is_some()),
        ("text", assert.text.is_some()),
        ("decode", assert.decode.is_some()),
        ("rules", assert.rules.is_some()),
    ];
    let given: Vec<&str> = kinds
        .iter()
        .filter(|(_, given)| *given)
        .map(|(key, _)| *key)
        .collect();
    let target = step(check, path.key("on"), &assert.on, before);
    let [kind] = given[..] else {
        let message =
            "an assertion looks at one thing: give it one of exit_code, text, decode, rules";
        check.find(path.clone(), Code::OneAction, message);
        return;
    };
    let of_bus = [
        ("address", assert.address.is_some()),
        ("bytes", !assert.bytes.is_empty()),
        ("ack", assert.ack.is_some()),
        ("min_count", assert.min_count.is_some()),
    ];
    for (key, _) in of_bus
        .iter()
        .filter(|(_, given)| *given && kind != "decode")
    {
        let message = format!("`{key}` goes with `decode`, not with `{kind}`: take it away");
        check.find(path.key(key), Code::NotHere, message);
    }
    if let Some(RuleSource::List(rules)) = &assert.rules {
        let wrong = rules::check(&path.key("rules"), rules);
        check.findings.extend(wrong);
    }
    let Some(target) = target else {
        return;
    };
    let wanted: &[&str] = match kind {
        "exit_code" => &["run", "pytest"],
        "text" => &["uart", "run"],
        "rules" => &["capture"],
        _ => &["capture", "decode"],
    };
    let action = target.action().unwrap_or("nothing");
    if !wanted.contains(&action) {
        let message = format!(
            "`{kind}` judges a step with {}; `{}` has `{action}`",
            wanted.join(" or "),
            assert.on.0
        );
        check.find(path.key("on"), Code::UnknownReference, message);
    } else if assert.decode == Some(BusDecoder::I2c) {
        bus(check, path, assert, target);
    } else if let (Some(RuleSource::List(rules)), Some(capture)) = (&assert.rules, &target.capture)
    {
        channels(check, path, (&assert.on.0, capture), rules);
    }
}

/// Rules name channels that the capture has, by its names or those of the pod.
fn channels(check: &mut Check<'_>, path: &Path, (on, capture): (&str, &Capture), rules: &[Rule]) {
    for (index, rule) in rules.iter().enumerate() {
        let [kind] = rule.given()[..] else { continue };
        for name in rule.named() {
            let name = name.as_str();
            let own = capture.channels.iter();
            let mut own =
                own.flat_map(|(name, channel)| [name.0.clone(), format!("LA{}", channel.0)]);
            let is_analog = capture.kind == CaptureKind::Adc && name == "ADC";
            if is_analog || own.any(|own| own == name) {
                continue;
            }
            let hint = match capture.kind {
                CaptureKind::Adc => "; it has `ADC` alone".to_owned(),
                CaptureKind::La => did_you_mean(name, capture.channels.keys().map(|id| &**id)),
            };
            let message = format!("the capture `{on}` has no channel `{name}`{hint}");
            let at = path.key("rules").index(index).key(kind);
            check.find(at, Code::UnknownReference, message);
        }
    }
}

/// An I²C assertion has the two lines it needs.
fn bus(check: &mut Check<'_>, path: &Path, assert: &Assert, target: &Step) {
    let on = &assert.on.0;
    if target
        .decode
        .as_ref()
        .is_some_and(|decode| decode.decoder != Decoder::I2c)
    {
        let message =
            format!("`{on}` decodes by other rules than i2c: assert on the capture itself");
        check.find(path.key("decode"), Code::InvalidValue, message);
    }
    if let Some(capture) = &target.capture {
        let missing = ["scl", "sda"]
            .into_iter()
            .filter(|role| !capture.channels.contains_key(*role));
        let missing: Vec<&str> = missing.collect();
        if !missing.is_empty() {
            let message = format!(
                "i2c needs {} among the channels of `{on}`: name them so there",
                missing.join(" and ")
            );
            check.find(path.key("decode"), Code::UnknownReference, message);
        }
    }
}

fn decode(check: &mut Check<'_>, path: &Path, decode: &Decode, before: &[&Step]) {
    let Some(target) = step(check, path.key("on"), &decode.on, before) else {
        return;
    };
    let on = &decode.on.0;
    let Some(capture) = &target.capture else {
        let message = format!("`{on}` is no capture, and nothing else can be decoded");
        check.find(path.key("on"), Code::UnknownReference, message);
        return;
    };
    let before = check.findings.len();
    for (role, channel) in decode.channels.iter() {
        if !capture.channels.contains_key(channel) {
            let hint = did_you_mean(channel, capture.channels.keys().map(|id| &**id));
            let message = format!("the capture `{on}` has no channel `{}`{hint}", channel.0);
            check.find(
                path.key("channels").key(role),
                Code::UnknownReference,
                message,
            );
        }
    }
    if check.findings.len() == before {
        roles(check, path, decode, capture);
    }
    annotations(check, path, decode);
}

/// A decoder finds what it knows.
fn annotations(check: &mut Check<'_>, path: &Path, decode: &Decode) {
    let known = decode.decoder.annotations();
    if known.is_empty() {
        return;
    }
    for (index, name) in decode.annotations.iter().enumerate() {
        if !known.contains(&&**name) {
            let hint = did_you_mean(name, known.iter().copied());
            let message = format!(
                "`{}` has no annotations `{}`, but {}{hint}",
                decode.decoder.as_str(),
                name.0,
                known.join(", ")
            );
            let at = path.key("annotations").index(index);
            check.find(at, Code::UnknownReference, message);
        }
    }
}

/// A decoder has the roles that it knows, each with a channel of its own, and those that it needs.
fn roles(check: &mut Check<'_>, path: &Path, decode: &Decode, capture: &Capture) {
    let known = decode.decoder.roles();
    let name = decode.decoder.as_str();
    let before = check.findings.len();
    let mut used = BTreeMap::new();
    for (role, channel) in decode.channels.iter() {
        let at = path.key("channels").key(role);
        if !known.is_empty() && !known.contains(&&**role) {
            let hint = did_you_mean(role, known.iter().copied());
            let all = known.join(", ");
            let message = format!("`{name}` has no role `{}`, but {all}{hint}", role.0);
            check.find(at, Code::UnknownReference, message);
        } else if let Some(other) = used.insert(&**channel, &**role) {
            let message = format!("`{}` is the channel of `{other}` already", channel.0);
            check.find(at, Code::InvalidValue, message);
        }
    }
    if check.findings.len() > before {
        return;
    }
    let given = decode.channels.iter();
    let given = given.map(|(role, channel)| (&**role, &**channel));
    let has = |name: &str| capture.channels.keys().any(|channel| &**channel == name);
    let taken = decode.decoder.channels(given, has);
    for group in decode.decoder.needs() {
        if !group.iter().any(|role| taken.contains_key(*role)) {
            let wanted = group.join(" or ");
            let channels: Vec<&str> = capture.channels.keys().map(|name| &**name).collect();
            let message = format!(
                "`{name}` needs {wanted}, and no channel is called so: say which of {} it is, as `channels: {{ {}: {} }}`",
                channels.join(", "),
                group[0],
                channels.first().unwrap_or(&"a"),
            );
            check.find(path.key("channels"), Code::MissingKey, message);
        }
    }
}
