//! Pieces of copper.

use super::{LayerId, LayerSet, NetId};
use crate::geometry::{Bounds, Point, Segment, Shape};

/// A straight piece of a track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Track {
    /// Its middle line.
    pub line: Segment,
    /// Its width in mm.
    pub width: f64,
    /// Where it is.
    pub layer: LayerId,
    /// Its net.
    pub net: NetId,
    /// The line of its file that it is on, from 1; 0 if nobody knows.
    pub source_line: u32,
}

/// A via.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Via {
    /// Its middle.
    pub at: Point,
    /// Its outer diameter in mm.
    pub size: f64,
    /// Its hole's diameter in mm.
    pub drill: f64,
    /// The layers that it joins.
    pub span: LayerSet,
    /// Its net.
    pub net: NetId,
    /// The line of its file that it is on, from 1; 0 if nobody knows.
    pub source_line: u32,
}

/// What is drilled through a pad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hole {
    /// Nothing.
    None,
    /// A hole with copper in it, which joins all layers.
    Plated,
    /// A hole without.
    Bare,
}

/// Forms of copper, and the layers that have each of them.
pub type Forms = Vec<(LayerSet, Vec<Shape>)>;

/// What a part does at a pin, as its symbol says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pin {
    /// The file does not say, or the pin is passive.
    #[default]
    Unknown,
    /// It takes a supply.
    PowerIn,
    /// It makes a supply.
    PowerOut,
    /// It drives a signal or listens to one.
    Signal,
}

impl Pin {
    /// Of KiCad's type of a pin.
    pub fn of_kicad(name: &str) -> Self {
        // What is not connected is marked besides: `input+no_connect`.
        match name.split('+').next().unwrap_or_default() {
            "power_in" => Self::PowerIn,
            "power_out" => Self::PowerOut,
            "input" | "output" | "bidirectional" | "tri_state" | "open_collector"
            | "open_emitter" => Self::Signal,
            _ => Self::Unknown,
        }
    }
}

/// A pad of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct Pad {
    /// Its number or name.
    pub number: String,
    /// The part's function of the pin, if the file says.
    pub function: String,
    /// What the part does there.
    pub pin: Pin,
    /// Its middle.
    pub at: Point,
    /// Its copper, on all layers that `elsewhere` does not name.
    pub shapes: Vec<Shape>,
    /// Its copper on layers where it has another form; no layer is named twice.
    pub elsewhere: Forms,
    /// The box around its copper.
    pub bounds: Bounds,
    /// The layers that it is on.
    pub layers: LayerSet,
    /// Its hole.
    pub hole: Hole,
    /// Its net.
    pub net: NetId,
    /// Index of its part.
    pub footprint: usize,
    /// The line of its file that it is on, from 1; 0 if nobody knows.
    pub source_line: u32,
}

impl Pad {
    /// Half of the diagonal of the box around it.
    pub fn reach(&self) -> f64 {
        self.bounds.min.distance(self.bounds.max) / 2.0
    }

    /// Its copper on that layer, if it is on it.
    pub fn shapes_on(&self, layer: LayerId) -> &[Shape] {
        let mut others = self.elsewhere.iter();
        let other = others.find(|(layers, _)| layers.has(layer));
        match other {
            Some((_, shapes)) => shapes,
            None if self.layers.has(layer) => &self.shapes,
            None => &[],
        }
    }

    /// Its copper on any of those layers, each form once.
    pub fn shapes_within(&self, layers: LayerSet) -> impl Iterator<Item = &Shape> {
        let named = self
            .elsewhere
            .iter()
            .fold(LayerSet::NONE, |set, (of, _)| set.with(*of));
        let is_here = !self.layers.without(named).common(layers).is_empty();
        let others = self.elsewhere.iter();
        let others = others.filter(move |(of, _)| !of.common(layers).is_empty());
        let usual = self.shapes.iter().filter(move |_| is_here);
        usual.chain(others.flat_map(|(_, shapes)| shapes))
    }

    /// All forms of its copper.
    pub(crate) fn all_shapes(&self) -> impl Iterator<Item = &Shape> {
        let others = self.elsewhere.iter().flat_map(|(_, shapes)| shapes);
        self.shapes.iter().chain(others)
    }

    /// The distance of its copper, on whichever layer, to `point`; 0 inside.
    pub fn distance(&self, point: Point) -> f64 {
        self.all_shapes()
            .map(|shape| shape.distance(point))
            .fold(f64::INFINITY, f64::min)
    }

    /// As [`distance`](Self::distance), of its copper on some layers.
    pub fn distance_within(&self, layers: LayerSet, point: Point) -> f64 {
        self.shapes_within(layers)
            .map(|shape| shape.distance(point))
            .fold(f64::INFINITY, f64::min)
    }

    /// The distance between its copper and another pad's, as if both were on one layer.
    pub fn gap(&self, other: &Self) -> f64 {
        let pairs = self
            .shapes
            .iter()
            .flat_map(|a| other.shapes.iter().map(move |b| a.gap(b)));
        pairs.fold(f64::INFINITY, f64::min)
    }

    /// Its area on one layer in mm²; what overlaps counts twice.
    pub fn area(&self) -> f64 {
        self.shapes.iter().map(Shape::area).sum()
    }
}

/// A piece of a filled zone.
#[derive(Clone, Debug, PartialEq)]
pub struct Fill {
    /// Its copper.
    pub shape: Shape,
    /// The box around it.
    pub bounds: Bounds,
    /// Its area in mm².
    pub area: f64,
    /// Where it is.
    pub layer: LayerId,
    /// Its net.
    pub net: NetId,
    /// The line of its file that it is on, from 1; 0 if nobody knows.
    pub source_line: u32,
}
