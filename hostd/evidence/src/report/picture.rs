//! The pictures of the page: captures and the timeline, as inline SVG.

use std::fmt::{self, Write as _};

use super::{Text, time};
use crate::result::{Capture, JobResult, Signal, Span};

/// Width of a picture, in its own units.
const WIDTH: f32 = 900.0;

/// The part of it that is for the names on the left.
const NAMES: f32 = 140.0;

/// Most changes of level that are drawn for a channel: more changes than pixels say nothing.
const CHANGES_MAX: usize = 2000;

/// Most parts that are drawn for an analogue channel.
const PARTS_MAX: usize = 1000;

/// Width of a letter, generous for most letters.
const LETTER: f32 = 7.0;

/// Most bars in a lane.
const BARS_MAX: usize = 1000;

/// Height of a digital channel, an analogue one, a row of the timeline, and of the scale below.
const DIGITAL: f32 = 30.0;
const ANALOG: f32 = 80.0;
const ROW: f32 = 26.0;
const SCALE: f32 = 22.0;

/// Draws a capture.
pub(super) fn capture(capture: &Capture, page: &mut String) -> fmt::Result {
    let height = |signal: &Signal| match signal {
        Signal::Digital(..) => DIGITAL,
        Signal::Analog(..) => ANALOG,
    };
    let all: f32 = capture
        .channels
        .iter()
        .map(|channel| height(&channel.signal))
        .sum();
    open(&format!("capture {}", capture.name), all + SCALE, page)?;
    let mut top = 0.0;
    for channel in &capture.channels {
        let height = height(&channel.signal);
        label(&channel.name, top + height / 2.0 + 4.0, page)?;
        match &channel.signal {
            Signal::Digital(level, changes) => digital(*level, changes, top, page)?,
            Signal::Analog(parts, unit) => analog(parts, unit, top, page)?,
        }
        top += height;
    }
    scale(capture.duration_us, top, page)
}

/// Draws how the time was spent, one row for each lane.
pub(super) fn timeline(job: &JobResult, page: &mut String) -> fmt::Result {
    let mut lanes: Vec<&str> = Vec::new();
    for span in &job.spans {
        if !lanes.contains(&span.lane.as_str()) {
            lanes.push(&span.lane);
        }
    }
    let end = job
        .spans
        .iter()
        .map(|span| span.end_us)
        .max()
        .unwrap_or(0)
        .max(1);
    let rows = f32::from(u16::try_from(lanes.len()).unwrap_or(u16::MAX));
    open("timeline", rows * ROW + SCALE, page)?;
    let mut top = 0.0;
    for lane in lanes {
        label(lane, top + ROW / 2.0 + 4.0, page)?;
        let spans = job.spans.iter().filter(|span| span.lane == lane);
        for span in spans.take(BARS_MAX) {
            bar(span, end, top, page)?;
        }
        top += ROW;
    }
    scale(end, top, page)
}

/// A span of time, with its name if there is room, and as a tooltip.
fn bar(span: &Span, end_us: u64, top: f32, page: &mut String) -> fmt::Result {
    let from = along(part(span.start_us, end_us));
    let width = (along(part(span.end_us, end_us)) - from).max(1.0);
    let failed = if span.failed { " bad" } else { "" };
    let took = time(span.end_us.saturating_sub(span.start_us));
    let (name, y, height) = (Text(&span.name), top + 4.0, ROW - 8.0);
    write!(
        page,
        "<g><title>{name}, {took}</title><rect class=\"bar{failed}\" x=\"{from:.1}\" y=\"{y:.1}\" \
         width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\"/>"
    )?;
    let letters = u16::try_from(span.name.chars().count()).unwrap_or(u16::MAX);
    if f32::from(letters) * LETTER + 8.0 < width {
        let (x, y) = (from + 5.0, top + ROW / 2.0 + 4.0);
        write!(
            page,
            "<text class=\"on\" x=\"{x:.1}\" y=\"{y:.1}\">{name}</text>"
        )?;
    }
    page.push_str("</g>");
    Ok(())
}

fn open(name: &str, height: f32, page: &mut String) -> fmt::Result {
    write!(
        page,
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">",
        Text(name)
    )
}

