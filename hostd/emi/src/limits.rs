//! How much a file may hold. What a stranger sends is bounded before it is kept.

/// Bounds of a board. The defaults are far above real boards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Bytes of a board file, or of the archive that it comes in.
    pub bytes_max: usize,
    /// Bytes of all files of an archive, unpacked.
    pub unpacked_bytes_max: usize,
    /// Files of an archive.
    pub entries_max: usize,
    /// Lists within lists, blocks of apertures within blocks, brackets within brackets.
    pub nesting_max: usize,
    /// Lists and words of a board file; commands of a Gerber or drill file.
    pub nodes_max: usize,
    /// Tracks, vias, pads, pieces of pours.
    pub objects_max: usize,
    /// Pairs of pieces of copper, or of copper and holes, that are compared to see which of them touch: in Gerbers. Larger boards
    /// may have [`pairs_per_thing_max`](Self::pairs_per_thing_max) for each of their parts.
    pub pairs_max: usize,
    /// The same for each side of copper, hole and point of a netlist, where that is more.
    pub pairs_per_thing_max: usize,
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
            unpacked_bytes_max: 512 << 20,
            entries_max: 2000,
            nesting_max: 64,
            nodes_max: 40_000_000,
            objects_max: 2_000_000,
            pairs_max: 200_000_000,
            pairs_per_thing_max: 2_000,
            edges_max: 8_000_000,
            layers_max: 64,
            coordinate_mm_max: 2000.0,
        }
    }
}
