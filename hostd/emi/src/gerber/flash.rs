//! Apertures put down: mirrored, turned and scaled about their origin (4.9), then moved.

use super::aperture::Copper;
use super::format::decimal;
use super::plot::Plotter;
use super::{Form, Object};
use crate::geometry::Point;
use crate::open::OpenError;

/// Largest scale.
const SCALE_MAX: f64 = 1000.0;

/// How apertures are changed before they are put down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placing {
    mirror: (bool, bool),
    degrees: f64,
    pub(super) scale: f64,
}

impl Default for Placing {
    fn default() -> Self {
        Self {
            mirror: (false, false),
            degrees: 0.0,
            scale: 1.0,
        }
    }
}

impl Placing {
    /// After `LM`, `LR` or `LS`.
    pub(super) fn with(mut self, code: &[u8], value: &[u8]) -> Result<Self, &'static str> {
        match code {
            b"LM" => {
                self.mirror = match value {
                    b"N" => (false, false),
                    b"X" => (true, false),
                    b"Y" => (false, true),
                    b"XY" => (true, true),
                    _ => return Err("a mirroring is N, X, Y or XY"),
                }
            }
            b"LR" => self.degrees = decimal(value).ok_or("a rotation is a number of degrees")?,
            _ => {
                let scale = decimal(value).filter(|scale| 0.0 < *scale && *scale <= SCALE_MAX);
                self.scale = scale.ok_or("a scale is a number above 0, at most 1000")?;
            }
        }
        Ok(self)
    }

    /// A point about the aperture's origin, y up.
    fn place(&self, point: Point) -> Point {
        let sign = |is_mirrored: bool| if is_mirrored { -1.0 } else { 1.0 };
        let mirrored = Point::new(point.x * sign(self.mirror.0), point.y * sign(self.mirror.1));
        mirrored.rotated(-self.degrees) * self.scale
    }
}

impl Plotter<'_> {
    /// Puts an aperture down.
    pub(super) fn flash(&mut self, tool: u32, at: Point, place: usize) -> Result<(), OpenError> {
        let Some(aperture) = self.apertures.remove(&tool) else {
            return Ok(());
        };
        let done = match &aperture.copper {
            Copper::Shapes { shapes, .. } => {
                let placing = self.placing;
                let mut shapes = shapes.clone();
                for shape in &mut shapes {
                    shape.radius *= placing.scale;
                    for point in &mut shape.points {
                        let moved = at + placing.place(*point);
                        *point = Point::new(moved.x, 0.0 - moved.y);
                    }
                }
                let label = self.attributes.label();
                let at = Point::new(at.x, 0.0 - at.y);
                let object = Object {
                    form: Form::Flash { at, shapes },
                    is_clear: self.is_clear,
                    role: aperture.role,
                    label,
                };
                self.push(object, place)
            }
            Copper::Block(objects) => self.put_block(objects, at, place),
        };
        self.apertures.insert(tool, aperture);
        done
    }

    /// Puts the objects of a block down.
    fn put_block(&mut self, objects: &[Object], at: Point, place: usize) -> Result<(), OpenError> {
        let (placing, is_clear) = (self.placing, self.is_clear);
        for object in objects {
            let mut object = object.clone();
            object.is_clear ^= is_clear;
            object.form.each_point(|point| {
                let moved = at + placing.place(Point::new(point.x, 0.0 - point.y));
                *point = Point::new(moved.x, 0.0 - moved.y);
            });
            match &mut object.form {
                Form::Flash { shapes, .. } => {
                    shapes.iter_mut().for_each(|s| s.radius *= placing.scale);
                }
                Form::Stroke { width, .. } => *width *= placing.scale,
                Form::Region { .. } => {}
            }
            self.push_within(object, place)?;
        }
        Ok(())
    }

    /// Keeps an object that was moved, if it is still within bounds.
    pub(super) fn push_within(
        &mut self,
        mut object: Object,
        place: usize,
    ) -> Result<(), OpenError> {
        let most = self.limits.coordinate_mm_max * 2.0;
        let mut is_within = true;
        object
            .form
            .each_point(|p| is_within &= p.x.abs() <= most && p.y.abs() <= most);
        if !is_within {
            return Err(self.refuse(place, "a repeated object lies far beyond the board"));
        }
        self.push(object, place)
    }
}
