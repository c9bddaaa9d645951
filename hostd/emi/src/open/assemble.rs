//! A board from the files of its fabrication.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::budget::Budget;
use super::error::OpenError;
use super::fabrication::Set;
use super::holes;
use super::nets::{Joint, Pin, Work, middles};
use super::pieces::{self, Copper, Piece, bounds_of};
use super::{painted, pens};
use crate::board::{
    Board, Fill, Footprint, Forms, Hole, Layer, LayerId, LayerSet, NetId, Pad, Side, Track, Via,
};
use crate::geometry::{Bounds, Point, Shape};
use crate::gerber::{Image, Label, Role};
use crate::limits::Limits;
use crate::observer::Observer;

/// The largest drill of a via, where nobody says whether a hole is of a via or of a pin, in mm.
const VIA_DRILL_MM_MAX: f64 = 0.6;

/// Puts a board together.
pub(super) fn board(
    mut set: Set,
    limits: &Limits,
    observer: &dyn Observer,
) -> Result<Board, OpenError> {
    let mut notes = std::mem::take(&mut set.notes);
    let count = set.copper.len();
    let (pieces, labels) = copper(
        std::mem::take(&mut set.copper),
        &set,
        limits,
        observer,
        &mut notes,
    )?;
    let things = things(&pieces, &set);
    let mut budget = Budget::new(things, limits, observer);
    let holes = holes::of(
        std::mem::take(&mut set.drills),
        &middles(&pieces),
        count,
        &mut budget,
        &mut notes,
    )?;
    if holes.len() + pieces.len() > limits.objects_max {
        let most = limits.objects_max;
        return Err(OpenError::whole(format!(
            "the board has more than {most} objects"
        )));
    }
    if holes.is_empty() && count > 1 {
        notes.push("no holes were found: no layers are joined; add the drill files".to_owned());
    }
    let mut work = Work::new(pieces, labels, holes, &mut budget)?;
    work.resolve(set.netlist.take(), &mut budget, &mut notes)?;
    let mut maker = Maker {
        board: Board {
            layers: (0..count).map(|index| layer(index, count)).collect(),
            outline: set.outline,
            ..Board::default()
        },
        parts: HashMap::new(),
    };
    let (stackup, assumed) = set.job.stackup(count);
    maker.board.stackup = stackup;
    maker.board.assumed = assumed;
    maker.take(work);
    maker.components(&set.components);
    let mut board = maker.board;
    if board.outline.is_empty() {
        notes.push(
            "no outline was found among the Gerbers: rules about the board's edge do not run"
                .to_owned(),
        );
    }
    board.notes = notes;
    board.put_in_order();
    Ok(board)
}

/// A layer by its place, as KiCad calls it.
fn layer(index: usize, count: usize) -> Layer {
    let name = match index {
        0 => "F.Cu".to_owned(),
        last if last + 1 == count => "B.Cu".to_owned(),
        inner => format!("In{inner}.Cu"),
    };
    Layer {
        name,
        user_name: None,
    }
}

/// The copper of all layers, and what attributes say about it.
fn copper(
    images: Vec<(String, Image)>,
    set: &Set,
    limits: &Limits,
    observer: &dyn Observer,
    notes: &mut Vec<String>,
) -> Result<(Vec<Piece>, Vec<Label>), OpenError> {
    let make = |(index, (_, mut image)): (usize, (String, Image))| {
        let labels = std::mem::take(&mut image.labels);
        let made = pieces::of(image, index, &set.outline, observer)?;
        let pieces = painted::filled(pens::taken_in(made.pieces), limits, observer)?;
        Ok((pieces, labels, made.cut))
    };
    let made: Result<Vec<_>, OpenError> = images
        .into_iter()
        .enumerate()
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(make)
        .collect();
    let (mut pieces, mut labels, mut cut, mut edges) = (Vec::new(), Vec::new(), 0, 0);
    for (mut of_layer, of_labels, was_cut) in made? {
        of_layer
            .iter_mut()
            .for_each(|piece| piece.label += labels.len());
        edges += of_layer.iter().map(size).sum::<usize>();
        pieces.extend(of_layer);
        labels.extend(of_labels);
        cut += was_cut;
    }
    let (objects_max, edges_max) = (limits.objects_max, limits.edges_max);
    if pieces.len() > objects_max {
        return Err(OpenError::whole(format!(
            "the board has more than {objects_max} objects"
        )));
    }
    if edges > edges_max {
        return Err(OpenError::whole(format!(
            "the board's polygons have more than {edges_max} sides"
        )));
    }
    if cut > 0 {
        notes.push(format!(
            "{cut} tracks and pads are cut by clear objects; what is left of them counts as pours"
        ));
    }
    Ok((pieces, labels))
}

