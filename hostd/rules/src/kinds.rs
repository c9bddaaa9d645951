//! What each kind of rule asks for, and what it comes to.

mod analog;
mod bytes;
mod count;
mod duty;
mod frequency;
mod golden;
mod i2c;
mod level;
mod pulse;
mod settles;
mod within;

use std::fmt::Display;

use pipeline::rules::{Align, Kind, Polarity, Rule, When};

use crate::evaluate::{Fault, Scene};
use crate::report::Sight;

/// What a rule comes to.
pub(crate) fn sight(scene: &Scene<'_>) -> Result<Sight, Fault> {
    match scene.rule.kind() {
        Kind::Frequency(rule) => frequency::sight(scene, rule),
        Kind::Duty(rule) => duty::sight(scene, rule),
        Kind::Within(rule) => within::sight(scene, rule),
        Kind::I2c(rule) => i2c::sight(scene, rule),
        Kind::Bytes(rule) => bytes::sight(scene, rule),
        Kind::Count(rule) => count::sight(scene, rule),
        Kind::Pulse(rule) => pulse::sight(scene, rule),
        Kind::Level(rule) => level::sight(scene, rule),
        Kind::Analog(rule) => analog::sight(scene, rule),
        Kind::Settles(rule) => settles::sight(scene, rule),
        Kind::Golden(rule) => golden::sight(scene, rule),
    }
}

/// What a rule asks for, in a sentence without its end.
pub(crate) fn wanted(rule: &Rule) -> String {
    let what = match rule.kind() {
        Kind::Frequency(rule) => {
            format!("{} at {} ± {}", rule.channel, rule.value, rule.tolerance)
        }
        Kind::Duty(rule) => format!(
            "{} high for {} ± {} of its periods",
            rule.channel, rule.value, rule.tolerance
        ),
        Kind::Within(rule) => format!(
            "`{}` within {} of {} `{}`",
            rule.edge,
            rule.time,
            each(rule.when),
            rule.after
        ),
        Kind::I2c(rule) => wanted_i2c(rule),
        Kind::Bytes(rule) => {
            let to = rule.address().map(|address| format!(" to {address:#04x}"));
            let often = bounds(some(rule.min()), rule.max(), "times");
            format!(
                "{}{} on {} {often}",
                rule.bytes,
                to.unwrap_or_default(),
                rule.decoder()
            )
        }
        Kind::Count(rule) => {
            format!(
                "`{}` {}",
                rule.edge,
                bounds(some(rule.min()), rule.max(), "times")
            )
        }
        Kind::Pulse(rule) => {
            let level = rule.level.map_or("pulse", |level| match level {
                Polarity::High => "high pulse",
                Polarity::Low => "low pulse",
            });
            format!(
                "each {level} of {} {}",
                rule.channel,
                bounds(rule.min, rule.max, "long")
            )
        }
        Kind::Level(rule) => {
            let after = match &rule.after {
                Some(edge) => format!("{} `{edge}`", each(rule.when)),
                None => "the trigger".to_owned(),
            };
            let is = high_or_low(rule.is == Polarity::High);
            format!("{} {is} {} after {after}", rule.channel, rule.at)
        }
        Kind::Analog(rule) => format!("{} {}", rule.channel, bounds(rule.min, rule.max, "")),
        Kind::Settles(rule) => wanted_settles(rule),
        Kind::Golden(rule) => format!("the signals of {}", rule.of()),
    };
    let from = rule.from().map(|time| format!(", from {time} on"));
    let to = rule.to().map(|time| format!(", up to {time}"));
    let where_to = from.unwrap_or_default() + &to.unwrap_or_default();
    (what.trim_end().to_owned() + &where_to).replace("  ", " ")
}

fn wanted_i2c(rule: &pipeline::rules::I2c) -> String {
    let word = if rule.answered {
        "answered"
    } else {
        "not answered"
    };
    let when = match rule.when {
        When::Always => "each time",
        When::Once => "once",
    };
    format!("address {:#04x} {word} {when}", rule.address())
}

fn wanted_settles(rule: &pipeline::rules::Settles) -> String {
    let after = rule.after.as_ref().map(|edge| format!(" of `{edge}`"));
    format!(
        "{} at {} ± {} within {}{}",
        rule.channel,
        rule.to,
        rule.tolerance,
        rule.within,
        after.unwrap_or_default()
    )
}

fn each(when: When) -> &'static str {
    match when {
        When::Always => "each",
        When::Once => "one",
    }
}

fn some(min: u64) -> Option<u64> {
    Some(min).filter(|min| *min > 0)
}

fn bounds<T: Display>(min: Option<T>, max: Option<T>, unit: &str) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("{min} to {max} {unit}"),
        (Some(min), None) => format!("at least {min} {unit}"),
        (None, Some(max)) => format!("at most {max} {unit}"),
        (None, None) => String::new(),
    }
}

fn high_or_low(is_high: bool) -> &'static str {
    match is_high {
        true => "high",
        false => "low",
    }
}

/// What aligns a comparison, in a sentence.
fn aligned(align: Align) -> &'static str {
    match align {
        Align::Trigger => "by the trigger",
        Align::FirstEdge => "by the first edge",
        Align::Best => "where most edges fit",
    }
}
