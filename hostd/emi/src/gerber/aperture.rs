//! Apertures: what is put down or drawn with (4.3, 4.4). Their own copper is about their own origin, y up, in millimetres.

use super::attributes::Role;
use super::{Object, polygons};
use crate::geometry::{Bounds, Point, Shape};

/// Corners of a regular polygon (4.4.5).
const CORNERS: std::ops::RangeInclusive<u32> = 3..=12;

/// An aperture.
#[derive(Clone, Debug)]
pub(super) struct Aperture {
    pub(super) copper: Copper,
    pub(super) role: Role,
}

/// What an aperture puts down.
#[derive(Clone, Debug)]
pub(super) enum Copper {
    Shapes {
        shapes: Vec<Shape>,
        pen: Pen,
    },
    /// Objects (4.11).
    Block(Vec<Object>),
}

/// What an aperture draws lines with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pen {
    /// A disc of that diameter.
    Round(f64),
    /// A rectangle of that width and height.
    Rectangle(f64, f64),
    /// Something else, of that diameter across its narrowest.
    Odd(f64),
}

impl Pen {
    /// How wide a line in that direction is, across.
    pub(super) fn width(self, along: Point) -> f64 {
        match self {
            Self::Round(diameter) | Self::Odd(diameter) => diameter,
            Self::Rectangle(width, height) => {
                let length = along.length();
                if length > 0.0 {
                    (width * along.y.abs() + height * along.x.abs()) / length
                } else {
                    width.min(height)
                }
            }
        }
    }
}

/// A standard aperture. Holes in it are of no account: what matters of them is drilled.
pub(super) fn standard(name: &[u8], numbers: &[f64]) -> Result<Copper, &'static str> {
    let at = |index: usize| numbers.get(index).copied();
    let size = |index: usize| match at(index) {
        Some(value) if value >= 0.0 => Ok(value),
        _ => Err("an aperture needs sizes of 0 or more"),
    };
    let (shape, pen) = match name {
        b"C" => {
            let diameter = size(0)?;
            (
                Shape::disc(Point::default(), diameter / 2.0),
                Pen::Round(diameter),
            )
        }
        b"R" => {
            let (width, height) = (size(0)?, size(1)?);
            (
                rectangle(Point::default(), width, height),
                Pen::Rectangle(width, height),
            )
        }
        b"O" => {
            let (width, height) = (size(0)?, size(1)?);
            let half = Point::new(width / 2.0, height / 2.0);
            let radius = half.x.min(half.y);
            let end = Point::new(half.x - radius, half.y - radius);
            let shape = if end.length() < 1e-9 {
                Shape::disc(Point::default(), radius)
            } else {
                Shape::stroke(end * -1.0, end, 2.0 * radius)
            };
            (shape, Pen::Odd(width.min(height)))
        }
        b"P" => {
            let diameter = size(0)?;
            let corners =
                at(1).and_then(|count| CORNERS.into_iter().find(|n| f64::from(*n) == count));
            let corners = corners.ok_or("a polygon has 3 to 12 corners")?;
            let turned = at(2).unwrap_or_default();
            (
                regular(Point::default(), diameter, corners, turned),
                Pen::Odd(diameter),
            )
        }
        _ => return Err("this aperture is neither C, R, O, P nor a macro that was defined before"),
    };
    Ok(Copper::Shapes {
        shapes: vec![shape],
        pen,
    })
}

/// The copper of a macro: parts in order, of which some take away from those before.
pub(super) fn of_parts(parts: Vec<(Shape, bool)>) -> Copper {
    let shapes = match &parts[..] {
        [] => Vec::new(),
        [(shape, true)] => vec![shape.clone()],
        _ => {
            let mut pieces = polygons::Pieces::new();
            // Stretches of parts that are all dark or all clear.
            for stretch in parts.chunk_by(|x, y| x.1 == y.1) {
                let shapes = stretch.iter().map(|(shape, _)| shape);
                if stretch[0].1 && pieces.is_empty() {
                    pieces = polygons::union(shapes);
                } else if stretch[0].1 {
                    let before = as_shapes(&pieces);
                    pieces = polygons::union(before.iter().chain(shapes));
                } else {
                    pieces = polygons::without(&pieces, shapes);
                }
            }
            as_shapes(&pieces)
        }
    };
    let mut bounds = Bounds::EMPTY;
    for shape in &shapes {
        let own = shape.bounds();
        bounds.add(own.min);
        bounds.add(own.max);
    }
    let narrow = if bounds.is_empty() {
        0.0
    } else {
        bounds.width().min(bounds.height())
    };
    let pen = match &shapes[..] {
        [Shape { points, radius }] if points.len() == 1 => Pen::Round(2.0 * radius),
        _ => Pen::Odd(narrow),
    };
    Copper::Shapes { shapes, pen }
}

fn as_shapes(pieces: &polygons::Pieces) -> Vec<Shape> {
    let rings = pieces.iter().map(|piece| polygons::bridged(piece));
    rings.map(|ring| Shape::polygon(ring, 0.0)).collect()
}

pub(super) fn rectangle(center: Point, width: f64, height: f64) -> Shape {
    let (x, y) = (width / 2.0, height / 2.0);
    let corners = [(-x, -y), (x, -y), (x, y), (-x, y)];
    Shape::polygon(
        corners.map(|(x, y)| center + Point::new(x, y)).to_vec(),
        0.0,
    )
}

/// A regular polygon, of which one corner is on the right before it is turned counter-clockwise.
pub(super) fn regular(center: Point, diameter: f64, corners: u32, degrees: f64) -> Shape {
    let corner = |index: u32| {
        let angle =
            degrees.to_radians() + std::f64::consts::TAU * f64::from(index) / f64::from(corners);
        center + Point::new(angle.cos(), angle.sin()) * (diameter / 2.0)
    };
    Shape::polygon((0..corners).map(corner).collect(), 0.0)
}