/// How many sides of copper, holes and points of a netlist a board has.
fn things(pieces: &[Piece], set: &Set) -> usize {
    let sides: usize = pieces.iter().map(size).sum();
    let holes: usize = set.drills.iter().map(|(_, file)| file.holes.len()).sum();
    let points = set.netlist.as_ref().map_or(0, |list| list.points.len());
    sides + holes + points
}

fn size(piece: &Piece) -> usize {
    match &piece.copper {
        Copper::Track { .. } => 1,
        Copper::Flash { shapes, .. } => shapes.iter().map(|shape| shape.points.len()).sum(),
        Copper::Pour(shape) => shape.points.len(),
    }
}

/// A board that is being put together.
struct Maker {
    board: Board,
    /// Parts by their references.
    parts: HashMap<String, usize>,
}

impl Maker {
    fn take(&mut self, work: Work) {
        let mut is_taken = vec![false; work.pieces.len()];
        self.board.nets = work.nets.all().to_vec();
        for joint in &work.joints {
            for index in self.joint(joint, &work) {
                is_taken[index] = true;
            }
        }
        for (index, piece) in work.pieces.into_iter().enumerate() {
            if is_taken[index] {
                continue;
            }
            let owner = &work.owners[index];
            let net = owner.net.unwrap_or_default();
            let is_pad = piece.role == Role::Pad || owner.pin.is_some();
            match piece.copper {
                Copper::Track { line, width } if !is_pad => self.board.tracks.push(Track {
                    line,
                    width,
                    layer: piece.layer,
                    net,
                    source_line: 0,
                }),
                Copper::Pour(shape) if !is_pad => self.board.fills.push(Fill {
                    bounds: shape.bounds(),
                    area: shape.area(),
                    shape,
                    layer: piece.layer,
                    net,
                    source_line: 0,
                }),
                copper => {
                    let shapes = copper.shapes();
                    let at = match copper {
                        Copper::Flash { at, .. } => at,
                        _ => bounds_of(&shapes).center(),
                    };
                    let pad = pad(at, shapes, LayerSet::only(piece.layer), Hole::None, net);
                    self.pad(pad, owner.pin.as_ref());
                }
            }
        }
    }

    /// Makes a via or a pad of a hole; the copper around it that it took.
    fn joint(&mut self, joint: &Joint, work: &Work) -> Vec<usize> {
        let hole = &joint.hole;
        let is_via = is_via(joint, work);
        // A via may be in the pad of a part, which stays a pad.
        let taken: Vec<usize> = joint
            .pads
            .iter()
            .copied()
            .filter(|index| !(is_via && is_of_pin(*index, work)))
            .collect();
        let pieces = || taken.iter().map(|index| &work.pieces[*index]);
        let net = joint.owner.net.unwrap_or_default();
        let size = pieces()
            .map(|piece| width(&piece.copper))
            .fold(hole.diameter, f64::max);
        let is_plated = hole.is_plated.unwrap_or(size > hole.diameter);
        if joint.pads.is_empty() {
            if hole.is_plated == Some(true) && net != 0 {
                self.via(joint, size, net);
            }
            return taken;
        }
        if is_plated && is_via {
            self.via(joint, size, net);
            return taken;
        }
        let layers = pieces().fold(LayerSet::NONE, |set, piece| {
            set.with(LayerSet::only(piece.layer))
        });
        let (shapes, elsewhere) = forms(pieces());
        let kind = if is_plated { Hole::Plated } else { Hole::Bare };
        let pad = Pad {
            elsewhere,
            ..pad(hole.at, shapes, layers, kind, net)
        };
        self.pad(pad, joint.owner.pin.as_ref());
        taken
    }

    fn via(&mut self, joint: &Joint, size: f64, net: NetId) {
        self.board.vias.push(Via {
            at: joint.hole.at,
            size,
            drill: joint.hole.diameter,
            span: joint.hole.span,
            net,
            source_line: 0,
        });
    }

