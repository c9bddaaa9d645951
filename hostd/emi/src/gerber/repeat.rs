//! Blocks that are apertures (4.11), and steps that are repeated (4.12).

use super::Object;
use super::aperture::{Aperture, Copper};
use super::attributes::Role;
use super::format::decimal;
use super::plot::Plotter;
use crate::geometry::Point;
use crate::open::OpenError;

/// A block that is being defined.
pub(super) struct Block {
    tool: u32,
    pub(super) objects: Vec<Object>,
}

/// Steps that are being defined.
pub(super) struct Repeat {
    counts: (u32, u32),
    step: Point,
    /// The first of the objects that are repeated.
    from: usize,
}

impl Plotter<'_> {
    /// `%ABD12*%` begins a block, `%AB*%` ends it.
    pub(super) fn block(&mut self, rest: &[u8], place: usize) -> Result<(), OpenError> {
        let rest = rest.trim_ascii();
        if rest.is_empty() {
            let Some(block) = self.blocks.pop() else {
                return Err(self.refuse(place, "a block ends that did not begin"));
            };
            let aperture = Aperture {
                copper: Copper::Block(block.objects),
                role: Role::Unknown,
            };
            self.apertures.insert(block.tool, aperture);
            return Ok(());
        }
        let digits = rest.strip_prefix(b"D").map(String::from_utf8_lossy);
        let tool = digits.and_then(|digits| digits.parse::<u32>().ok());
        let Some(tool) = tool.filter(|tool| *tool >= 10) else {
            return Err(self.refuse(place, "a block needs a number, such as `%ABD12*%`"));
        };
        let depth = self.limits.nesting_max;
        if self.blocks.len() == depth {
            let message = format!("blocks of apertures are nested deeper than {depth}");
            return Err(self.refuse(place, message));
        }
        self.blocks.push(Block {
            tool,
            objects: Vec::new(),
        });
        Ok(())
    }

    /// `%SRX3Y2I5J4*%` begins steps, `%SR*%` ends them.
    pub(super) fn step_and_repeat(&mut self, rest: &[u8], place: usize) -> Result<(), OpenError> {
        self.end_repeat(place)?;
        if rest.trim_ascii().is_empty() {
            return Ok(());
        }
        let value = |letter: u8| {
            let at = rest.iter().position(|byte| *byte == letter)?;
            let end = rest[at + 1..]
                .iter()
                .position(u8::is_ascii_alphabetic)
                .map_or(rest.len(), |length| at + 1 + length);
            decimal(&rest[at + 1..end])
        };
        let count = |letter: u8| {
            let value = value(letter).unwrap_or(1.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is in range"
            )]
            (1.0..1e6).contains(&value).then_some(value as u32)
        };
        let (Some(x), Some(y)) = (count(b'X'), count(b'Y')) else {
            return Err(self.refuse(place, "steps are repeated once or more"));
        };
        if (x, y) == (1, 1) {
            return Ok(());
        }
        let unit = self.unit(place)?;
        let step = Point::new(
            value(b'I').unwrap_or_default(),
            value(b'J').unwrap_or_default(),
        );
        self.repeat = Some(Repeat {
            counts: (x, y),
            step: step * unit,
            from: self.target().len(),
        });
        Ok(())
    }

    /// Repeats what was drawn since the steps began, if they did.
    pub(super) fn end_repeat(&mut self, place: usize) -> Result<(), OpenError> {
        let Some(repeat) = self.repeat.take() else {
            return Ok(());
        };
        let from = repeat.from.min(self.target().len());
        let objects = self.target()[from..].to_vec();
        if objects.is_empty() {
            return Ok(());
        }
        for column in 0..repeat.counts.0 {
            for row in 0..repeat.counts.1 {
                if (column, row) == (0, 0) {
                    continue;
                }
                let by = Point::new(
                    repeat.step.x * f64::from(column),
                    0.0 - repeat.step.y * f64::from(row),
                );
                for object in &objects {
                    let mut object = object.clone();
                    object.form.each_point(|point| *point = *point + by);
                    self.push_within(object, place)?;
                }
            }
        }
        Ok(())
    }

    fn target(&self) -> &[Object] {
        match self.blocks.last() {
            Some(block) => &block.objects,
            None => &self.image.objects,
        }
    }
}
