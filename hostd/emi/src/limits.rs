//! How much a file may hold. What a stranger sends is bounded before it is kept.

/// Bounds of a board. The defaults are far above real boards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Bytes of a board file.
    pub bytes_max: usize,
    /// Lists within lists.
    pub nesting_max: usize,
    /// Lists and words of a board file.
    pub nodes_max: usize,
    /// Tracks, vias, pads, pieces of pours.
    pub objects_max: usize,
    /// Sides of polygons.
    pub edges_max: usize,
    /// Copper layers.
    pub layers_max: usize,
    /// Largest coordinate, in either direction, in millimetres.
    pub coordinate_mm_max: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes_max: 200 << 20,
            nesting_max: 64,
            nodes_max: 40_000_000,
            objects_max: 2_000_000,
            edges_max: 8_000_000,
            layers_max: 64,
            coordinate_mm_max: 2000.0,
        }
    }
}
