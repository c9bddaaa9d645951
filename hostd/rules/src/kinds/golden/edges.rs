//! The edges of one channel, beside those of the golden one.

use pipeline::rules::{Rule, Time};

use super::align::Aligned;
use super::{Course, Pair};
use crate::evaluate::Fault;
use crate::lane::{Ahead, Edge};
use crate::limits::PLACES_MAX;
use crate::number::{float, snap, whole};
use crate::report::Margin;
use crate::words::quantity;

/// Where edges are compared, in samples.
struct Window {
    from: f64,
    to: f64,
    /// The ends are those of the rule's range or of the samples: an edge beside one may be behind it in the other capture.
    most: f64,
    /// What is due outside of the capture is missing, rather than not looked at.
    is_whole: bool,
}

impl Window {
    fn has(&self, at: f64) -> bool {
        self.from <= at && at < self.to
    }

    /// Whether an edge that has no counterpart is judged.
    fn judges(&self, at: f64) -> bool {
        self.from + self.most < at && at + self.most <= self.to - 1.0
    }
}

/// An edge that is due.
#[derive(Clone, Copy)]
struct Due {
    at: f64,
    rises: bool,
    /// How far an edge of the capture may be from it and be still this one, though at a wrong time.
    reach: f64,
}

/// Compares every edge.
pub(super) fn compare(
    pair: &Pair<'_>,
    aligned: &Aligned,
    time_ns: i64,
    rule: &Rule,
    course: &mut Course,
) -> Result<(), Fault> {
    let range = pair.lane.range;
    let offset = snap(aligned.offset_s * range.rate_hz);
    let window = Window {
        from: offset.max(float(range.from)),
        to: (offset + pair.length()).min(float(range.to)),
        most: range.samples(Time(time_ns)),
        is_whole: rule.from().is_none() && rule.to().is_none(),
    };
    let due = due(pair, offset, &window);
    level(pair, offset, &window, course)?;
    let mut due = due.into_iter().peekable();
    let mut seen = Ahead::new(pair.lane.edges()?)?;
    loop {
        while seen.peek().is_some_and(|edge| float(edge.at) < window.from) {
            seen.step()?;
        }
        let edge = seen.peek().filter(|edge| window.has(float(edge.at)));
        match (due.peek().copied(), edge) {
            (None, None) => return Ok(()),
            (Some(wanted), None) => {
                missing(pair, &window, wanted, course);
                due.next();
            }
            (None, Some(edge)) => {
                extra(pair, &window, edge, course);
                seen.step()?;
            }
            (Some(wanted), Some(edge)) => {
                let off = (float(edge.at) - wanted.at).abs();
                if edge.rises == wanted.rises && off <= window.most {
                    right(pair, &window, off, edge, course);
                } else if edge.rises == wanted.rises && off <= wanted.reach {
                    displaced(pair, &window, wanted, edge, course);
                } else if wanted.at < float(edge.at) {
                    missing(pair, &window, wanted, course);
                    due.next();
                    continue;
                } else {
                    extra(pair, &window, edge, course);
                    seen.step()?;
                    continue;
                }
                due.next();
                seen.step()?;
            }
        }
    }
}

/// The edges that are due, with the reach of each: half of the way to its neighbours.
fn due(pair: &Pair<'_>, offset: f64, window: &Window) -> Vec<Due> {
    let all = &pair.due;
    let reach = |index: usize| {
        let at = all[index].0;
        let before = index.checked_sub(1).map(|before| at - all[before].0);
        let behind = all.get(index + 1).map(|(next, _)| next - at);
        let least = before
            .into_iter()
            .chain(behind)
            .fold(f64::INFINITY, f64::min);
        least / 2.0
    };
    let due = all.iter().enumerate().map(|(index, (at, rises))| Due {
        at: snap(at + offset),
        rises: *rises,
        reach: reach(index),
    });
    due.filter(|due| window.is_whole || window.has(due.at))
        .collect()
}

