//! The same verdicts by looking at every sample, in whole numbers.

use pipeline::rules::{
    EdgeOf, HertzTolerance, Kind, Name, Polarity, QuantityTolerance, Rule, Time, When,
};

use crate::support::Samples;

/// An edge: the first sample with the new level, and that level.
type Edge = (i128, bool);

/// What a rule comes to; none: it cannot be judged.
#[expect(clippy::too_many_lines, reason = "one kind of rule after another")]
pub(crate) fn holds(samples: &Samples, rule: &Rule) -> Option<bool> {
    let view = View::new(samples, rule)?;
    match rule.kind() {
        Kind::Frequency(rule) => {
            let rises = view.rises(&rule.channel);
            let (first, last) = (rises.first()?, rises.last()?);
            let (periods, span) = (rises.len() as i128 - 1, last - first);
            if periods < 1 {
                return Some(false);
            }
            // In billionths of a thousandth of a hertz, times the span.
            let value = i128::from(rule.value.0);
            let off = (periods * view.rate * 1000 - value * span).abs() * 1_000_000_000;
            let most = match rule.tolerance {
                HertzTolerance::Percent(percent) => value * i128::from(percent.0),
                HertzTolerance::Hertz(hertz) => i128::from(hertz.0) * 1_000_000_000,
            };
            Some(off <= most * span)
        }
        Kind::Duty(rule) => {
            let rises = view.rises(&rule.channel);
            let (first, last) = match (rises.first(), rises.last()) {
                (Some(first), Some(last)) if first < last => (*first, *last),
                _ => return Some(false),
            };
            let high = (first..last)
                .filter(|at| view.level(&rule.channel, *at))
                .count() as i128;
            let (value, most) = (i128::from(rule.value.0), i128::from(rule.tolerance.0));
            let all = last - first;
            Some((high * 1_000_000_000 - value * all).abs() <= most * all)
        }
        Kind::Within(rule) => {
            let (edges, after) = (view.edges_of(&rule.edge), view.edges_of(&rule.after));
            let is_same = rule.edge.channel == rule.after.channel;
            let judged: Vec<bool> = after
                .iter()
                .filter_map(|at| {
                    let is_answer = |edge: &&i128| **edge > *at || (**edge == *at && !is_same);
                    let answer = edges.iter().find(is_answer);
                    match answer {
                        Some(answer) => Some(view.lasts_at_most(answer - at, rule.time)),
                        // One more sample could still be in time.
                        None if view.lasts_at_most(view.to - at, rule.time) => None,
                        None => Some(false),
                    }
                })
                .collect();
            Some(each(&judged, rule.when))
        }
        Kind::Count(rule) => {
            let count = view.edges_of(&rule.edge).len() as u64;
            Some(rule.min() <= count && rule.max().is_none_or(|max| count <= max))
        }
        Kind::Pulse(rule) => Some(view.pulses(rule)),
        Kind::Level(rule) => view.levels(rule),
        Kind::Analog(rule) => Some((view.from..view.to).all(|at| {
            let value = view.microvolts(at);
            rule.min
                .is_none_or(|min| i128::from(min.millionths) <= value)
                && rule
                    .max
                    .is_none_or(|max| value <= i128::from(max.millionths))
        })),
        Kind::Settles(rule) => {
            let start = match &rule.after {
                Some(edge) => match view.edges_of(edge).first() {
                    Some(first) => *first,
                    None => return Some(false),
                },
                None => view.from,
            };
            let to = i128::from(rule.to.millionths);
            let off = match rule.tolerance {
                QuantityTolerance::Percent(percent) => to.abs() * i128::from(percent.0),
                QuantityTolerance::Quantity(quantity) => {
                    i128::from(quantity.millionths) * 1_000_000_000
                }
            };
            let is_there = |at: i128| (view.microvolts(at) - to).abs() * 1_000_000_000 <= off;
            let settled = (start..view.to).find(|at| (*at..view.to).all(is_there));
            Some(settled.is_some_and(|at| view.lasts_at_most(at - start, rule.within)))
        }
        Kind::I2c(_) | Kind::Bytes(_) | Kind::Golden(_) => None,
    }
}

