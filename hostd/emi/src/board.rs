//! A board: one model for all sources. Readers leave it in the coordinates of the source, in millimetres; a check moves it
//! into a frame of its own.
//!
//! Its parts stand in an order of their own, by name and place, so that a file that was saved in another order or with
//! other numbers is the same board.

mod copper;
mod footprint;
mod frame;
mod layer;
mod net;
mod order;
mod stackup;
mod table;

pub use copper::{Fill, Forms, Hole, Pad, Pin, Track, Via};
pub use footprint::{Footprint, Side};
pub use layer::{Layer, LayerSet};
pub use net::{Net, NetKind, Speed};
pub(crate) use stackup::{
    ASSUMED_COPPER, ASSUMED_EPSILON_R, ASSUMED_MASK_EPSILON_R, ASSUMED_THICKNESS,
};
pub use stackup::{Gap, Mask, Stackup};
pub(crate) use table::NetTable;

use crate::geometry::{Bounds, Point, Segment};

/// Index of a copper layer, from the top.
pub type LayerId = usize;

/// Index of a net.
pub type NetId = usize;

/// A board as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// The version of the file's format.
    pub version: u32,
    /// What to add to a place of the board for its place in the source, in mm.
    pub origin: Point,
    /// Copper layers, from the top.
    pub layers: Vec<Layer>,
    /// Heights and materials.
    pub stackup: Stackup,
    /// Solder mask on the first and on the last copper layer, where the file has it.
    pub masks: [Option<Mask>; 2],
    /// Nets, by name. The net without a name is among them if something is on it.
    pub nets: Vec<Net>,
    /// Straight pieces of tracks; arcs are chains of them.
    pub tracks: Vec<Track>,
    /// Vias.
    pub vias: Vec<Via>,
    /// Pads of all footprints.
    pub pads: Vec<Pad>,
    /// Parts.
    pub footprints: Vec<Footprint>,
    /// Pieces of filled zones.
    pub fills: Vec<Fill>,
    /// Layers with zones that were not filled, so that planes may be missing there.
    pub unfilled: LayerSet,
    /// The board's outline and cut-outs.
    pub outline: Vec<Segment>,
    /// What was left out or is odd, for people.
    pub notes: Vec<String>,
    /// Values that the file lacks and that were assumed.
    pub assumed: Vec<String>,
}

impl Board {
    /// The box around the outline, or around the copper if there is no outline.
    pub fn bounds(&self) -> Bounds {
        let outline = Bounds::of(self.outline.iter().flat_map(|side| [side.a, side.b]));
        if !outline.is_empty() {
            return outline;
        }
        let tracks = self
            .tracks
            .iter()
            .flat_map(|track| [track.line.a, track.line.b]);
        let fills = self
            .fills
            .iter()
            .flat_map(|fill| fill.shape.points.iter().copied());
        let pads = self.pads.iter().map(|pad| pad.at);
        Bounds::of(tracks.chain(fills).chain(pads))
    }

    /// A point in board space: millimetres from the bottom left of the outline, y up.
    pub fn board_space(&self, point: Point) -> Point {
        self.board_space_of(&self.bounds(), point)
    }

    /// As [`board_space`](Self::board_space), with bounds that the caller keeps.
    pub(crate) fn board_space_of(&self, bounds: &Bounds, point: Point) -> Point {
        if bounds.is_empty() {
            return point;
        }
        Point::new(point.x - bounds.min.x, bounds.max.y - point.y)
    }

    /// The area of the box around the outline, in mm².
    pub fn area(&self) -> f64 {
        self.bounds().area()
    }

    /// The layers' count as a set of all of them.
    pub fn all_layers(&self) -> LayerSet {
        LayerSet::first(self.layers.len())
    }

    /// The net of that name.
    pub fn net_named(&self, name: &str) -> Option<NetId> {
        self.nets.iter().position(|net| net.name == name)
    }
}