/// The level before the first edge that is compared.
fn level(pair: &Pair<'_>, offset: f64, window: &Window, course: &mut Course) -> Result<(), Fault> {
    let Some(first) = whole(window.from.ceil()).filter(|first| *first < pair.lane.range.to) else {
        return Ok(());
    };
    let at = float(first);
    let before = pair
        .due
        .partition_point(|(due, _)| snap(due + offset) <= at);
    let is_due = (pair.golden.level != 0) ^ (before % 2 == 1);
    let is_near = |edge: f64| (edge - at).abs() <= window.most;
    let near_due = pair.due.iter().any(|(due, _)| is_near(due + offset));
    let mut edges = pair.lane.edges()?;
    let near_seen = loop {
        match edges.next().transpose()? {
            Some(edge) if float(edge.at) > at + window.most => break false,
            Some(edge) if is_near(float(edge.at)) => break true,
            Some(_) => {}
            None => break false,
        }
    };
    let level = pair.lane.segment.level_at(pair.lane.channel, first)?;
    if level != is_due && !near_due && !near_seen {
        let words = || {
            let (is, was) = match level {
                true => ("high", "low"),
                false => ("low", "high"),
            };
            format!("{} begins {is}, where it was {was}", pair.lane.name)
        };
        let place = pair.lane.place(first, first);
        course.wrong(count(1), words, &place);
    }
    Ok(())
}

fn count(wrong: u64) -> Margin {
    Margin {
        value: -(wrong as f64),
        unit: "count",
    }
}

fn word(rises: bool) -> &'static str {
    match rises {
        true => "rising",
        false => "falling",
    }
}

fn seconds(pair: &Pair<'_>, window: &Window, off: f64) -> Margin {
    Margin {
        value: pair.lane.range.seconds(window.most - off),
        unit: "s",
    }
}

fn right(pair: &Pair<'_>, window: &Window, off: f64, edge: Edge, course: &mut Course) {
    let margin = seconds(pair, window, off);
    course.right(off, window.most, margin, || {
        pair.lane.place(edge.at, edge.at)
    });
}

fn displaced(pair: &Pair<'_>, window: &Window, wanted: Due, edge: Edge, course: &mut Course) {
    let range = pair.lane.range;
    let late = float(edge.at) - wanted.at;
    let words = || {
        let time = quantity(range.seconds(late.abs()), "s");
        let how = if late < 0.0 { "early" } else { "late" };
        let at = quantity(range.time(edge.at), "s");
        let word = word(edge.rises);
        format!(
            "the {word} edge of {} at {at} is {time} {how}",
            pair.lane.name
        )
    };
    let due = whole(wanted.at.max(0.0)).unwrap_or_default();
    let (from, to) = (due.min(edge.at), due.max(edge.at));
    let place = pair.lane.place(from, to);
    mark(pair, wanted.at, course);
    course.wrong(seconds(pair, window, late.abs()), words, &place);
}

fn missing(pair: &Pair<'_>, window: &Window, wanted: Due, course: &mut Course) {
    let is_outside = wanted.at < window.from - window.most || window.to + window.most <= wanted.at;
    let is_due = window.judges(wanted.at) || window.is_whole && is_outside;
    if !is_due {
        return;
    }
    let range = pair.lane.range;
    let last = range.to - 1;
    let at = whole(wanted.at.max(0.0)).unwrap_or_default().min(last);
    let words = || {
        let time = range.seconds(wanted.at - range.trigger);
        let word = word(wanted.rises);
        let at = quantity(time, "s");
        format!("the {word} edge of {} at {at} is missing", pair.lane.name)
    };
    mark(pair, wanted.at, course);
    course.wrong(count(1), words, &pair.lane.place(at, at));
}

fn extra(pair: &Pair<'_>, window: &Window, edge: Edge, course: &mut Course) {
    if !window.judges(float(edge.at)) {
        return;
    }
    let words = || {
        let at = quantity(pair.lane.range.time(edge.at), "s");
        let word = word(edge.rises);
        format!("{} has another {word} edge at {at}", pair.lane.name)
    };
    course.wrong(count(1), words, &pair.lane.place(edge.at, edge.at));
}

/// Marks in the picture where an edge should be.
fn mark(pair: &Pair<'_>, at: f64, course: &mut Course) {
    if course.due.len() < PLACES_MAX {
        let seconds = pair.lane.range.seconds(at);
        course.due.push((pair.lane.name.to_owned(), seconds));
    }
}