fn each(judged: &[bool], when: When) -> bool {
    match when {
        When::Always => !judged.is_empty() && judged.iter().all(|right| *right),
        When::Once => judged.iter().any(|right| *right),
    }
}

/// The samples that a rule looks at.
pub(crate) struct View<'s> {
    samples: &'s Samples,
    rate: i128,
    pub(crate) from: i128,
    pub(crate) to: i128,
}

impl<'s> View<'s> {
    pub(crate) fn new(samples: &'s Samples, rule: &Rule) -> Option<Self> {
        let rate = i128::from(samples.rate_hz);
        let all = samples.words.len().max(samples.counts.len()) as i128;
        let trigger = i128::from(samples.trigger);
        // The first sample that is not before a time.
        let at = |time: Time| {
            (-all..=all * 2)
                .find(|sample| i128::from(time.0) * rate <= (sample - trigger) * 1_000_000_000)
        };
        let from = rule.from().map_or(Some(0), at)?;
        let to = rule.to().map_or(Some(all), at)?;
        (0 <= from && from < to && to <= all).then_some(Self {
            samples,
            rate,
            from,
            to,
        })
    }

    fn lasts_at_most(&self, length: i128, time: Time) -> bool {
        length * 1_000_000_000 <= i128::from(time.0) * self.rate
    }

    fn level(&self, name: &Name, at: i128) -> bool {
        let mut names = self.samples.names.iter();
        let lane = names.position(|own| *own == name.as_str()).unwrap();
        self.samples.words[usize::try_from(at).unwrap()] >> lane & 1 != 0
    }

    fn microvolts(&self, at: i128) -> i128 {
        i128::from(self.samples.counts[usize::try_from(at).unwrap()]) * 1000
    }

    fn edges(&self, name: &Name) -> Vec<Edge> {
        let differs = |at: &i128| self.level(name, *at) != self.level(name, at - 1);
        let at = (self.from + 1..self.to).filter(differs);
        at.map(|at| (at, self.level(name, at))).collect()
    }

    fn edges_of(&self, edge: &EdgeOf) -> Vec<i128> {
        let edges = self.edges(&edge.channel).into_iter();
        let meant = edges.filter(|(_, level)| edge.direction.is(*level));
        meant.map(|(at, _)| at).collect()
    }

    fn rises(&self, name: &Name) -> Vec<i128> {
        let edges = self.edges(name).into_iter();
        edges
            .filter(|(_, level)| *level)
            .map(|(at, _)| at)
            .collect()
    }

    fn pulses(&self, rule: &pipeline::rules::Pulse) -> bool {
        let mut start = self.from;
        let mut is_whole = false;
        for at in self.from + 1..=self.to {
            let level = self.level(&rule.channel, start);
            if at < self.to && self.level(&rule.channel, at) == level {
                continue;
            }
            let ends = at < self.to;
            let is_meant = |wanted| (wanted == Polarity::High) == level;
            if rule.level.is_none_or(is_meant) {
                let length = at - start;
                let is_short = |min: Time| length * 1_000_000_000 < i128::from(min.0) * self.rate;
                if is_whole && ends && rule.min.is_some_and(is_short) {
                    return false;
                }
                if rule.max.is_some_and(|max| !self.lasts_at_most(length, max)) {
                    return false;
                }
            }
            (start, is_whole) = (at, true);
        }
        true
    }

    fn levels(&self, rule: &pipeline::rules::Level) -> Option<bool> {
        let late = |from: i128| {
            let time = i128::from(rule.at.0) * self.rate;
            let mut samples = (from - 10_000)..;
            let at = samples
                .find(|at| time <= (at - from) * 1_000_000_000)
                .unwrap();
            (self.from <= at && at < self.to).then_some(at)
        };
        let is_right = |at: i128| self.level(&rule.channel, at) == (rule.is == Polarity::High);
        match &rule.after {
            None => late(i128::from(self.samples.trigger)).map(is_right),
            Some(edge) => {
                let looks = self.edges_of(edge).into_iter().filter_map(late);
                let judged: Vec<bool> = looks.map(is_right).collect();
                Some(each(&judged, rule.when))
            }
        }
    }
}
