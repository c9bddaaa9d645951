//! Goes through the commands of a file and draws. The state is what the specification calls the graphics state (2.4).

use std::collections::HashMap;

use super::aperture::{self, Aperture};
use super::arc::{Turn, arc};
use super::attributes::{Attributes, FileFunction};
use super::flash::Placing;
use super::format::{Digits, Format, INCH, decimal};
use super::macros;
use super::region::Region;
use super::repeat::{Block, Repeat};
use super::scan::{Command, Scan};
use super::{Form, Image, Object};
use crate::geometry::{Point, Segment};
use crate::limits::Limits;
use crate::observer::Observer;
use crate::open::{OpenError, Steps, shown};

/// Most numbers of an aperture.
const NUMBERS_MAX: usize = 200;

/// How operations draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Linear,
    Circular(Turn),
}

/// What a file is drawn with.
pub(super) struct Plotter<'a> {
    pub(super) scan: Scan<'a>,
    bytes: &'a [u8],
    pub(super) limits: &'a Limits,
    pub(super) watch: Steps<'a>,
    commands: usize,
    pub(super) image: Image,
    pub(super) attributes: Attributes,
    format: Option<Format>,
    /// Millimetres of a unit.
    unit: Option<f64>,
    macros: HashMap<&'a [u8], macros::Lines<'a>>,
    pub(super) apertures: HashMap<u32, Aperture>,
    tool: Option<u32>,
    mode: Mode,
    is_quarter: bool,
    pub(super) is_clear: bool,
    pub(super) placing: Placing,
    /// Where it is, y up.
    pub(super) at: Point,
    /// The last operation, which coordinates alone repeat.
    operation: Option<u32>,
    pub(super) region: Option<Region>,
    pub(super) blocks: Vec<Block>,
    pub(super) repeat: Option<Repeat>,
    /// Points of all objects.
    pub(super) edges: usize,
    pub(super) objects: usize,
    odd_strokes: usize,
}

impl<'a> Plotter<'a> {
    pub(super) fn new(bytes: &'a [u8], limits: &'a Limits, observer: &'a dyn Observer) -> Self {
        Self {
            scan: Scan::new(bytes),
            bytes,
            limits,
            watch: Steps::new(observer),
            commands: 0,
            image: Image::default(),
            attributes: Attributes::default(),
            format: None,
            unit: None,
            macros: HashMap::new(),
            apertures: HashMap::new(),
            tool: None,
            mode: Mode::Linear,
            is_quarter: false,
            is_clear: false,
            placing: Placing::default(),
            at: Point::default(),
            operation: None,
            region: None,
            blocks: Vec::new(),
            repeat: None,
            edges: 0,
            objects: 0,
            odd_strokes: 0,
        }
    }

    pub(super) fn run(mut self) -> Result<Image, OpenError> {
        while let Some(command) = self.scan.next()? {
            self.watch.step()?;
            self.commands += 1;
            if self.commands > self.limits.nodes_max {
                let most = self.limits.nodes_max;
                return Err(self.refuse(
                    command.offset,
                    format!("the file has more than {most} commands"),
                ));
            }
            if command.is_extended {
                self.extended(command)?;
            } else if !self.word(command)? {
                break;
            }
        }
        self.end_repeat(self.bytes.len())?;
        if self.odd_strokes > 0 {
            self.image.notes.push(format!(
                "{} lines are drawn with apertures that are neither round nor rectangular; their width is the narrowest",
                self.odd_strokes
            ));
        }
        self.image.labels = self.attributes.into_labels();
        Ok(self.image)
    }

    pub(super) fn refuse(&self, offset: usize, message: impl Into<String>) -> OpenError {
        OpenError::at(self.bytes, offset, message)
    }

