//! Parts of a board.

use super::NetId;
use crate::geometry::{Bounds, Point};

/// The side of a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Of the first copper layer.
    #[default]
    Top,
    /// Of the last.
    Bottom,
}

/// A part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Footprint {
    /// Its reference, such as `C12`.
    pub reference: String,
    /// Its value, such as `100n`.
    pub value: String,
    /// The footprint's name in its library.
    pub library: String,
    /// Whether the file says that it is left out when boards are assembled.
    pub is_left_out: bool,
    /// Where it is mounted.
    pub side: Side,
    /// Where it is.
    pub at: Point,
    /// Indices of its pads.
    pub pads: Vec<usize>,
    /// The box around its pads.
    pub bounds: Bounds,
    /// Nets of its pads, each once, without copper that has none.
    pub nets: Vec<NetId>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Footprint {
    /// The letters that its reference begins with, in capitals: `C` of `C12`.
    pub fn prefix(&self) -> String {
        let letters = self.reference.chars().take_while(char::is_ascii_alphabetic);
        letters.map(|c| c.to_ascii_uppercase()).collect()
    }
}
