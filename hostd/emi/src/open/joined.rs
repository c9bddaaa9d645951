//! Copper that touches is one net: names are spread over what touches on a layer, and through plated holes.

use std::collections::HashMap;

use super::budget::Budget;
use super::error::OpenError;
use super::nets::Work;
use super::painted::Sets;
use crate::board::{Fill, LayerId, NetId};
use crate::copper::{FillIndex, SegmentGrid};
use crate::geometry::{Segment, Shape, circle};
use crate::observer::Stop;

/// Copper that is nearer than this touches, in mm: what rounding leaves.
const TOUCH_MM: f64 = 0.002;

/// Larger discs and pens are looked at as polygons, since everything within the largest radius of a class is compared.
const RADIUS_MM_MAX: f64 = 1.0;

/// Sides are looked for by how far their copper reaches, each class up to one of these, in mm: a board has by far most sides of
/// pours, which reach no farther than they are.
const CLASSES_MM: [f64; 4] = [0.0, 0.1, 0.3, RADIUS_MM_MAX];

/// Names what nobody has named by what it touches.
pub(super) fn spread(
    work: &mut Work,
    budget: &mut Budget<'_>,
    notes: &mut Vec<String>,
) -> Result<(), OpenError> {
    let count = work.pieces.len();
    let mut sets = Sets::new(count + work.joints.len());
    // Only what has no name is looked at: what touches it, and what touches that.
    let is_open: Vec<bool> = {
        let pieces = work.owners.iter().map(|owner| owner.net.is_none());
        let joints = work
            .joints
            .iter()
            .map(|joint| joint.owner.net.is_none() && joint.hole.is_plated != Some(false));
        pieces.chain(joints).collect()
    };
    let layers = work
        .pieces
        .iter()
        .map(|piece| piece.layer + 1)
        .max()
        .unwrap_or_default();
    for layer in 0..layers {
        let of_pieces = work.pieces.iter().map(|piece| piece.layer == layer);
        let of_joints = work.joints.iter().map(|joint| joint.hole.span.has(layer));
        let mut here = of_pieces.chain(of_joints).zip(&is_open);
        if here.any(|(is_here, is_open)| is_here && *is_open) {
            let touching = Touching::new(work, layer, &budget.stop());
            // What was left unfinished must not be looked at.
            if (budget.stop())() {
                return Err(OpenError::Cancelled);
            }
            touching.join(&is_open, &mut sets, budget)?;
        }
    }
    for (index, joint) in work.joints.iter().enumerate() {
        if joint.hole.is_plated != Some(false) {
            joint
                .pads
                .iter()
                .for_each(|pad| sets.join(count + index, *pad));
        }
    }
    name(work, &mut sets, notes);
    Ok(())
}

/// Gives what touches a single net its name; says how much touches several.
fn name(work: &mut Work, sets: &mut Sets, notes: &mut Vec<String>) {
    let count = work.pieces.len();
    // The names in each set.
    let mut names: HashMap<usize, Vec<NetId>> = HashMap::new();
    let of_pieces = work.owners.iter().map(|owner| owner.net).enumerate();
    let of_joints = work.joints.iter().map(|joint| joint.owner.net).enumerate();
    let named = of_pieces.chain(of_joints.map(|(index, net)| (count + index, net)));
    for (index, net) in named {
        if let Some(net) = net.filter(|net| !work.nets.all()[*net].name.is_empty()) {
            let names = names.entry(sets.root(index)).or_default();
            // Two are too many already.
            if names.len() < 2 && !names.contains(&net) {
                names.push(net);
            }
        }
    }
    let mut shorted = 0;
    let mut name =
        |index: usize, sets: &mut Sets| match names.get(&sets.root(index)).map(Vec::as_slice) {
            Some([net]) => Some(*net),
            Some(_) => {
                shorted += 1;
                None
            }
            None => None,
        };
    for index in 0..count {
        if work.owners[index].net.is_none() {
            work.owners[index].net = name(index, sets);
        }
    }
    for (index, joint) in work.joints.iter_mut().enumerate() {
        if joint.owner.net.is_none() {
            joint.owner.net = name(count + index, sets);
        }
    }
    if shorted > 0 {
        notes.push(format!(
            "{shorted} pieces of copper touch several nets and are left without one: is the netlist of this board?"
        ));
    }
}

/// Sides of shapes whose copper reaches alike far; a disc is a point.
struct Class {
    sides: SegmentGrid,
    owners: Vec<usize>,
    radii: Vec<f64>,
    radius_max: f64,
}

/// What of a layer touches what.
struct Touching {
    classes: Vec<Class>,
    /// Polygons, and whose each is.
    polygons: FillIndex,
    of_polygons: Vec<usize>,
}

