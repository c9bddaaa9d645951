//! `within`: an edge follows another one in time, each time or once.

use pipeline::rules::{When, Within};

use crate::evaluate::{Fault, Scene};
use crate::lane::{Ahead, Lane};
use crate::number::float;
use crate::report::{Margin, Place, Sight, Wrong};
use crate::words::{counted, quantity};

/// An edge and what followed it: none did within the range.
#[derive(Clone, Copy)]
struct Pair {
    after: u64,
    edge: Option<u64>,
}

/// What was seen of all of them.
#[derive(Default)]
struct Course {
    judged: u64,
    unjudged: u64,
    right: u64,
    longest: Option<Pair>,
    shortest: Option<Pair>,
}

pub(super) fn sight(scene: &Scene<'_>, rule: &Within) -> Result<Sight, Fault> {
    let (lane, after) = (scene.lane_of(&rule.edge)?, scene.lane_of(&rule.after)?);
    let most = lane.range.samples(rule.time);
    let end = lane.range.to;
    let mut answers = Ahead::new(lane.edges()?)?;
    let mut course = Course::default();
    let mut wrong = Wrong::default();
    for edge in after.edges()? {
        let edge = edge?;
        if !rule.after.direction.is(edge.rises) {
            continue;
        }
        // An edge does not follow itself.
        let least = edge.at + u64::from(lane.channel == after.channel);
        while let Some(answer) = answers.peek() {
            if answer.at >= least && rule.edge.direction.is(answer.rises) {
                break;
            }
            answers.step()?;
        }
        let pair = Pair {
            after: edge.at,
            edge: answers.peek().map(|answer| answer.at),
        };
        if pair.edge.is_none() && float(end - 1 - edge.at) < most.floor() {
            course.unjudged += 1;
            continue;
        }
        let is_right = float(pair.length(end)) <= most && pair.edge.is_some();
        course.take(pair, is_right, end);
        if !is_right {
            wrong.add(|| place(&lane, &after, pair));
        }
    }
    Ok(told(rule, (&lane, &after), most, &course, wrong))
}

impl Pair {
    fn length(self, end: u64) -> u64 {
        self.edge.unwrap_or(end) - self.after
    }
}

impl Course {
    fn take(&mut self, pair: Pair, is_right: bool, end: u64) {
        self.judged += 1;
        self.right += u64::from(is_right);
        let length = |pair: Pair| pair.length(end);
        if self
            .longest
            .is_none_or(|other| length(other) < length(pair))
        {
            self.longest = Some(pair);
        }
        if self
            .shortest
            .is_none_or(|other| length(pair) < length(other))
        {
            self.shortest = Some(pair);
        }
    }
}

fn place(lane: &Lane<'_>, after: &Lane<'_>, pair: Pair) -> Place {
    let to = pair.edge.unwrap_or(lane.range.to - 1);
    after.place(pair.after, to.max(pair.after))
}

fn told(
    rule: &Within,
    (lane, after): (&Lane<'_>, &Lane<'_>),
    most: f64,
    course: &Course,
    wrong: Wrong,
) -> Sight {
    let mut lanes = vec![after.name.to_owned()];
    if lane.channel != after.channel {
        lanes.push(lane.name.to_owned());
    }
    let shown = match rule.when {
        When::Always => course.longest,
        When::Once => course.shortest,
    };
    let Some(shown) = shown else {
        let seen = match course.unjudged {
            0 => format!("there is no `{}`", rule.after),
            _ => format!(
                "the range ends before the time of each `{}` is over",
                rule.after
            ),
        };
        return Sight {
            seen,
            place: Some(lane.place(lane.range.from, lane.range.to - 1)),
            lanes,
            ..Sight::default()
        };
    };
    let passed = match rule.when {
        When::Always => course.right == course.judged,
        When::Once => course.right > 0,
    };
    let length = shown.length(lane.range.to);
    let time = quantity(lane.range.seconds(float(length)), "s");
    let at = quantity(lane.range.time(shown.after), "s");
    let word = match rule.when {
        When::Always => "longest",
        When::Once => "shortest",
    };
    let extreme = match shown.edge {
        Some(_) => format!("the {word} took {time}, at {at}"),
        None => format!("none came after that at {at}, in {time}"),
    };
    let edges = counted(course.judged, "edge", "edges");
    let seen = format!("{} of {edges} in time; {extreme}", course.right);
    Sight {
        passed,
        seen,
        place: Some(place(lane, after, shown)),
        margin: Some(Margin {
            value: lane.range.seconds(most - float(length)),
            unit: "s",
        }),
        wrong: if passed { Wrong::default() } else { wrong },
        lanes,
        ..Sight::default()
    }
}
