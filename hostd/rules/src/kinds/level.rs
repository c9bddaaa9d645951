//! `level`: a level at a time after the trigger or an edge.

use decode::segment::{Edge, Line};
use pipeline::rules::{Level, Polarity, When};

use super::high_or_low;
use crate::evaluate::{Fault, Scene};
use crate::lane::{Lane, Range};
use crate::number::{float, snap};
use crate::report::{Margin, Sight, Wrong};
use crate::words::{counted, quantity};

/// A sample at which the level is judged.
#[derive(Debug, Clone, Copy)]
struct Look {
    at: u64,
    is_high: bool,
    /// How many samples away it would be judged otherwise; none: nowhere in the range.
    room: Option<u64>,
}

/// Looks samples of a lane up.
struct Eye<'a> {
    line: Line<'a>,
    range: Range,
}

impl<'a> Eye<'a> {
    fn new(lane: &Lane<'a>) -> Result<Self, Fault> {
        Ok(Self {
            line: lane.segment.line(lane.channel)?,
            range: lane.range,
        })
    }

    fn look(&mut self, at: u64) -> Result<Look, Fault> {
        let Range { from, to, .. } = self.range;
        let before = self.line.previous_edge(at + 1, Edge::Either)?;
        let next = self.line.next_edge(at + 1, Edge::Either)?;
        // Edges lie between two samples of the range.
        let back = before.filter(|before| from < *before);
        let back = back.map(|before| at + 1 - before);
        let on = next.filter(|next| *next < to).map(|next| next - at);
        Ok(Look {
            at,
            is_high: self.line.level_at(at)?,
            room: back.into_iter().chain(on).min(),
        })
    }
}

pub(super) fn sight(scene: &Scene<'_>, rule: &Level) -> Result<Sight, Fault> {
    let lane = scene.lane(&rule.channel)?;
    let mut eye = Eye::new(&lane)?;
    let mut looks = Looks::new(&lane, rule);
    let Some(edge) = &rule.after else {
        let at = lane.range.after(lane.range.trigger, rule.at);
        let at = at.ok_or_else(|| {
            Fault::Unfit(format!(
                "{} after the trigger is not in the range: record more, or look at another time",
                rule.at
            ))
        })?;
        looks.take(eye.look(at)?);
        return Ok(looks.told(None));
    };
    let after = scene.lane_of(edge)?;
    let offset = snap(lane.range.samples(rule.at));
    for found in after.edges()? {
        let found = found?;
        if !edge.direction.is(found.rises) {
            continue;
        }
        let at = crate::number::whole((float(found.at) + offset).ceil());
        match at.filter(|at| (lane.range.from..lane.range.to).contains(at)) {
            Some(at) => looks.take(eye.look(at)?),
            None => looks.unjudged += 1,
        }
    }
    Ok(looks.told(Some(after.name)))
}

struct Looks<'a, 'r> {
    lane: &'r Lane<'a>,
    rule: &'r Level,
    judged: u64,
    right: u64,
    unjudged: u64,
    /// Those that are judged right and wrong with the least room.
    near: [Option<Look>; 2],
    wrong: Wrong,
}

impl<'a, 'r> Looks<'a, 'r> {
    fn new(lane: &'r Lane<'a>, rule: &'r Level) -> Self {
        Self {
            lane,
            rule,
            judged: 0,
            right: 0,
            unjudged: 0,
            near: [None, None],
            wrong: Wrong::default(),
        }
    }

    fn take(&mut self, look: Look) {
        let is_right = look.is_high == (self.rule.is == Polarity::High);
        self.judged += 1;
        self.right += u64::from(is_right);
        if !is_right {
            self.wrong.add(|| self.lane.place(look.at, look.at));
        }
        let near = &mut self.near[usize::from(!is_right)];
        let room = |look: &Look| look.room.unwrap_or(u64::MAX);
        // Of what is right the nearest to being wrong is told, of what is wrong the furthest from being right.
        let is_better = |other: &Look| match is_right {
            true => room(&look) < room(other),
            false => room(other) < room(&look),
        };
        if near.as_ref().is_none_or(is_better) {
            *near = Some(look);
        }
    }

    fn told(self, after: Option<&str>) -> Sight {
        let lane = self.lane;
        let mut lanes = vec![lane.name.to_owned()];
        lanes.extend(after.filter(|name| *name != lane.name).map(str::to_owned));
        let passed = match self.rule.when {
            When::Always => self.judged > 0 && self.right == self.judged,
            When::Once => self.right > 0,
        };
        let Some(look) = self.near[usize::from(!passed)] else {
            let seen = match (&self.rule.after, self.unjudged) {
                (Some(edge), 0) => format!("there is no `{edge}`"),
                _ => "the time after each edge is out of the range".to_owned(),
            };
            return Sight {
                seen,
                place: Some(lane.place(lane.range.from, lane.range.to - 1)),
                lanes,
                ..Sight::default()
            };
        };
        let at = quantity(lane.range.time(look.at), "s");
        let level = high_or_low(look.is_high);
        let seen = match self.judged {
            1 => format!("{level} at {at}"),
            judged => {
                let times = counted(judged, "time", "times");
                format!("right {} of {times}; {level} at {at}", self.right)
            }
        };
        let sign = if passed { 1.0 } else { -1.0 };
        let room = look.room.map(|room| lane.range.seconds(float(room)));
        Sight {
            passed,
            seen,
            place: Some(lane.place(look.at, look.at)),
            margin: room.map(|room| Margin {
                value: sign * room,
                unit: "s",
            }),
            wrong: if passed { Wrong::default() } else { self.wrong },
            lanes,
            ..Sight::default()
        }
    }
}
