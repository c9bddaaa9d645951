//! One channel in a picture.

use std::fmt::Write as _;

use super::{COLUMNS, LANE, LEFT, NAME_CHARS_MAX, WIDTH, Window, escaped, range, shown};
use crate::analog::Trace;
use crate::capture::{Capture, Found};
use crate::evaluate::Fault;
use crate::lane::{Lane, Range, Stop};
use crate::number::{float, whole};
use crate::report::Judged;
use crate::words::quantity;

/// Room above and below a signal.
const PAD: u32 = 10;

/// Samples that are read at once.
const CHUNK: u64 = 1 << 16;

/// A lane and what it shows.
pub(super) struct View<'v> {
    pub(super) window: Window,
    pub(super) top: u32,
    pub(super) name: &'v str,
    pub(super) judged: &'v Judged,
    pub(super) stop: Stop<'v>,
}

impl View<'_> {
    pub(super) fn draw(&self, svg: &mut String, capture: &Capture<'_>) -> Result<(), Fault> {
        let bottom = self.top + LANE;
        let name = escaped(self.name, NAME_CHARS_MAX);
        let middle = self.top + LANE / 2 + 4;
        let _ = write!(
            svg,
            "<line class=\"lane\" x1=\"16\" y1=\"{bottom}\" x2=\"{WIDTH}\" y2=\"{bottom}\"/>\
             <text x=\"16\" y=\"{middle}\">{name}</text>"
        );
        let Some(range) = range(capture, self.name) else {
            return Ok(());
        };
        match capture.find_exact(self.name).map_err(Fault::Unfit)? {
            Found::Logic(channel) => {
                if let Some(logic) = &capture.logic {
                    let (segment, name) = (&logic.segment, self.name);
                    let (from, to) = shown(&self.window, &range);
                    let range = Range { from, to, ..range };
                    let lane = Lane {
                        segment,
                        channel,
                        name,
                        range,
                        stop: self.stop,
                    };
                    self.digital(svg, &lane)?;
                }
            }
            Found::Analog(at) => {
                let trace = Trace {
                    analog: &capture.analog[at],
                    range,
                    stop: self.stop,
                };
                self.analog(svg, &trace)?;
            }
        }
        self.due(svg);
        Ok(())
    }

    /// Levels as a line; a column in which there are several edges is one upright.
    fn digital(&self, svg: &mut String, lane: &Lane<'_>) -> Result<(), Fault> {
        let (high, low) = (self.top + PAD, self.top + LANE - PAD);
        let y = |level: bool| if level { high } else { low };
        let mut level = lane.first_level()?;
        let _ = write!(svg, "<path class=\"wave\" d=\"M{LEFT} {}", y(level));
        let mut last = (u64::MAX, 0);
        for edge in lane.edges()? {
            let edge = edge?;
            let x = self.window.x(float(edge.at) / lane.range.rate_hz);
            let column = whole(x * 2.0).unwrap_or_default();
            if last.0 == column {
                last.1 += 1;
            } else {
                // What the column before ended with, if that is not what was drawn last.
                if last.1 > 1 && last.1 % 2 == 0 {
                    let _ = write!(svg, "V{}", y(level));
                }
                let _ = write!(svg, "H{x:.1}V{}", y(edge.rises));
                last = (column, 1);
            }
            level = edge.rises;
        }
        if last.1 > 1 && last.1 % 2 == 0 {
            let _ = write!(svg, "V{}", y(level));
        }
        let end = self.window.x(float(lane.range.to) / lane.range.rate_hz);
        let _ = write!(svg, "H{end:.1}\"/>");
        Ok(())
    }

    fn analog(&self, svg: &mut String, trace: &Trace<'_>) -> Result<(), Fault> {
        let (from, to) = shown(&self.window, &trace.range);
        let columns = self.columns(trace, from, to)?;
        let guides = self.judged.guides.iter();
        let guides = guides.filter(|(channel, _)| *channel == self.name);
        let guides: Vec<f64> = guides.map(|(_, value)| *value).collect();
        let all = columns
            .iter()
            .flatten()
            .flat_map(|(low, high)| [*low, *high]);
        let all: Vec<f64> = all.chain(guides.iter().copied()).collect();
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let room = f64::from(LANE - 2 * PAD);
        let y = |value: f64| {
            let part = (value - low) / (high - low).max(f64::MIN_POSITIVE);
            f64::from(self.top + LANE - PAD) - part * room
        };
        let unit = &trace.analog.unit;
        for value in guides {
            let at = y(value);
            let _ = write!(
                svg,
                "<line class=\"guide\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{}\" y2=\"{at:.1}\"/>\
                 <text class=\"small\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT + COLUMNS,
                LEFT - 4,
                at + 4.0,
                escaped(&quantity(value, unit), NAME_CHARS_MAX)
            );
        }
        let mut points = String::new();
        for (column, extent) in (LEFT..).zip(&columns) {
            let Some((low, high)) = extent else { continue };
            let _ = write!(points, "{column},{:.1} ", y(*high));
            if low < high {
                let _ = write!(points, "{column},{:.1} ", y(*low));
            }
        }
        let _ = write!(
            svg,
            "<polyline class=\"wave\" points=\"{}\"/>",
            points.trim_end()
        );
        Ok(())
    }

    /// Lowest and highest value of each column; none where there is no sample.
    fn columns(
        &self,
        trace: &Trace<'_>,
        from: u64,
        to: u64,
    ) -> Result<Vec<Option<(f64, f64)>>, Fault> {
        let count = usize::try_from(COLUMNS).unwrap_or_default() + 1;
        let mut columns: Vec<Option<(f64, f64)>> = vec![None; count];
        let mut start = from;
        while start < to {
            let end = (start + CHUNK).min(to);
            for (at, value) in trace.values(start, end)? {
                let x = self.window.x(float(at) / trace.range.rate_hz) - f64::from(LEFT);
                let column = whole(x.round()).and_then(|x| usize::try_from(x).ok());
                let Some(column) = column.and_then(|x| columns.get_mut(x)) else {
                    continue;
                };
                let (low, high) = column.get_or_insert((value, value));
                (*low, *high) = (low.min(value), high.max(value));
            }
            start = end;
        }
        Ok(columns)
    }

    /// Where edges should be.
    fn due(&self, svg: &mut String) {
        let due = self.judged.due.iter();
        for (_, at) in due.filter(|(channel, _)| *channel == self.name) {
            if !(self.window.from..=self.window.to).contains(at) {
                continue;
            }
            let x = self.window.x(*at);
            let (top, bottom) = (self.top + 4, self.top + LANE - 4);
            let _ = write!(
                svg,
                "<line class=\"due\" x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>"
            );
        }
    }
}
