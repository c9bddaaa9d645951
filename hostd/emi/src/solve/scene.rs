//! What of a board is in a model: the copper of one net, the planes beside it, and what joins them, cut out around the net.
//! In millimetres, x as in the file, y up, z up from the lowest copper layer.

use super::ports::Port;
use crate::board::{Board, Hole, LayerId, NetId, NetKind};
use crate::geometry::{Bounds, Point, Segment, Shape};

/// How much of the planes is kept around the net, in mm.
const MARGIN_MM: f64 = 4.0;

/// Most corners of all polygons. What is beyond is left out, and said.
const CORNERS_MAX: usize = 200_000;

/// Most cylinders of vias.
const VIAS_MAX: usize = 5_000;

/// Copper on one layer.
pub(super) struct Sheet {
    /// Of which net, for people.
    pub(super) net: String,
    pub(super) is_of_net: bool,
    pub(super) z: f64,
    pub(super) corners: Vec<(f64, f64)>,
}

/// Copper through layers.
pub(super) struct Post {
    pub(super) at: (f64, f64),
    pub(super) radius: f64,
    pub(super) z: (f64, f64),
}

/// Insulation between two layers.
pub(super) struct Slab {
    pub(super) z: (f64, f64),
    pub(super) epsilon_r: f64,
}

/// All of it.
pub(super) struct Scene {
    pub(super) region: Bounds,
    /// The box around the net's own copper.
    pub(super) core: Bounds,
    pub(super) sheets: Vec<Sheet>,
    pub(super) posts: Vec<Post>,
    pub(super) slabs: Vec<Slab>,
    /// Heights of the copper layers, from the top.
    pub(super) heights: Vec<f64>,
    /// Ports, y up.
    pub(super) ports: [Port; 2],
    /// The narrowest track of the net.
    pub(super) narrowest: f64,
    /// Places where the mesh needs a line: edges of tracks along an axis, pads, ports.
    pub(super) edges: (Vec<f64>, Vec<f64>),
    pub(super) notes: Vec<String>,
}

impl Scene {
    pub(super) fn new(board: &Board, net: NetId, ports: [Port; 2]) -> Self {
        let core = core(board, net);
        let total: f64 = board.stackup.gaps.iter().map(|gap| gap.thickness).sum();
        let mut heights = vec![total];
        let mut slabs = Vec::new();
        for gap in &board.stackup.gaps {
            let above = heights.last().copied().unwrap_or(total);
            let below = (above - gap.thickness).max(0.0);
            slabs.push(Slab {
                z: (below, above),
                epsilon_r: gap.epsilon_r.clamp(1.0, 100.0),
            });
            heights.push(below);
        }
        let region = core.grown(MARGIN_MM);
        let mut scene = Self {
            region: Bounds::of([up(region.min), up(region.max)]),
            core: Bounds::of([up(core.min), up(core.max)]),
            sheets: Vec::new(),
            posts: Vec::new(),
            slabs,
            heights,
            ports: ports.map(|port| Port {
                at: up(port.at),
                ..port
            }),
            narrowest: 1.0,
            edges: (Vec::new(), Vec::new()),
            notes: vec![
                "copper has no thickness and no loss, insulation no loss, and other nets are left out".to_owned(),
            ],
        };
        scene.add_net(board, net);
        scene.add_planes(board, &region);
        scene.add_posts(board, net, &region);
        scene.bound();
        scene
    }

    pub(super) fn height(&self, layer: LayerId) -> f64 {
        self.heights.get(layer).copied().unwrap_or(0.0)
    }

    fn add_net(&mut self, board: &Board, net: NetId) {
        let name = &board.nets[net].name;
        for track in board.tracks.iter().filter(|track| track.net == net) {
            let width = track.width.max(0.01);
            self.narrowest = self.narrowest.min(width);
            let corners = stroke(&track.line, width);
            self.add_edges(&track.line, width);
            self.add(name, true, track.layer, &corners);
        }
        for pad in board.pads.iter().filter(|pad| pad.net == net) {
            for layer in pad.layers.layers().filter(|l| *l < board.layers.len()) {
                for shape in pad.shapes_on(layer) {
                    self.add(name, true, layer, &outline(shape));
                }
            }
        }
        for fill in board.fills.iter().filter(|fill| fill.net == net) {
            self.add(name, true, fill.layer, &fill.shape.points);
        }
        for port in &self.ports {
            let half = port.width / 2.0;
            let (x, y) = &mut self.edges;
            x.extend([port.at.x - half, port.at.x, port.at.x + half]);
            y.extend([port.at.y - half, port.at.y, port.at.y + half]);
        }
    }

