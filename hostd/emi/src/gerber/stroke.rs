//! Lines and arcs: drawn with an aperture, or the sides of a region (4.7, 4.8).

use super::aperture::{Copper, Pen};
use super::arc::{Turn, arc};
use super::plot::Plotter;
use super::{Form, Object};
use crate::geometry::{Point, Segment};
use crate::open::OpenError;

/// How operations draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Linear,
    Circular(Turn),
}

impl Plotter<'_> {
    /// Draws a line or an arc with the aperture, or the side of a region.
    pub(super) fn draw(&mut self, to: Point, offset: Point, place: usize) -> Result<(), OpenError> {
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
        let Copper::Shapes { pen, .. } = aperture.copper else {
            return Err(self.refuse(place, "lines cannot be drawn with a block of apertures"));
        };
        if matches!(pen, Pen::Odd(_)) {
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
}