    /// A word; whether the file goes on.
    fn word(&mut self, command: Command<'a>) -> Result<bool, OpenError> {
        let text = command.text;
        if let Some(comment) = text
            .strip_prefix(b"G04")
            .or_else(|| text.strip_prefix(b"G4"))
        {
            // Attributes for programs that know none (5.1.1).
            if let Some(attribute) = comment.trim_ascii_start().strip_prefix(b"#@!") {
                self.attribute(attribute.trim_ascii());
            }
            return Ok(true);
        }
        let mut operation = None;
        let (mut x, mut y) = (None, None);
        let mut offset = Point::default();
        let mut at = 0;
        while at < text.len() {
            let letter = text[at];
            if letter.is_ascii_whitespace() {
                at += 1;
                continue;
            }
            let Some((digits, next)) = Digits::read(text, at + 1) else {
                let word = String::from_utf8_lossy(&text[at..]);
                let message = format!("`{}` is no word of a Gerber file", shown(&word));
                return Err(self.refuse(command.offset + at, message));
            };
            let place = command.offset + at;
            match letter {
                b'G' => self.g_code(digits.value, place)?,
                b'D' => operation = u32::try_from(digits.value).ok(),
                b'M' => return Ok(!matches!(digits.value, 0 | 2)),
                b'X' => x = Some(self.coordinate(digits, place)?),
                b'Y' => y = Some(self.coordinate(digits, place)?),
                b'I' => offset.x = self.coordinate(digits, place)?,
                b'J' => offset.y = self.coordinate(digits, place)?,
                // Line numbers.
                b'N' => {}
                _ => return Err(self.refuse(place, "this is no word of a Gerber file")),
            }
            at = next;
        }
        match operation {
            Some(tool @ 10..) => {
                self.tool = Some(tool);
                return Ok(true);
            }
            Some(code @ 1..=3) => self.operation = Some(code),
            Some(_) => return Err(self.refuse(command.offset, "there is no such operation")),
            // Coordinates without an operation repeat the last one (8.3.1).
            None if x.is_none() && y.is_none() => return Ok(true),
            None => {}
        }
        let to = Point::new(x.unwrap_or(self.at.x), y.unwrap_or(self.at.y));
        self.operate(to, offset, command.offset)?;
        Ok(true)
    }

    fn g_code(&mut self, code: i64, place: usize) -> Result<(), OpenError> {
        match code {
            1 => self.mode = Mode::Linear,
            2 => self.mode = Mode::Circular(Turn::Clockwise),
            3 => self.mode = Mode::Circular(Turn::Counterclockwise),
            36 => self.begin_region(place)?,
            37 => self.end_region(place)?,
            70 => self.unit = Some(INCH),
            71 => self.unit = Some(1.0),
            74 => self.is_quarter = true,
            75 => self.is_quarter = false,
            91 => {
                let message = "incremental coordinates are not read; export with absolute ones";
                return Err(self.refuse(place, message));
            }
            // Prepare a tool or a flash, absolute coordinates: nothing to do.
            0 | 54 | 55 | 90 => {}
            _ => return Err(self.refuse(place, format!("G{code:02} is no code of Gerber files"))),
        }
        Ok(())
    }

    fn coordinate(&self, digits: Digits, place: usize) -> Result<f64, OpenError> {
        let Some(format) = self.format else {
            let message = "a coordinate stands before the format (`%FS…*%`)";
            return Err(self.refuse(place, message));
        };
        let value = format.number(&digits) * self.unit(place)?;
        let most = self.limits.coordinate_mm_max;
        // Not below, so that NaN is none either.
        if value.abs() <= most {
            Ok(value)
        } else {
            Err(self.refuse(place, format!("a coordinate is beyond {most} mm")))
        }
    }

    pub(super) fn unit(&self, place: usize) -> Result<f64, OpenError> {
        let message = "the unit is not said (`%MOMM*%` or `%MOIN*%`) before it is needed";
        self.unit.ok_or_else(|| self.refuse(place, message))
    }

    fn operate(&mut self, to: Point, offset: Point, place: usize) -> Result<(), OpenError> {
        match self.operation {
            Some(1) => self.draw(to, offset, place)?,
            Some(2) => self.end_contour(place)?,
            Some(3) if self.region.is_some() => {
                return Err(self.refuse(place, "an aperture cannot be put down within a region"));
            }
            Some(3) => {
                let tool = self.tool(place)?;
                self.flash(tool, to, place)?;
            }
            _ => {
                return Err(self.refuse(
                    place,
                    "coordinates stand before any operation (D01, D02, D03)",
                ));
            }
        }
        self.at = to;
        Ok(())
    }

    fn tool(&self, place: usize) -> Result<u32, OpenError> {
        match self.tool {
            Some(tool) if self.apertures.contains_key(&tool) => Ok(tool),
            Some(tool) => Err(self.refuse(place, format!("aperture D{tool} was not defined"))),
            None => Err(self.refuse(place, "no aperture was chosen")),
        }
    }

