//! What of a layer is copper: dark objects without what later clear ones take away.

use super::chain::loops;
use super::error::{OpenError, Steps};
use crate::board::LayerId;
use crate::copper::Rows;
use crate::geometry::{Bounds, Point, Segment, Shape};
use crate::gerber::polygons::{Pieces, bridged, union, without};
use crate::gerber::{Form, Image, Object, Role};
use crate::observer::{Observer, Stop};

/// A piece of copper.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) layer: LayerId,
    pub(super) copper: Copper,
    pub(super) role: Role,
    /// Index into the labels of all layers.
    pub(super) label: usize,
}

/// What a piece is.
#[derive(Clone, Debug)]
pub(super) enum Copper {
    Track { line: Segment, width: f64 },
    Flash { at: Point, shapes: Vec<Shape> },
    Pour(Shape),
}

impl Copper {
    pub(super) fn shapes(&self) -> Vec<Shape> {
        match self {
            Self::Track { line, width } if line.a == line.b => {
                vec![Shape::disc(line.a, width / 2.0)]
            }
            Self::Track { line, width } => vec![Shape::stroke(line.a, line.b, *width)],
            Self::Flash { shapes, .. } => shapes.clone(),
            Self::Pour(shape) => vec![shape.clone()],
        }
    }

    fn of(form: Form) -> Self {
        match form {
            Form::Stroke { line, width } => Self::Track { line, width },
            Form::Flash { at, shapes } => Self::Flash { at, shapes },
            Form::Region { ring } => Self::Pour(Shape::polygon(ring, 0.0)),
        }
    }
}

/// The copper of a layer.
pub(super) struct Layer {
    pub(super) pieces: Vec<Piece>,
    /// How many tracks and pads were cut and became pieces of pours.
    pub(super) cut: usize,
}

/// Makes the copper of a layer. `outline` is what a negative layer is cut from.
pub(super) fn of(
    image: Image,
    layer: LayerId,
    outline: &[Segment],
    observer: &dyn Observer,
) -> Result<Layer, OpenError> {
    let mut watch = Steps::new(observer);
    let mut objects = image.objects;
    if image.is_negative {
        objects = negated(objects, outline);
    }
    // What no conductor is, and the outline where it is drawn on all layers, are left out, as the reader of KiCad's
    // boards leaves drawings on copper out.
    objects.retain(|object| !matches!(object.role, Role::Profile | Role::Idle) || object.is_clear);
    let clears = Clears::of(&objects, &|| observer.is_over());
    let mut made = Layer {
        pieces: Vec::with_capacity(objects.len()),
        cut: 0,
    };
    for (index, object) in objects.into_iter().enumerate() {
        watch.step()?;
        if object.is_clear {
            continue;
        }
        let (role, label) = (object.role, object.label as usize);
        let cuts = clears.of_object(index, &object);
        if cuts.is_empty() {
            let copper = Copper::of(object.form);
            made.pieces.push(Piece {
                layer,
                copper,
                role,
                label,
            });
            continue;
        }
        if !matches!(object.form, Form::Region { .. }) {
            made.cut += 1;
        }
        let shapes = object.form.shapes();
        let left = without(&union(&shapes), cuts.into_iter().flatten());
        made.pieces.extend(pours(&left, layer, role, label));
    }
    Ok(made)
}

/// Pieces of pours.
pub(super) fn pours(
    pieces: &Pieces,
    layer: LayerId,
    role: Role,
    label: usize,
) -> impl Iterator<Item = Piece> {
    let rings = pieces.iter().map(|piece| bridged(piece));
    let rings = rings.filter(|ring| ring.len() > 2);
    rings.map(move |ring| Piece {
        layer,
        copper: Copper::Pour(Shape::polygon(ring, 0.0)),
        role,
        label,
    })
}

/// A negative layer as a positive one: everything within the outline, without what is drawn.
fn negated(mut objects: Vec<Object>, outline: &[Segment]) -> Vec<Object> {
    for object in &mut objects {
        object.is_clear = !object.is_clear;
    }
    let largest = loops(outline)
        .into_iter()
        .max_by(|x, y| area(x).total_cmp(&area(y)));
    let ring = largest.unwrap_or_else(|| {
        let own = objects.iter().flat_map(|object| object.form.shapes());
        let corners = own.flat_map(|shape| [shape.bounds().min, shape.bounds().max]);
        let sides = outline.iter().flat_map(|side| [side.a, side.b]);
        let bounds = Bounds::of(corners.chain(sides));
        if bounds.is_empty() {
            return Vec::new();
        }
        let (min, max) = (bounds.min, bounds.max);
        vec![min, Point::new(max.x, min.y), max, Point::new(min.x, max.y)]
    });
    if ring.len() > 2 {
        let label = objects.first().map_or(0, |object| object.label);
        let plate = Object {
            form: Form::Region { ring },
            is_clear: false,
            role: Role::Conductor,
            label,
        };
        objects.insert(0, plate);
    }
    objects
}

fn area(ring: &[Point]) -> f64 {
    Shape::polygon(ring.to_vec(), 0.0).area()
}

/// Clear objects, by height.
struct Clears {
    shapes: Vec<(usize, Bounds, Vec<Shape>)>,
    rows: Rows<u32>,
}

impl Clears {
    fn of(objects: &[Object], stop: Stop<'_>) -> Self {
        let clear = objects
            .iter()
            .enumerate()
            .filter(|(_, object)| object.is_clear);
        let shapes: Vec<_> = clear
            .map(|(index, object)| {
                let shapes = object.form.shapes();
                (index, bounds_of(&shapes), shapes)
            })
            .filter(|(_, bounds, _)| !bounds.is_empty())
            .collect();
        let heights: Vec<(f64, f64, u32)> = (0..)
            .zip(&shapes)
            .map(|(place, (_, bounds, _))| (bounds.min.y, bounds.max.y, place))
            .collect();
        Self {
            rows: Rows::new(&heights, stop),
            shapes,
        }
    }

    /// What takes away from an object: what is clear, comes later and touches it.
    fn of_object(&self, index: usize, object: &Object) -> Vec<&[Shape]> {
        if self.shapes.is_empty() {
            return Vec::new();
        }
        let own = object.form.shapes();
        let around = bounds_of(&own);
        let mut places: Vec<u32> = self.rows.between(around.min.y, around.max.y).collect();
        places.sort_unstable();
        places.dedup();
        let near = places.into_iter().map(|place| &self.shapes[place as usize]);
        let later = near.filter(|(at, bounds, _)| *at > index && bounds.meets(&around));
        let is_region = matches!(object.form, Form::Region { .. });
        let meets = |shapes: &[Shape]| {
            is_region || shapes.iter().any(|x| own.iter().any(|y| x.gap(y) <= 0.0))
        };
        later
            .map(|(_, _, shapes)| shapes.as_slice())
            .filter(|shapes| meets(shapes))
            .collect()
    }
}

pub(super) fn bounds_of(shapes: &[Shape]) -> Bounds {
    Bounds::around(shapes.iter().map(Shape::bounds))
}