    /// Adds a pad to its part; a pad of no part is a part of its own.
    fn pad(&mut self, mut pad: Pad, pin: Option<&Pin>) {
        let footprints = &mut self.board.footprints;
        let mut new = |reference: &str| {
            footprints.push(Footprint {
                reference: reference.to_owned(),
                ..Footprint::default()
            });
            footprints.len() - 1
        };
        pad.footprint = match pin {
            Some(pin) => *self
                .parts
                .entry(pin.part.clone())
                .or_insert_with(|| new(&pin.part)),
            None => new(""),
        };
        if let Some(pin) = pin {
            pad.number.clone_from(&pin.number);
            pad.function.clone_from(&pin.function);
        }
        let footprint = &mut self.board.footprints[pad.footprint];
        footprint.bounds.add(pad.bounds.min);
        footprint.bounds.add(pad.bounds.max);
        footprint.at = footprint.bounds.center();
        // Through holes say nothing about the side.
        let bottom = self.board.layers.len() - 1;
        if pad.hole == Hole::None && pad.layers.top() == Some(bottom) && bottom > 0 {
            footprint.side = Side::Bottom;
        }
        self.board.pads.push(pad);
    }

    /// Takes in what files of components say about parts.
    fn components(&mut self, images: &[Image]) {
        for image in images {
            for object in &image.objects {
                let (Some(label), crate::gerber::Form::Flash { at, .. }) =
                    (image.labels.get(object.label as usize), &object.form)
                else {
                    continue;
                };
                // The place of a part has no pin.
                let Some(index) = self.parts.get(&label.part).filter(|_| label.pin.is_empty())
                else {
                    continue;
                };
                let footprint = &mut self.board.footprints[*index];
                footprint.at = *at;
                footprint.value.clone_from(&label.value);
                footprint.library.clone_from(&label.library);
            }
        }
    }
}

/// Whether a hole with copper in it is a via and no pin.
fn is_via(joint: &Joint, work: &Work) -> bool {
    let roles = || joint.pads.iter().map(|index| work.pieces[*index].role);
    if joint.is_via || joint.hole.is_via == Some(true) || roles().any(|role| role == Role::Via) {
        return true;
    }
    if joint.owner.pin.is_some() || roles().any(|role| role == Role::Pad) {
        return false;
    }
    joint
        .hole
        .is_via
        .unwrap_or(joint.hole.diameter <= VIA_DRILL_MM_MAX)
}

/// Whether copper is the pad of a pin.
fn is_of_pin(index: usize, work: &Work) -> bool {
    work.pieces[index].role == Role::Pad || work.owners[index].pin.is_some()
}

/// Across its narrowest.
fn width(copper: &Copper) -> f64 {
    let bounds = bounds_of(&copper.shapes());
    if bounds.is_empty() {
        return 0.0;
    }
    bounds.width().min(bounds.height())
}

/// The copper of a pad on its first layer, and on the layers where it has another form.
fn forms<'a>(pieces: impl Iterator<Item = &'a Piece>) -> (Vec<Shape>, Forms) {
    let mut by_layer: BTreeMap<LayerId, Vec<Shape>> = BTreeMap::new();
    for piece in pieces {
        let known = by_layer.entry(piece.layer).or_default();
        for shape in piece.copper.shapes() {
            if !known.contains(&shape) {
                known.push(shape);
            }
        }
    }
    let mut layers = by_layer.into_iter();
    let usual = layers.next().map(|(_, shapes)| shapes).unwrap_or_default();
    let mut elsewhere = Forms::new();
    for (layer, shapes) in layers.filter(|(_, shapes)| *shapes != usual) {
        let own = LayerSet::only(layer);
        match elsewhere.iter_mut().find(|(_, known)| *known == shapes) {
            Some((of, _)) => *of = of.with(own),
            None => elsewhere.push((own, shapes)),
        }
    }
    (usual, elsewhere)
}

fn pad(at: Point, shapes: Vec<Shape>, layers: LayerSet, hole: Hole, net: NetId) -> Pad {
    let mut bounds = bounds_of(&shapes);
    if bounds.is_empty() {
        bounds = Bounds::of([at]);
    }
    Pad {
        number: String::new(),
        function: String::new(),
        pin: crate::board::Pin::Unknown,
        at,
        shapes,
        elsewhere: Vec::new(),
        bounds,
        layers,
        hole,
        net,
        footprint: 0,
        source_line: 0,
    }
}
