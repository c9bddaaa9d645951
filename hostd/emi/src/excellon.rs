//! Excellon drill files: holes, slots and routed ways. There is no standard that programs keep to; what is read is what
//! KiCad, Altium, Eagle and older ones write. Y is turned down, as for Gerbers.

mod allegro;
mod line;
mod scale;

use std::collections::HashMap;

use crate::geometry::Point;
use crate::gerber::{FileFunction, INCH};
use crate::limits::Limits;
use crate::observer::Observer;
use crate::open::{OpenError, Steps, shown};
pub(crate) use allegro::is_tool as is_tool_comment;
use line::Words;
use scale::Scale;

/// Millimetres of a thousandth of an inch.
const MIL: f64 = INCH / 1e3;

/// A drill file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drills {
    /// Whether there is copper in the holes, if the file says.
    pub(crate) is_plated: Option<bool>,
    /// The layers from and to which they go, counted from 1.
    pub(crate) span: Option<(usize, usize)>,
    pub(crate) holes: Vec<DrillHole>,
    /// What was assumed or left out, for people.
    pub(crate) notes: Vec<String>,
}

/// A hole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DrillHole {
    pub(crate) at: Point,
    /// Where a slot ends.
    pub(crate) to: Point,
    pub(crate) diameter: f64,
    pub(crate) is_plated: Option<bool>,
    /// Whether it is of a via, if the file says.
    pub(crate) is_via: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tool {
    diameter: f64,
    is_plated: Option<bool>,
    is_via: Option<bool>,
}

/// Reads a file.
///
/// # Errors
/// What is wrong with it or beyond a bound, with line and column; or that the observer stopped it.
pub(crate) fn read(
    bytes: &[u8],
    limits: &Limits,
    observer: &dyn Observer,
) -> Result<Drills, OpenError> {
    let mut reader = Reader {
        bytes,
        limits,
        drills: Drills::default(),
        scale: Scale::default(),
        tools: HashMap::new(),
        attribute: Tool::default(),
        tool: None,
        at: Point::default(),
        is_down: false,
        is_routing: false,
        is_header: true,
        unknown: 0,
    };
    // Sizes of tools may stand before the unit.
    let header = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut header = header.take_while(|line| !matches!(*line, b"%" | b"M95"));
    if let Some(unit) = header.find(|line| Scale::is_declaration(line)) {
        reader.scale.declare(unit);
    }
    let mut watch = Steps::new(observer);
    let mut offset = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        watch.step()?;
        let text = line.trim_ascii();
        let indent = line.iter().take_while(|b| b.is_ascii_whitespace()).count();
        if !text.is_empty() && !reader.line(text, offset + indent)? {
            break;
        }
        offset += line.len();
    }
    Ok(reader.finish())
}

struct Reader<'a> {
    bytes: &'a [u8],
    limits: &'a Limits,
    drills: Drills,
    scale: Scale,
    tools: HashMap<u32, Tool>,
    /// What the next tool is for.
    attribute: Tool,
    tool: Option<Tool>,
    /// Where it is, in millimetres, y up.
    at: Point,
    is_down: bool,
    is_routing: bool,
    is_header: bool,
    unknown: usize,
}

