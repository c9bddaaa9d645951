//! What must hold within a trigger.

use super::{Check, at_most};
use crate::definition::action::Capture;
use crate::definition::trigger::{RX, SCL, SDA, Trigger, TriggerProtocol};
use crate::limits::WAIT_MS_MAX;
use crate::path::Path;
use crate::problem::{Code, did_you_mean};
use crate::rules::Time;
use crate::scalars::Id;

/// Nanoseconds of a millisecond.
const NS_PER_MS: i64 = 1_000_000;

/// Checks the trigger of a capture.
pub(super) fn check(check: &mut Check<'_>, path: &Path, capture: &Capture, trigger: &Trigger) {
    if let Some(timeout) = trigger.timeout {
        at_most(check, path.key("timeout"), timeout, WAIT_MS_MAX);
    }
    is_one(check, path, trigger);
    let of_edge = trigger.edge.is_some();
    if trigger.channel.is_some() != of_edge {
        let (code, message) = match of_edge {
            true => (Code::NotHere, "`edge` needs a `channel` beside it"),
            false => (Code::MissingKey, "an edge is needed: write `edge: rising`"),
        };
        check.find(path.clone(), code, message);
    }
    if let Some(pulse) = &trigger.pulse {
        let path = path.key("pulse");
        if pulse.shorter_than.is_some() == pulse.longer_than.is_some() {
            let message = "a pulse has one length: write `shorter_than` or `longer_than`";
            check.find(path.clone(), Code::InvalidValue, message);
        }
        for (key, time) in [
            ("shorter_than", pulse.shorter_than),
            ("longer_than", pulse.longer_than),
        ] {
            within(check, &path.key(key), time);
        }
    }
    if let Some(held) = &trigger.level {
        within(check, &path.key("level").key("for"), Some(held.r#for));
    }
    of_protocol(check, path, trigger);
    channels(check, path, capture, trigger);
}

/// There is one condition.
fn is_one(check: &mut Check<'_>, path: &Path, trigger: &Trigger) {
    let given = [
        ("channel", trigger.channel.is_some()),
        ("pulse", trigger.pulse.is_some()),
        ("pattern", !trigger.pattern.is_empty()),
        ("level", trigger.level.is_some()),
        ("protocol", trigger.protocol.is_some()),
    ];
    let given: Vec<&str> = given.iter().filter(|of| of.1).map(|of| of.0).collect();
    match given[..] {
        [_] => {}
        [] => {
            let message =
                "a trigger is one of `channel`, `pulse`, `pattern`, `level` and `protocol`";
            check.find(path.clone(), Code::MissingKey, message);
        }
        [first, other, ..] => {
            let message = format!("`{first}` is there already: a trigger has one condition");
            check.find(path.key(other), Code::NotHere, message);
        }
    }
}

/// A time that can be waited for.
fn within(check: &mut Check<'_>, path: &Path, time: Option<Time>) {
    let most = i64::try_from(WAIT_MS_MAX).unwrap_or(i64::MAX) * NS_PER_MS;
    if time.is_some_and(|time| !(1..=most).contains(&time.0)) {
        let message = format!("this must be 1 ns to {}", Time(most));
        check.find(path.clone(), Code::InvalidValue, message);
    }
}

/// Keys of a protocol come with it alone, and those that it needs are there.
fn of_protocol(check: &mut Check<'_>, path: &Path, trigger: &Trigger) {
    let (i2c, uart) = (Some(TriggerProtocol::I2c), Some(TriggerProtocol::Uart));
    for (key, is_given, of, name) in [
        ("scl", trigger.scl.is_some(), i2c, "i2c"),
        ("sda", trigger.sda.is_some(), i2c, "i2c"),
        ("address", trigger.address.is_some(), i2c, "i2c"),
        ("direction", trigger.direction.is_some(), i2c, "i2c"),
        ("rx", trigger.rx.is_some(), uart, "uart"),
        ("bytes", trigger.bytes.is_some(), uart, "uart"),
        ("baudrate", trigger.baudrate.is_some(), uart, "uart"),
        ("parity", trigger.parity.is_some(), uart, "uart"),
    ] {
        if is_given && trigger.protocol != of {
            let message = format!("`{key}` goes with `protocol: {name}`");
            check.find(path.key(key), Code::NotHere, message);
        }
    }
    let message = match trigger.protocol {
        Some(TriggerProtocol::I2c) if trigger.address.is_none() => {
            "an address is needed: write `address: 0x76`"
        }
        Some(TriggerProtocol::Uart) if trigger.bytes.is_none() => {
            "bytes are needed: write `bytes: 55 AA`"
        }
        _ => return,
    };
    check.find(path.clone(), Code::MissingKey, message);
}

/// Every channel is one of the capture's.
fn channels(check: &mut Check<'_>, path: &Path, capture: &Capture, trigger: &Trigger) {
    let pulse = trigger.pulse.as_ref().map(|pulse| &pulse.channel);
    let held = trigger.level.as_ref().map(|held| &held.channel);
    let conditions = [
        (path.key("channel"), trigger.channel.as_ref()),
        (path.key("pulse").key("channel"), pulse),
        (path.key("level").key("channel"), held),
    ];
    let pattern = trigger.pattern.keys();
    let pattern = pattern.map(|id| (path.key("pattern").key(id), Some(id)));
    let given = conditions.into_iter().chain(pattern);
    let given = given.filter_map(|(path, id)| {
        let id: &str = id?;
        Some((path, id))
    });
    let mut named: Vec<(Path, &str)> = given.collect();
    let roles: &[(&str, &Option<Id>, &str)] = match trigger.protocol {
        None => &[],
        Some(TriggerProtocol::I2c) => &[("scl", &trigger.scl, SCL), ("sda", &trigger.sda, SDA)],
        Some(TriggerProtocol::Uart) => &[("rx", &trigger.rx, RX)],
    };
    for (key, id, usual) in roles {
        named.push((path.key(key), id.as_deref().unwrap_or(usual)));
    }
    for (path, name) in named {
        if !capture.channels.contains_key(name) {
            let hint = did_you_mean(name, capture.channels.keys().map(|id| &**id));
            let message = format!("the capture has no channel `{name}`{hint}");
            check.find(path, Code::UnknownReference, message);
        }
    }
}