/// The name of a row. A long one ends in dots; its tooltip shows all of it.
fn label(name: &str, y: f32, page: &mut String) -> fmt::Result {
    let mut short: String = name.chars().take(20).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    let (name, short) = (Text(name), Text(&short));
    write!(
        page,
        "<text x=\"8\" y=\"{y:.1}\">{short}<title>{name}</title></text>"
    )
}

/// The scale at the bottom, which ends the picture.
fn scale(duration_us: u64, top: f32, page: &mut String) -> fmt::Result {
    let y = top + SCALE - 7.0;
    write!(
        page,
        "<text class=\"soft\" x=\"{NAMES}\" y=\"{y:.1}\">0</text>"
    )?;
    let (end, took) = (WIDTH - 8.0, time(duration_us));
    writeln!(
        page,
        "<text class=\"soft\" x=\"{end}\" y=\"{y:.1}\" text-anchor=\"end\">{took}</text></svg>"
    )
}

fn digital(mut level: bool, changes: &[f32], top: f32, page: &mut String) -> fmt::Result {
    let height = |level: bool| {
        if level {
            top + 6.0
        } else {
            top + DIGITAL - 6.0
        }
    };
    write!(
        page,
        "<path class=\"wave\" d=\"M{NAMES} {:.1}",
        height(level)
    )?;
    // If there are more changes than can be seen, some are left out, in pairs, so that levels stay
    // correct.
    let skip = (changes.len() / CHANGES_MAX) * 2;
    let mut at = 0;
    while let Some(change) = changes.get(at) {
        level = !level;
        write!(page, "H{:.1}V{:.1}", along(*change), height(level))?;
        at += 1 + if at % 2 == 1 { skip } else { 0 };
    }
    write!(page, "H{WIDTH}\"/>")
}

fn analog(parts: &[(f32, f32)], unit: &str, top: f32, page: &mut String) -> fmt::Result {
    let known = parts
        .iter()
        .filter(|(low, high)| low.is_finite() && high.is_finite());
    let low = known
        .clone()
        .map(|(low, _)| *low)
        .fold(f32::INFINITY, f32::min);
    let high = known
        .clone()
        .map(|(_, high)| *high)
        .fold(f32::NEG_INFINITY, f32::max);
    if low > high {
        return Ok(());
    }
    let range = if high > low { high - low } else { 1.0 };
    let height = |value: f32| top + 8.0 + (ANALOG - 16.0) * (1.0 - (value - low) / range);
    let group = parts.len().div_ceil(PARTS_MAX).max(1);
    let groups = parts.len().div_ceil(group);
    let mut upper = String::new();
    let mut lower: Vec<String> = Vec::new();
    for (number, group) in parts.chunks(group).enumerate() {
        let known = group
            .iter()
            .filter(|(low, high)| low.is_finite() && high.is_finite());
        let top = known.clone().map(|(_, high)| *high).fold(low, f32::max);
        let bottom = known.map(|(low, _)| *low).fold(high, f32::min);
        let x = along(part(number as u64, groups as u64));
        write!(upper, "{x:.1},{:.1} ", height(top))?;
        lower.push(format!("{x:.1},{:.1}", height(bottom)));
    }
    lower.reverse();
    write!(
        page,
        "<polygon class=\"band\" points=\"{upper}{}\"/>",
        lower.join(" ")
    )?;
    let unit = Text(unit);
    let x = NAMES - 8.0;
    for (value, y) in [(high, top + 14.0), (low, top + ANALOG - 6.0)] {
        write!(
            page,
            "<text class=\"soft\" x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{value:.2} {unit}</text>"
        )?;
    }
    Ok(())
}

/// The position in the picture of a part of the whole, from 0 to 1; anything else is at an edge.
fn along(part: f32) -> f32 {
    let part = if part.is_nan() {
        0.0
    } else {
        part.clamp(0.0, 1.0)
    };
    NAMES + (WIDTH - NAMES) * part
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a picture has a thousand pixels"
)]
fn part(of: u64, whole: u64) -> f32 {
    of as f32 / whole as f32
}