    /// Draws a line or an arc with the aperture, or the side of a region.
    fn draw(&mut self, to: Point, offset: Point, place: usize) -> Result<(), OpenError> {
        let points = match self.mode {
            Mode::Circular(turn) if offset != Point::default() => {
                arc(self.at, to, offset, turn, self.is_quarter)
            }
            _ => vec![self.at, to],
        };
        let most = self.limits.coordinate_mm_max * 2.0;
        if !points
            .iter()
            .all(|p| p.x.abs() <= most && p.y.abs() <= most)
        {
            return Err(self.refuse(place, "an arc leads far beyond the board"));
        }
        if self.region.is_some() {
            return self.side(&points, place);
        }
        let tool = self.tool(place)?;
        let aperture = &self.apertures[&tool];
        let role = aperture.role;
        let aperture::Copper::Shapes { pen, .. } = aperture.copper else {
            return Err(self.refuse(place, "lines cannot be drawn with a block of apertures"));
        };
        if matches!(pen, aperture::Pen::Odd(_)) {
            self.odd_strokes += 1;
        }
        let scale = self.placing.scale;
        let label = self.attributes.label();
        for pair in points.windows(2) {
            let down = |p: Point| Point::new(p.x, 0.0 - p.y);
            let line = Segment::new(down(pair[0]), down(pair[1]));
            let width = pen.width(pair[1] - pair[0]) * scale;
            let form = Form::Stroke { line, width };
            let is_clear = self.is_clear;
            self.push(
                Object {
                    form,
                    is_clear,
                    role,
                    label,
                },
                place,
            )?;
        }
        Ok(())
    }

    /// Keeps an object, within bounds.
    pub(super) fn push(&mut self, object: Object, place: usize) -> Result<(), OpenError> {
        self.watch.step()?;
        self.objects += 1;
        self.edges += object.form.size();
        let objects = self.limits.objects_max;
        if self.objects > objects {
            return Err(self.refuse(place, format!("the layer has more than {objects} objects")));
        }
        self.check_edges(place)?;
        match self.blocks.last_mut() {
            Some(block) => block.objects.push(object),
            None => self.image.objects.push(object),
        }
        Ok(())
    }

    fn check_edges(&self, place: usize) -> Result<(), OpenError> {
        let most = self.limits.edges_max;
        if self.edges > most {
            return Err(self.refuse(
                place,
                format!("the layer's polygons have more than {most} sides"),
            ));
        }
        Ok(())
    }

    fn extended(&mut self, command: Command<'a>) -> Result<(), OpenError> {
        let text = command.text.trim_ascii();
        let Some((code, rest)) = text.split_at_checked(2) else {
            return Ok(());
        };
        let place = command.offset;
        match code {
            b"FS" => {
                let format = Format::read(rest).map_err(|message| self.refuse(place, message))?;
                self.format = Some(format);
            }
            b"MO" => match rest {
                b"MM" => self.unit = Some(1.0),
                b"IN" => self.unit = Some(INCH),
                _ => return Err(self.refuse(place, "a unit is MM or IN")),
            },
            b"AD" => self.define(rest, place)?,
            b"AM" => {
                let pieces = self.scan.pieces()?;
                self.macros.insert(rest.trim_ascii(), pieces);
            }
            b"AB" => self.block(rest, place)?,
            b"SR" => self.step_and_repeat(rest, place)?,
            b"LP" => match rest {
                b"D" => self.is_clear = false,
                b"C" => self.is_clear = true,
                _ => return Err(self.refuse(place, "a polarity is D or C")),
            },
            b"LM" | b"LR" | b"LS" => {
                let placing = self.placing.with(code, rest);
                self.placing = placing.map_err(|message| self.refuse(place, message))?;
            }
            b"IP" => self.image.is_negative = rest == b"NEG",
            b"TF" | b"TA" | b"TO" | b"TD" => self.attribute(text),
            b"MI" | b"SF" | b"IR" | b"OF" | b"AS" => self.old(code, rest, place)?,
            // Names and comments.
            b"IN" | b"LN" | b"G0" => {}
            // Words between `%` are what some programs write.
            _ if matches!(code[0], b'G' | b'D' | b'M' | b'X' | b'Y') => {
                self.word(command)?;
            }
            _ => {
                let word = String::from_utf8_lossy(text);
                let message = format!("`{}` is no command of Gerber files", shown(&word));
                return Err(self.refuse(place, message));
            }
        }
        Ok(())
    }

