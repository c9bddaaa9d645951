//! `golden`: signals are those of a good capture, edge by edge.

mod align;
mod edges;
mod values;

use pipeline::rules::{Align, Golden as Rule};

use crate::evaluate::{Fault, Scene};
use crate::golden::{Edges, Golden, Points, positions};
use crate::lane::Lane;
use crate::number::float;
use crate::report::{Margin, Place, Sight, Wrong};
use crate::words::{counted, quantity};
use align::Aligned;

/// A channel of the file and of the capture.
struct Pair<'a> {
    golden: &'a Edges,
    /// Edges of the file at the rate of the capture, from its first sample.
    due: Vec<(f64, bool)>,
    lane: Lane<'a>,
}

/// What was compared.
struct Course {
    right: u64,
    values: u64,
    wrong: Wrong,
    /// The first thing that is wrong, in words.
    first: Option<String>,
    /// The furthest from its place that is still right, as a part of what may be, and where.
    worst: Option<(f64, Margin, Place)>,
    /// Where edges should be, for the picture: channel and seconds from the first sample.
    due: Vec<(String, f64)>,
}

impl Course {
    fn right(&mut self, off: f64, most: f64, margin: Margin, place: impl FnOnce() -> Place) {
        self.right += 1;
        let part = if most > 0.0 { off / most } else { 1.0 };
        if self.worst.as_ref().is_none_or(|(other, ..)| *other < part) {
            self.worst = Some((part, margin, place()));
        }
    }

    fn wrong(&mut self, margin: Margin, words: impl FnOnce() -> String, place: &Place) {
        if self.first.is_none() {
            self.first = Some(words());
            self.worst = Some((f64::INFINITY, margin, place.clone()));
        }
        self.wrong.add(|| place.clone());
    }
}

pub(super) fn sight(scene: &Scene<'_>, rule: &Rule) -> Result<Sight, Fault> {
    let Some(golden) = scene.goldens.get(rule.of()) else {
        return Err(Fault::Unfit(match rule.file() {
            Some(file) => format!(
                "the golden file {file} is not here: make it by `hostd golden`, and keep it beside the rules"
            ),
            None => format!("the capture {} is not here to compare with", rule.of()),
        }));
    };
    let wanted = |name: &str| {
        let all = rule.channels();
        all.is_empty() || all.iter().any(|own| own.as_str() == name)
    };
    for name in rule.channels() {
        let mut logic = golden.logic.iter().map(|channel| &channel.name);
        let mut analog = golden.analog.iter().map(|channel| &channel.name);
        if !logic.any(|own| own == name.as_str()) && !analog.any(|own| own == name.as_str()) {
            return Err(Fault::Unfit(format!(
                "the golden file has no channel `{name}`: take it away, or make the file again"
            )));
        }
    }
    let time_ns = rule.time.map_or(golden.time_ns, |time| time.0);
    let pairs = pairs(scene, golden, &wanted)?;
    let aligned = align::aligned(scene, golden, rule.align, time_ns, &pairs)?;
    let mut course = Course {
        right: 0,
        values: 0,
        wrong: Wrong::default(),
        first: None,
        worst: None,
        due: Vec::new(),
    };
    for pair in &pairs {
        edges::compare(pair, &aligned, time_ns, scene.rule, &mut course)?;
    }
    let off = rule.amplitude.map(|off| off.value()).or(golden.amplitude);
    let points: Vec<&Points> = golden.analog.iter().filter(|p| wanted(&p.name)).collect();
    for points in &points {
        let tolerance = (time_ns, off);
        values::compare(scene, points, &aligned, tolerance, &mut course)?;
    }
    let mut lanes: Vec<String> = pairs.iter().map(|pair| pair.lane.name.to_owned()).collect();
    lanes.extend(points.iter().map(|points| points.name.clone()));
    // What is wrong stands first.
    if let Some((_, _, place)) = &course.worst
        && let Some(at) = lanes.iter().position(|name| *name == place.channel)
    {
        lanes[..=at].rotate_right(1);
    }
    Ok(told(course, &aligned, lanes))
}

fn told(course: Course, aligned: &Aligned, lanes: Vec<String>) -> Sight {
    let how = super::aligned(aligned.align);
    let shift = match aligned.align {
        Align::Trigger => String::new(),
        _ => format!(" ({})", quantity(aligned.offset_s, "s")),
    };
    let edges = counted(course.right, "edge", "edges");
    let values = match course.values {
        0 => String::new(),
        values => format!(" and {}", counted(values, "value", "values")),
    };
    let passed = course.wrong.found == 0;
    let mut seen = format!("{edges}{values} as they were, aligned {how}{shift}");
    if let Some(first) = course.first {
        let places = counted(course.wrong.found, "place", "places");
        seen = format!("{first}; {places} wrong, {seen}");
    }
    let (margin, place) = course.worst.map_or((None, None), |(_, margin, place)| {
        (Some(margin), Some(place))
    });
    Sight {
        passed,
        seen,
        place,
        margin,
        wrong: course.wrong,
        lanes,
        due: course.due,
        ..Sight::default()
    }
}

fn pairs<'a>(
    scene: &Scene<'a>,
    golden: &'a Golden,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<Pair<'a>>, Fault> {
    let mut pairs = Vec::new();
    for channel in golden.logic.iter().filter(|channel| wanted(&channel.name)) {
        let lane = scene.lane_named(&channel.name)?;
        pairs.push(Pair {
            golden: channel,
            due: positions(channel, lane.range.rate_hz),
            lane,
        });
    }
    Ok(pairs)
}

impl Pair<'_> {
    /// How many samples of the capture the golden one has.
    fn length(&self) -> f64 {
        float(self.golden.samples) * self.lane.range.rate_hz / self.golden.sample_rate_hz
    }
}
