//! Gerber files (RS-274X with the attributes of X2 and X3): what is dark and clear on one layer, in the order of drawing.
//!
//! Y is turned down, as boards of KiCad have it, so that the same board has the same coordinates from both sources. The
//! reader is our own: it keeps offsets, so that refusals have line and column, counts what it makes while it makes it,
//! and takes what older programs write (`G70`, `G54`, operations without a D code). "The Gerber Layer Format
//! Specification", 2024.05, is its source; numbers of its sections stand where they matter.

mod aperture;
mod arc;
mod attributes;
mod command;
mod definition;
mod expression;
mod flash;
mod format;
mod macros;
mod plot;
pub(crate) mod polygons;
mod region;
mod repeat;
mod scan;
mod stroke;
mod word;

use crate::geometry::{Point, Segment, Shape};
use crate::limits::Limits;
use crate::observer::Observer;
use crate::open::OpenError;

pub(crate) use attributes::{FileFunction, Label, Role, Stated};
pub(crate) use format::{INCH, decimal};

/// A layer as it was drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    /// What the file says that it is.
    pub(crate) function: Option<FileFunction>,
    /// Whether what is drawn is what is taken away.
    pub(crate) is_negative: bool,
    /// In the order of drawing.
    pub(crate) objects: Vec<Object>,
    /// What attributes say about objects.
    pub(crate) labels: Vec<Label>,
    /// What was simplified, for people.
    pub(crate) notes: Vec<String>,
}

/// Something drawn.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) form: Form,
    /// Whether it takes away what was drawn before it.
    pub(crate) is_clear: bool,
    pub(crate) role: Role,
    /// Index into the image's labels.
    pub(crate) label: u32,
}

/// The form of something drawn.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// An aperture put down at a point.
    Flash { at: Point, shapes: Vec<Shape> },
    /// A line, as wide as the aperture.
    Stroke { line: Segment, width: f64 },
    /// What is within a ring of points, even-odd.
    Region { ring: Vec<Point> },
}

impl Form {
    /// How many points it has.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Flash { shapes, .. } => shapes.iter().map(|shape| shape.points.len()).sum(),
            Self::Stroke { .. } => 2,
            Self::Region { ring } => ring.len(),
        }
    }

    /// Its copper.
    pub(crate) fn shapes(&self) -> Vec<Shape> {
        match self {
            Self::Flash { shapes, .. } => shapes.clone(),
            Self::Stroke { line, width } if line.a == line.b => {
                vec![Shape::disc(line.a, width / 2.0)]
            }
            Self::Stroke { line, width } => vec![Shape::stroke(line.a, line.b, *width)],
            Self::Region { ring } => vec![Shape::polygon(ring.clone(), 0.0)],
        }
    }

    /// Calls `change` with each of its points.
    pub(crate) fn each_point(&mut self, mut change: impl FnMut(&mut Point)) {
        match self {
            Self::Flash { at, shapes } => {
                change(at);
                let points = shapes.iter_mut().flat_map(|shape| &mut shape.points);
                points.for_each(change);
            }
            Self::Stroke { line, .. } => {
                change(&mut line.a);
                change(&mut line.b);
            }
            Self::Region { ring } => ring.iter_mut().for_each(change),
        }
    }
}

/// Reads a file.
///
/// # Errors
/// What is wrong with it or beyond a bound, with line and column; or that the observer stopped it.
pub(crate) fn read(
    bytes: &[u8],
    limits: &Limits,
    observer: &dyn Observer,
) -> Result<Image, OpenError> {
    plot::Plotter::new(bytes, limits, observer).run()
}