/// A side, the copper that it is of, and how far that reaches.
type Side = (Segment, usize, f64);

impl Class {
    fn new(sides: Vec<Side>, stop: Stop<'_>) -> Self {
        let radii: Vec<f64> = sides.iter().map(|(_, _, radius)| *radius).collect();
        Self {
            owners: sides.iter().map(|(_, owner, _)| *owner).collect(),
            radius_max: radii.iter().copied().fold(0.0, f64::max),
            radii,
            sides: SegmentGrid::new(sides.into_iter().map(|(side, ..)| side).collect(), stop),
        }
    }

    /// Joins copper with what of this class touches a side of it.
    fn join(
        &self,
        (side, owner, radius): &Side,
        sets: &mut Sets,
        near: &mut Vec<usize>,
        budget: &mut Budget<'_>,
    ) -> Result<(), OpenError> {
        if self.owners.is_empty() {
            return Ok(());
        }
        let reach = radius + self.radius_max + TOUCH_MM;
        budget.spend(self.sides.crowd(side, reach))?;
        self.sides.along(side, reach, near);
        for other in near.iter().copied() {
            if sets.root(*owner) == sets.root(self.owners[other]) {
                continue;
            }
            let reach = radius + self.radii[other] + TOUCH_MM;
            if side.distance_to(self.sides.segment(other)) <= reach {
                sets.join(*owner, self.owners[other]);
            }
        }
        Ok(())
    }
}

impl Touching {
    fn new(work: &Work, layer: LayerId, stop: Stop<'_>) -> Self {
        let mut classes: [Vec<Side>; CLASSES_MM.len()] = Default::default();
        let mut fills: Vec<Fill> = Vec::new();
        let mut of_polygons = Vec::new();
        let count = work.pieces.len();
        let of_layer = work
            .pieces
            .iter()
            .enumerate()
            .filter(|(_, piece)| piece.layer == layer);
        let pieces = of_layer.flat_map(|(index, piece)| {
            let shapes = piece.copper.shapes().into_iter();
            shapes.map(move |shape| (index, shape))
        });
        let through =
            work.joints.iter().enumerate().filter(|(_, joint)| {
                joint.hole.is_plated != Some(false) && joint.hole.span.has(layer)
            });
        let joints = through.map(|(index, joint)| {
            let disc = Shape::disc(joint.hole.at, joint.hole.diameter / 2.0);
            (count + index, disc)
        });
        for (owner, mut shape) in pieces.chain(joints) {
            if let ([center], true) = (shape.points.as_slice(), shape.radius > RADIUS_MM_MAX) {
                shape = Shape::polygon(circle(*center, shape.radius), 0.0);
            }
            let point = |shape: &Shape| shape.points.first().map(|p| Segment::new(*p, *p));
            let is_disc = shape.points.len() == 1;
            let own = shape.sides().chain(point(&shape).filter(|_| is_disc));
            let radius = shape.radius.min(RADIUS_MM_MAX);
            let class = CLASSES_MM.partition_point(|most| *most < radius);
            classes[class].extend(own.map(|side| (side, owner, radius)));
            if shape.points.len() > 2 {
                let (bounds, area) = (shape.bounds(), 0.0);
                fills.push(Fill {
                    shape,
                    bounds,
                    area,
                    layer,
                    net: 0,
                    source_line: 0,
                });
                of_polygons.push(owner);
            }
        }
        Self {
            classes: classes
                .into_iter()
                .map(|sides| Class::new(sides, stop))
                .collect(),
            polygons: FillIndex::new(&fills, (0..fills.len()).collect(), stop),
            of_polygons,
        }
    }

    /// Joins what has no name with what touches it.
    fn join(
        &self,
        is_open: &[bool],
        sets: &mut Sets,
        budget: &mut Budget<'_>,
    ) -> Result<(), OpenError> {
        let mut near = Vec::new();
        let mut last = usize::MAX;
        let has_open_polygon = self.of_polygons.iter().any(|owner| is_open[*owner]);
        for class in &self.classes {
            for (index, owner) in class.owners.iter().enumerate() {
                budget.spend(1)?;
                let side = *class.sides.segment(index);
                // What lies within a polygon meets none of its sides; one point of it is enough to see.
                if last != *owner && (is_open[*owner] || has_open_polygon) {
                    last = *owner;
                    for polygon in self.polygons.at(side.a) {
                        sets.join(*owner, self.of_polygons[polygon]);
                    }
                }
                if !is_open[*owner] {
                    continue;
                }
                let side = (side, *owner, class.radii[index]);
                for other in &self.classes {
                    other.join(&side, sets, &mut near, budget)?;
                }
            }
        }
        Ok(())
    }
}
