//! What must hold of rules beyond their types.

use std::collections::BTreeMap;

use super::{Bytes, KINDS, Kind, Quantity, QuantityTolerance, Rule, Time, When};
use crate::definition::decoder::Decoder;
use crate::path::Path;
use crate::problem::{Code, Finding, did_you_mean};

/// What is wrong with the rules of the list at `path`.
pub(crate) fn check(path: &Path, rules: &[Rule]) -> Vec<Finding> {
    let mut check = Check(Vec::new());
    if rules.is_empty() {
        check.find(path.clone(), Code::InvalidValue, "write at least one rule");
    }
    let mut names = BTreeMap::new();
    for (index, rule) in rules.iter().enumerate() {
        let at = path.index(index);
        if let Some(first) = names.insert(rule.name(), index) {
            let message = format!(
                "rule {} of the list has the name `{}` already: take another one",
                first + 1,
                rule.name()
            );
            check.find(at.key("name"), Code::DuplicateId, message);
        }
        check.rule(&at, rule);
    }
    check.0
}

struct Check(Vec<Finding>);

impl Check {
    fn find(&mut self, path: Path, code: Code, message: impl Into<String>) {
        self.0.push(Finding::new(path, code, message));
    }

    fn rule(&mut self, path: &Path, rule: &Rule) {
        match rule.given()[..] {
            [kind] => self.kind(&path.key(kind), rule.kind()),
            [] => {
                let message = format!(
                    "a rule asks for one thing: give it one of {}",
                    KINDS.join(", ")
                );
                self.find(path.clone(), Code::OneAction, message);
            }
            [first, second, ..] => {
                let message = format!(
                    "this rule has `{first}` and `{second}`: a rule asks for one thing, make two of it"
                );
                self.find(path.key(second), Code::OneAction, message);
            }
        }
        if let (Some(from), Some(to)) = (rule.from(), rule.to())
            && to <= from
        {
            let message = format!("this must be later than `from`, which is {from}");
            self.find(path.key("to"), Code::InvalidValue, message);
        }
    }

    fn kind(&mut self, path: &Path, kind: Kind<'_>) {
        match kind {
            Kind::Frequency(rule) if rule.value.0 == 0 => self.zero(path.key("value")),
            Kind::Within(rule) => self.time(path.key("time"), Some(rule.time), true),
            Kind::Bytes(rule) => self.bytes(path, rule),
            Kind::Count(rule) => {
                self.bounds(path, rule.min.map(|min| min.0), rule.max.map(|max| max.0));
            }
            Kind::Pulse(rule) => {
                self.bounds(path, rule.min.map(|min| min.0), rule.max.map(|max| max.0));
                self.time(path.key("min"), rule.min, false);
                self.time(path.key("max"), rule.max, false);
            }
            Kind::Level(rule) if rule.after.is_none() && rule.when == When::Once => {
                let message = "`when` goes with `after`: take it away";
                self.find(path.key("when"), Code::NotHere, message);
            }
            Kind::Analog(rule) => {
                let both = rule.min.zip(rule.max);
                if both.is_some_and(|(min, max)| min.unit != max.unit) {
                    let message = "`min` and `max` must have the same unit";
                    self.find(path.key("max"), Code::InvalidValue, message);
                }
                let of = |bound: Option<Quantity>| bound.map(|bound| bound.millionths);
                self.bounds(path, of(rule.min), of(rule.max));
            }
            Kind::Settles(rule) => {
                self.time(path.key("within"), Some(rule.within), true);
                if let QuantityTolerance::Quantity(tolerance) = rule.tolerance {
                    if tolerance.unit != rule.to.unit {
                        let message = "`to` and `tolerance` must have the same unit";
                        self.find(path.key("tolerance"), Code::InvalidValue, message);
                    }
                    self.not_negative(path.key("tolerance"), tolerance.millionths);
                }
            }
            Kind::Golden(rule) => {
                if rule.file.is_some() == rule.capture.is_some() {
                    let message = "a good capture is one of `file` and `capture`: give it one";
                    self.find(path.clone(), Code::OneAction, message);
                }
                self.time(path.key("time"), rule.time, true);
                if let Some(amplitude) = rule.amplitude {
                    self.not_negative(path.key("amplitude"), amplitude.millionths);
                }
            }
            _ => {}
        }
    }

    fn zero(&mut self, path: Path) {
        self.find(path, Code::InvalidValue, "this must be more than 0");
    }

    fn not_negative(&mut self, path: Path, value: i64) {
        if value < 0 {
            self.find(path, Code::InvalidValue, "this must not be negative");
        }
    }

    fn time(&mut self, path: Path, time: Option<Time>, may_be_zero: bool) {
        match time {
            Some(time) if time.0 < 0 => self.not_negative(path, time.0),
            Some(time) if time.0 == 0 && !may_be_zero => self.zero(path),
            _ => {}
        }
    }

    fn bounds<T: PartialOrd>(&mut self, path: &Path, min: Option<T>, max: Option<T>) {
        match (min, max) {
            (None, None) => {
                let message = "there is nothing to hold: give it `min`, `max` or both";
                self.find(path.clone(), Code::MissingKey, message);
            }
            (Some(min), Some(max)) if max < min => {
                let message = "this must not be less than `min`";
                self.find(path.key("max"), Code::InvalidValue, message);
            }
            _ => {}
        }
    }

    fn bytes(&mut self, path: &Path, rule: &Bytes) {
        if rule.max().is_some_and(|max| max < rule.min()) {
            let message = "this must not be less than `min`";
            self.find(path.key("max"), Code::InvalidValue, message);
        }
        if rule.address.is_some() && rule.decoder() != "i2c" {
            let message = "`address` goes with `decoder: i2c`: take it away";
            self.find(path.key("address"), Code::NotHere, message);
        }
        let decoder = match rule.decoder() {
            "i2c" => Decoder::I2c,
            "spi" => Decoder::Spi,
            _ => Decoder::Uart,
        };
        let known = decoder.roles();
        for (role, _) in rule.channels() {
            if !known.contains(&role) {
                let hint = did_you_mean(role, known.iter().copied());
                let message = format!(
                    "`{}` has no role `{role}`, but {}{hint}",
                    rule.decoder(),
                    known.join(", ")
                );
                let at = path.key("channels").key(role);
                self.find(at, Code::UnknownReference, message);
            }
        }
    }
}