    /// Lines of the mesh along the edges of a track that runs along an axis.
    fn add_edges(&mut self, line: &Segment, width: f64) {
        let (a, b) = (up(line.a), up(line.b));
        if (a.y - b.y).abs() < 1e-6 {
            self.edges.1.extend([a.y - width / 2.0, a.y + width / 2.0]);
        } else if (a.x - b.x).abs() < 1e-6 {
            self.edges.0.extend([a.x - width / 2.0, a.x + width / 2.0]);
        }
    }

    /// The planes beside the layers of the net.
    fn add_planes(&mut self, board: &Board, region: &Bounds) {
        let mut used: Vec<LayerId> = self.ports.iter().map(|port| port.layer).collect();
        let own = self.sheets.iter().map(|sheet| sheet.z);
        let own: Vec<f64> = own.collect();
        used.extend((0..self.heights.len()).filter(|layer| own.contains(&self.heights[*layer])));
        let is_beside = |layer: LayerId| used.iter().any(|used| used.abs_diff(layer) == 1);
        for fill in &board.fills {
            let kind = board.nets[fill.net].kind;
            let is_plane = matches!(kind, NetKind::Ground | NetKind::Power);
            if is_plane && is_beside(fill.layer) && fill.bounds.meets(region) {
                let corners = clipped(&fill.shape.points, region);
                let name = board.nets[fill.net].name.clone();
                self.add(&name, false, fill.layer, &corners);
            }
        }
    }

    /// Vias and plated holes of the net and of the planes.
    fn add_posts(&mut self, board: &Board, net: NetId, region: &Bounds) {
        let counts = |of: NetId| {
            let kind = board.nets[of].kind;
            of == net || matches!(kind, NetKind::Ground | NetKind::Power)
        };
        let vias = board.vias.iter().filter_map(|via| {
            let ends = (via.span.top()?, via.span.bottom()?);
            (counts(via.net) && region.contains(via.at)).then_some((via.at, via.size, ends))
        });
        let last = board.layers.len().saturating_sub(1);
        let pads = board.pads.iter().filter_map(|pad| {
            let is_here = counts(pad.net) && region.contains(pad.at) && pad.hole == Hole::Plated;
            let size = pad.bounds.width().min(pad.bounds.height());
            is_here.then_some((pad.at, size, (0, last)))
        });
        for (at, size, (top, bottom)) in vias.chain(pads) {
            let (top, bottom) = (self.height(top), self.height(bottom));
            let at = up(at);
            self.posts.push(Post {
                at: (at.x, at.y),
                // Half of the outer diameter is about that of the hole.
                radius: (size / 4.0).clamp(0.02, 2.0),
                z: (bottom, top),
            });
        }
    }

    fn add(&mut self, net: &str, is_of_net: bool, layer: LayerId, corners: &[Point]) {
        if corners.len() < 3 {
            return;
        }
        let corners = corners.iter().map(|corner| up(*corner));
        self.sheets.push(Sheet {
            net: net.to_owned(),
            is_of_net,
            z: self.height(layer),
            corners: corners.map(|corner| (corner.x, corner.y)).collect(),
        });
    }

    /// Leaves out what is too much.
    fn bound(&mut self) {
        let mut corners = 0;
        let before = self.sheets.len();
        self.sheets.retain(|sheet| {
            corners += sheet.corners.len();
            corners <= CORNERS_MAX
        });
        if self.sheets.len() < before {
            let left_out = before - self.sheets.len();
            self.notes.push(format!(
                "{left_out} pieces of copper are left out: they have too many corners"
            ));
        }
        if self.posts.len() > VIAS_MAX {
            let left_out = self.posts.len() - VIAS_MAX;
            self.notes.push(format!("{left_out} vias are left out"));
            self.posts.truncate(VIAS_MAX);
        }
    }
}

