//! Words: coordinates, and codes that choose how to draw or do it (4.6 to 4.8).

use super::arc::Turn;
use super::format::{Digits, INCH};
use super::plot::Plotter;
use super::scan::Command;
use super::stroke::Mode;
use crate::geometry::Point;
use crate::open::{OpenError, shown};

impl<'a> Plotter<'a> {
    /// A word; whether the file goes on.
    pub(super) fn word(&mut self, command: Command<'a>) -> Result<bool, OpenError> {
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

    pub(super) fn tool(&self, place: usize) -> Result<u32, OpenError> {
        match self.tool {
            Some(tool) if self.apertures.contains_key(&tool) => Ok(tool),
            Some(tool) => Err(self.refuse(place, format!("aperture D{tool} was not defined"))),
            None => Err(self.refuse(place, "no aperture was chosen")),
        }
    }
}