    /// Commands that were given up (8.1); they are read where they change nothing.
    fn old(&self, code: &[u8], rest: &[u8], place: usize) -> Result<(), OpenError> {
        let changes = match code {
            b"AS" => rest != b"AXBY",
            b"SF" => rest
                .split(|b| b.is_ascii_alphabetic())
                .any(|word| decimal(word).is_some_and(|value| value != 1.0)),
            _ => rest
                .split(|b| b.is_ascii_alphabetic())
                .any(|word| decimal(word).is_some_and(|value| value != 0.0)),
        };
        if changes {
            let code = String::from_utf8_lossy(code);
            let message = format!(
                "`%{code}…*%` moves, turns or scales the whole image, which Gerber has given up; export without it"
            );
            return Err(self.refuse(place, message));
        }
        Ok(())
    }

    fn attribute(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let Some((code, rest)) = text.split_at_checked(2) else {
            return;
        };
        match code {
            "TF" => match rest.split_once(',') {
                Some((".FileFunction", value)) => {
                    self.image.function = Some(FileFunction::read(value));
                }
                Some((".FilePolarity", value)) => self.image.is_negative = value == "Negative",
                _ => {}
            },
            "TA" => {
                if let Some(value) = rest.strip_prefix(".AperFunction,") {
                    self.attributes.role = super::Role::read(value);
                }
            }
            "TO" => self.attributes.of_object(rest),
            "TD" => self.attributes.delete(rest),
            _ => {}
        }
    }

    /// `%ADD10C,0.5*%`
    fn define(&mut self, rest: &'a [u8], place: usize) -> Result<(), OpenError> {
        let number = rest
            .strip_prefix(b"D")
            .and_then(|text| Digits::read(text, 0));
        let Some((digits, end)) = number else {
            return Err(self.refuse(place, "an aperture needs a number, such as `%ADD10C,0.5*%`"));
        };
        let tool = u32::try_from(digits.value).ok().filter(|tool| *tool >= 10);
        let tool = tool.ok_or_else(|| self.refuse(place, "apertures are numbered from 10"))?;
        let rest = &rest[1 + end..];
        let comma = rest.iter().position(|byte| *byte == b',');
        let (name, numbers) = match comma {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, &rest[..0]),
        };
        let words = numbers.split(|byte| matches!(byte, b'X' | b'x'));
        let words = words.filter(|word| !word.trim_ascii().is_empty());
        let numbers: Option<Vec<f64>> = words.take(NUMBERS_MAX).map(decimal).collect();
        let numbers = numbers
            .ok_or_else(|| self.refuse(place, "an aperture has a size that is no number"))?;
        let unit = self.unit(place)?;
        let copper = match self.macros.get(name.trim_ascii()) {
            Some(lines) => {
                let parts = macros::parts(lines, &numbers, unit, self.limits.nesting_max);
                let parts = parts.map_err(|(place, message)| self.refuse(place, message))?;
                // A large macro that is used again and again is work, too.
                self.edges += parts
                    .iter()
                    .map(|(shape, _)| shape.points.len())
                    .sum::<usize>();
                self.check_edges(place)?;
                aperture::of_parts(parts)
            }
            None => {
                let mut sizes: Vec<f64> = numbers.iter().map(|number| number * unit).collect();
                if let (b"P", Some(size)) = (name, sizes.first().copied()) {
                    // A count and an angle have no unit.
                    sizes.clone_from(&numbers);
                    sizes[0] = size;
                }
                aperture::standard(name, &sizes).map_err(|message| self.refuse(place, message))?
            }
        };
        self.check(&copper, place)?;
        let role = self.attributes.role;
        self.apertures.insert(tool, Aperture { copper, role });
        Ok(())
    }

    fn check(&self, copper: &aperture::Copper, place: usize) -> Result<(), OpenError> {
        let aperture::Copper::Shapes { shapes, .. } = copper else {
            return Ok(());
        };
        let most = self.limits.coordinate_mm_max;
        let is_within = |p: &Point| p.x.abs() <= most && p.y.abs() <= most;
        let is_good = |shape: &crate::geometry::Shape| {
            shape.radius <= most && shape.points.iter().all(is_within)
        };
        if shapes.iter().all(is_good) {
            Ok(())
        } else {
            Err(self.refuse(place, format!("an aperture is larger than {most} mm")))
        }
    }
}