impl Reader<'_> {
    fn refuse(&self, offset: usize, message: impl Into<String>) -> OpenError {
        OpenError::at(self.bytes, offset, message)
    }

    fn finish(mut self) -> Drills {
        if self.unknown > 0 {
            self.drills.notes.push(format!(
                "{} lines are no commands of drill files that are known; they are left out",
                self.unknown
            ));
        }
        if let Some(assumed) = self.scale.assumed() {
            self.drills.notes.push(assumed);
        }
        self.drills
    }

    /// A line; whether the file goes on.
    fn line(&mut self, text: &[u8], offset: usize) -> Result<bool, OpenError> {
        if let Some(comment) = text.strip_prefix(b";") {
            self.comment(&String::from_utf8_lossy(comment));
            return Ok(true);
        }
        if Scale::is_declaration(text) {
            self.scale.declare(text);
            return Ok(true);
        }
        match text {
            b"%" | b"M95" => self.is_header = false,
            b"M30" | b"M00" => return Ok(false),
            b"M48" => self.is_header = true,
            b"M15" => self.is_down = true,
            b"M16" | b"M17" => self.is_down = false,
            b"G91" | b"ICI,ON" | b"ICI" => {
                let message = "incremental coordinates are not read; export with absolute ones";
                return Err(self.refuse(offset, message));
            }
            b"M25" | b"M01" => {
                let message = "repeated patterns of holes are not read; export without them";
                return Err(self.refuse(offset, message));
            }
            b"G05" | b"G5" | b"G81" | b"G90" | b"FMAT,2" | b"FMAT,1" | b"ICI,OFF" | b"M47" => {
                if text.starts_with(b"G05") || text == b"G5" {
                    self.is_routing = false;
                }
            }
            _ => self.command(text, offset)?,
        }
        Ok(true)
    }

    fn comment(&mut self, text: &str) {
        let text = text.trim();
        let attribute = text.strip_prefix("#@!").map(str::trim);
        if let Some(function) = attribute.and_then(|text| text.strip_prefix("TF.FileFunction,")) {
            if let FileFunction::Drill { is_plated, span } = FileFunction::read(function) {
                self.drills.is_plated = Some(is_plated);
                self.drills.span = Some(span);
            } else if function.starts_with("MixedPlating") {
                self.drills.is_plated = None;
            }
        } else if let Some(function) = attribute.and_then(|t| t.strip_prefix("TA.AperFunction,")) {
            let is = |word: &str| function.split(',').any(|other| other == word);
            self.attribute.is_plated = match (is("Plated"), is("NonPlated")) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            };
            self.attribute.is_via = Some(is("ViaDrill"));
        } else if attribute.is_some_and(|text| text.starts_with("TD")) {
            self.attribute = Tool::default();
        } else if let Some(kind) = text.strip_prefix("TYPE=") {
            // Altium and others say it before the tools.
            self.attribute.is_plated = match kind.trim() {
                "PLATED" => Some(true),
                "NON_PLATED" => Some(false),
                _ => None,
            };
        } else if let Some(tool) = allegro::Tool::read(text) {
            self.allegro_tool(&tool);
        } else {
            self.scale.comment(text);
        }
    }

    /// Takes in a tool that a comment defines.
    fn allegro_tool(&mut self, of: &allegro::Tool) {
        let diameter = of.size * if of.is_metric { 1.0 } else { MIL };
        if !(0.0..=self.limits.coordinate_mm_max).contains(&diameter) {
            self.unknown += 1;
            return;
        }
        self.scale.suggest_metric(of.is_metric);
        let tool = Tool {
            diameter,
            is_plated: of.is_plated,
            is_via: None,
        };
        self.tools.insert(of.number, tool);
    }

    fn command(&mut self, text: &[u8], offset: usize) -> Result<(), OpenError> {
        let Some(words) = Words::read(text) else {
            self.unknown += 1;
            return Ok(());
        };
        if let Some(number) = words.number(b'T') {
            return self.tool(number, &words, offset);
        }
        if let Some(times) = words.number(b'R') {
            return self.repeat(times, &words, offset);
        }
        let before = self.at;
        let to = self.point(&words, b'X', b'Y', 0, offset)?;
        let Some(to) = to else {
            match words.number(b'G') {
                Some(0) => self.is_routing = true,
                _ => self.unknown += usize::from(!self.is_header),
            }
            return Ok(());
        };
        let code = words.number(b'G');
        match code {
            // Routing: to a point, and from there with the tool down.
            Some(0) => {
                self.is_routing = true;
                self.at = to;
                Ok(())
            }
            Some(1..=3) if self.is_routing => {
                self.at = to;
                self.hole(before, to, offset)
            }
            // A slot: from the first point to the second.
            Some(85) => {
                self.at = to;
                let end = self.point(&words, b'X', b'Y', 1, offset)?.unwrap_or(to);
                self.at = end;
                self.hole(to, end, offset)
            }
            // Another zero.
            Some(93) if to == Point::default() => Ok(()),
            Some(93) => Err(self.refuse(
                offset,
                "the zero of a drill file is moved; export without it",
            )),
            _ => {
                self.at = to;
                if self.is_routing && self.is_down {
                    self.hole(before, to, offset)
                } else if self.is_routing {
                    Ok(())
                } else {
                    self.hole(to, to, offset)
                }
            }
        }
    }

    fn tool(&mut self, number: u32, words: &Words<'_>, offset: usize) -> Result<(), OpenError> {
        let Some(size) = words.text(b'C', 0) else {
            // Tool 0 is none: the last one is put away.
            self.tool = self.tools.get(&number).copied();
            if self.tool.is_none() && number != 0 && !self.is_header {
                return Err(self.refuse(offset, format!("tool T{number} was not defined")));
            }
            return Ok(());
        };
        let size = crate::gerber::decimal(size).map(|size| size * self.scale.unit());
        let size = size.filter(|size| (0.0..=self.limits.coordinate_mm_max).contains(size));
        let Some(diameter) = size else {
            return Err(self.refuse(offset, "a tool has a diameter that is no number"));
        };
        let tool = Tool {
            diameter,
            ..self.attribute
        };
        self.tools.insert(number, tool);
        // Some files define a tool where they take it.
        if !self.is_header {
            self.tool = Some(tool);
        }
        Ok(())
    }

    /// `R5X01`: the last hole again, five times, each moved on.
    fn repeat(&mut self, times: u32, words: &Words<'_>, offset: usize) -> Result<(), OpenError> {
        let from = std::mem::take(&mut self.at);
        let step = self.point(words, b'X', b'Y', 0, offset)?;
        self.at = from;
        for _ in 0..times {
            let to = self.at + step.unwrap_or_default();
            self.at = to;
            self.hole(to, to, offset)?;
        }
        Ok(())
    }

    /// The point of the words; `None` if they have none.
    fn point(
        &self,
        words: &Words<'_>,
        x: u8,
        y: u8,
        nth: usize,
        offset: usize,
    ) -> Result<Option<Point>, OpenError> {
        let (x, y) = (words.text(x, nth), words.text(y, nth));
        if x.is_none() && y.is_none() {
            return Ok(None);
        }
        let read = |text: Option<&[u8]>, before: f64| match text {
            None => Ok(before),
            Some(text) => {
                let value = self.scale.number(text);
                let most = self.limits.coordinate_mm_max;
                match value {
                    Some(value) if value.abs() <= most => Ok(value),
                    Some(_) => {
                        Err(self.refuse(offset, format!("a coordinate is beyond {most} mm")))
                    }
                    None => {
                        let text = shown(&String::from_utf8_lossy(text));
                        Err(self.refuse(offset, format!("`{text}` is no coordinate")))
                    }
                }
            }
        };
        Ok(Some(Point::new(read(x, self.at.x)?, read(y, self.at.y)?)))
    }

    fn hole(&mut self, at: Point, to: Point, offset: usize) -> Result<(), OpenError> {
        let Some(tool) = self.tool else {
            return Err(self.refuse(offset, "a hole stands before any tool"));
        };
        let most = self.limits.objects_max;
        if self.drills.holes.len() == most {
            return Err(self.refuse(offset, format!("the file has more than {most} holes")));
        }
        let bound = self.limits.coordinate_mm_max;
        if at.x.abs().max(at.y.abs()) > bound {
            return Err(self.refuse(offset, format!("a hole is repeated beyond {bound} mm")));
        }
        let down = |p: Point| Point::new(p.x, 0.0 - p.y);
        self.drills.holes.push(DrillHole {
            at: down(at),
            to: down(to),
            diameter: tool.diameter,
            is_plated: tool.is_plated,
            is_via: tool.is_via,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