/// The box around the copper of a net.
fn core(board: &Board, net: NetId) -> Bounds {
    let tracks = board.tracks.iter().filter(|track| track.net == net);
    let ends = tracks.flat_map(|track| [track.line.a, track.line.b]);
    let vias = board.vias.iter().filter(|via| via.net == net);
    let pads = board.pads.iter().filter(|pad| pad.net == net);
    let corners = pads.flat_map(|pad| [pad.bounds.min, pad.bounds.max]);
    Bounds::of(ends.chain(vias.map(|via| via.at)).chain(corners))
}

/// With y up.
fn up(point: Point) -> Point {
    Point::new(point.x, 0.0 - point.y)
}

/// A track as a rectangle that reaches half of its width beyond its ends, so that corners are closed.
fn stroke(line: &Segment, width: f64) -> Vec<Point> {
    let length = line.length();
    let along = if 0.0 < length {
        (line.b - line.a) * (0.5 * width / length)
    } else {
        Point::new(0.5 * width, 0.0)
    };
    let across = Point::new(-along.y, along.x);
    let (a, b) = (line.a - along, line.b + along);
    vec![a - across, b - across, b + across, a + across]
}

/// The corners of a piece of copper; round ones become boxes.
fn outline(shape: &Shape) -> Vec<Point> {
    match shape.points.as_slice() {
        [a, b] => stroke(&Segment::new(*a, *b), 2.0 * shape.radius),
        points if 2 < points.len() && shape.radius < 0.05 => points.to_vec(),
        _ => {
            let Bounds { min, max } = shape.bounds();
            vec![min, Point::new(max.x, min.y), max, Point::new(min.x, max.y)]
        }
    }
}

/// A ring cut to a box (Sutherland & Hodgman 1974); what it encloses by even and odd inside the box stays the same.
fn clipped(ring: &[Point], region: &Bounds) -> Vec<Point> {
    type Side = (fn(Point, &Bounds) -> f64, fn(Point, Point, f64) -> Point);
    let between: fn(Point, Point, f64) -> Point = |a, b, t| a + (b - a) * t;
    let sides: [Side; 4] = [
        (|p, r| p.x - r.min.x, between),
        (|p, r| r.max.x - p.x, between),
        (|p, r| p.y - r.min.y, between),
        (|p, r| r.max.y - p.y, between),
    ];
    let mut kept = ring.to_vec();
    for (inside, cut) in sides {
        let mut next = Vec::with_capacity(kept.len());
        for (index, to) in kept.iter().enumerate() {
            let from = kept[(index + kept.len() - 1) % kept.len()];
            let (a, b) = (inside(from, region), inside(*to, region));
            if (0.0 <= a) != (0.0 <= b) {
                next.push(cut(from, *to, a / (a - b)));
            }
            if 0.0 <= b {
                next.push(*to);
            }
        }
        kept = next;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_cut_to_the_box() {
        let ring = [(-5.0, -5.0), (5.0, -5.0), (5.0, 5.0), (-5.0, 5.0)];
        let ring = ring.map(|(x, y)| Point::new(x, y));
        let region = Bounds::of([Point::new(0.0, -1.0), Point::new(9.0, 1.0)]);
        let kept = clipped(&ring, &region);
        let area = Shape::polygon(kept, 0.0).area();
        assert!((area - 10.0).abs() < 1e-9);
        let away = Bounds::of([Point::new(6.0, 6.0), Point::new(9.0, 9.0)]);
        assert!(Shape::polygon(clipped(&ring, &away), 0.0).area() < 1e-9);
    }

    #[test]
    fn tracks_reach_around_corners() {
        let line = Segment::new(Point::new(0.0, 0.0), Point::new(3.0, 0.0));
        let bounds = Bounds::of(stroke(&line, 1.0));
        assert_eq!((bounds.width(), bounds.height()), (4.0, 1.0));
        let point = Segment::new(Point::default(), Point::default());
        assert_eq!(Bounds::of(stroke(&point, 1.0)).width(), 1.0);
    }
}
