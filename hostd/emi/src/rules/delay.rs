//! How long a signal takes along its net, from pad to pad: a graph of its tracks, vias and pads.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::context::{Context, LIGHT_MM_S};
use crate::board::{LayerId, LayerSet, NetId, Pad, Track, Via};
use crate::copper::key;
use crate::geometry::Point;

/// Delay of a millimetre in vacuum, in ps.
pub(super) const PS_MM: f64 = 1e12 / LIGHT_MM_S;

/// Nets with more tracks, or more tracks times pads and vias, have no ways here: they are no lines from one end to another.
const TRACKS_MAX: usize = 4096;
const PAIRS_MAX: usize = 1 << 18;

/// Copper that is nearer than this touches, in mm: what rounding leaves.
const TOUCH_MM: f64 = 0.002;

/// What a net is made of, and how long it takes from one place to another.
pub(super) struct Delays {
    /// From each place: to which others, in ps.
    links: Vec<Vec<(usize, f64)>>,
    /// Indices of the net's pads, each with its place.
    pub(super) pads: Vec<(usize, usize)>,
}

/// A net that is being put together.
struct Builder<'a, 'b> {
    context: &'a Context<'b>,
    links: Vec<Vec<(usize, f64)>>,
    by_place: HashMap<(LayerId, (i64, i64)), usize>,
    /// Where along each track, 0 to 1, something is, and which place that is.
    stops: Vec<Vec<(f64, usize)>>,
    tracks: &'b [Track],
}

impl Delays {
    /// Of a net; `None` if it has too much of everything.
    pub(super) fn of(context: &Context<'_>, net: NetId) -> Option<Self> {
        let board = context.board;
        let tracks = of_net(&board.tracks, net, |track| track.net);
        let vias = of_net(&board.vias, net, |via| via.net);
        let others = vias.len() + context.pads[net].len();
        if TRACKS_MAX < tracks.len() || PAIRS_MAX < tracks.len().saturating_mul(others) {
            return None;
        }
        let mut builder = Builder {
            context,
            links: Vec::new(),
            by_place: HashMap::new(),
            stops: vec![Vec::new(); tracks.len()],
            tracks,
        };
        builder.ends(net);
        let vias = builder.vias(vias);
        let pads = builder.pads(net, &vias);
        builder.along();
        Some(Self {
            links: builder.links,
            pads,
        })
    }

    /// The delay from any of some places to each place in ps, infinite where no copper leads.
    pub(super) fn from(&self, places: impl IntoIterator<Item = usize>) -> Vec<f64> {
        let mut delays = vec![f64::INFINITY; self.links.len()];
        // Positive numbers have the order of their bits.
        let mut open = BinaryHeap::new();
        for place in places {
            delays[place] = 0.0;
            open.push(Reverse((0_u64, place)));
        }
        while let Some(Reverse((bits, place))) = open.pop() {
            let delay = f64::from_bits(bits);
            if delays[place] < delay {
                continue;
            }
            for (next, more) in &self.links[place] {
                let later = delay + more;
                if later < delays[*next] {
                    delays[*next] = later;
                    open.push(Reverse((later.to_bits(), *next)));
                }
            }
        }
        delays
    }

    /// The longest delay between two places that are joined, in ps.
    pub(super) fn longest(&self, among: &[usize]) -> Option<f64> {
        let farthest = |from: usize| {
            let delays = self.from([from]);
            let reached = among.iter().map(|place| (delays[*place], *place));
            reached
                .filter(|(delay, _)| delay.is_finite())
                .max_by(|x, y| x.0.total_cmp(&y.0).then(y.1.cmp(&x.1)))
        };
        // In a tree, the place that is farthest from anywhere is one end of the longest way.
        let (_, end) = farthest(*among.first()?)?;
        farthest(end).map(|(delay, _)| delay)
    }

    /// All places.
    pub(super) fn places(&self) -> Vec<usize> {
        (0..self.links.len()).collect()
    }
}

/// The things of one net among things in the order of their nets.
fn of_net<T>(all: &[T], net: NetId, net_of: impl Fn(&T) -> NetId) -> &[T] {
    let from = all.partition_point(|thing| net_of(thing) < net);
    let count = all[from..].partition_point(|thing| net_of(thing) == net);
    &all[from..from + count]
}

impl Builder<'_, '_> {
    fn place(&mut self, layer: LayerId, at: Point) -> usize {
        let next = self.links.len();
        let place = *self.by_place.entry((layer, key(at))).or_insert(next);
        if place == next {
            self.links.push(Vec::new());
        }
        place
    }

    fn new_place(&mut self) -> usize {
        self.links.push(Vec::new());
        self.links.len() - 1
    }

    fn link(&mut self, x: usize, y: usize, ps: f64) {
        if x != y {
            self.links[x].push((y, ps));
            self.links[y].push((x, ps));
        }
    }

    /// Delay of a millimetre of a track, in ps.
    fn ps_mm(&self, track: &Track) -> f64 {
        let epsilon = self.context.effective_epsilon(track.layer, track.width);
        PS_MM * epsilon.sqrt()
    }

    /// Where `track` is nearest to `point`: a stop of it, and how far it is in ps.
    fn stop(&mut self, track: usize, point: Point) -> (usize, f64) {
        let it = self.tracks[track];
        let part = it.line.nearest(point);
        let at = it.line.at(part);
        let place = self.place(it.layer, at);
        self.stops[track].push((part, place));
        (place, at.distance(point) * self.ps_mm(&it))
    }

    /// The ends of tracks, and the other tracks that are there.
    fn ends(&mut self, net: NetId) {
        let first = self.context.board.tracks.partition_point(|t| t.net < net);
        let tracks = self.tracks;
        for (index, track) in tracks.iter().enumerate() {
            for end in [track.line.a, track.line.b] {
                let (place, _) = self.stop(index, end);
                let layer = LayerSet::only(track.layer);
                for other in self.context.contacts.tracks_at(net, layer, end) {
                    if other != first + index {
                        let (there, ps) = self.stop(other - first, end);
                        self.link(place, there, ps);
                    }
                }
            }
        }
    }

    /// Places of vias, one for each layer that a track reaches it on.
    fn vias<'v>(&mut self, vias: &'v [Via]) -> Vec<(&'v Via, Vec<(LayerId, usize)>)> {
        let mut found = Vec::with_capacity(vias.len());
        for via in vias {
            let mut layers: Vec<(LayerId, usize)> = Vec::new();
            for layer in via.span.common(self.context.board.all_layers()).layers() {
                layers.push((layer, self.new_place()));
            }
            for index in 0..self.tracks.len() {
                let track = self.tracks[index];
                let reach = (via.size + track.width) / 2.0 + TOUCH_MM;
                let place = layers.iter().find(|(layer, _)| *layer == track.layer);
                if let Some((_, place)) = place.copied()
                    && track.line.distance(via.at) <= reach
                {
                    let (there, ps) = self.stop(index, via.at);
                    self.link(place, there, ps);
                }
            }
            for pair in layers.windows(2) {
                let ((upper, x), (lower, y)) = (pair[0], pair[1]);
                let stackup = &self.context.board.stackup;
                let epsilon = stackup.epsilon_between(upper, lower);
                self.link(
                    x,
                    y,
                    PS_MM * stackup.distance(upper, lower) * epsilon.sqrt(),
                );
            }
            found.push((via, layers));
        }
        found
    }

    /// Places of pads, by index.
    fn pads(&mut self, net: NetId, vias: &[(&Via, Vec<(LayerId, usize)>)]) -> Vec<(usize, usize)> {
        let context = self.context;
        let board = context.board;
        let mut found: Vec<(usize, usize)> = Vec::new();
        for index in &context.pads[net] {
            let pad = &board.pads[*index];
            let place = self.new_place();
            for track in 0..self.tracks.len() {
                if touches(pad, &self.tracks[track]) {
                    let (there, ps) = self.stop(track, pad.at);
                    self.link(place, there, ps);
                }
            }
            for (via, layers) in vias {
                for (_, there) in layers.iter().filter(|(layer, _)| pad.layers.has(*layer)) {
                    if pad.distance(via.at) <= via.size / 2.0 + TOUCH_MM {
                        self.link(place, *there, PS_MM * pad.at.distance(via.at));
                    }
                }
            }
            // A clamp that is passed has a pad on each side.
            let part = context.part(pad.footprint);
            if part.is_clamp() {
                for (other, there) in found.clone() {
                    let other = &board.pads[other];
                    if other.footprint == pad.footprint {
                        self.link(place, there, PS_MM * pad.at.distance(other.at));
                    }
                }
            }
            found.push((*index, place));
        }
        found
    }

    /// From stop to stop along each track.
    fn along(&mut self) {
        for index in 0..self.tracks.len() {
            let track = self.tracks[index];
            let ps = self.ps_mm(&track) * track.line.length();
            let mut stops = std::mem::take(&mut self.stops[index]);
            stops.sort_by(|x, y| x.0.total_cmp(&y.0));
            for pair in stops.windows(2) {
                self.link(pair[0].1, pair[1].1, ps * (pair[1].0 - pair[0].0));
            }
        }
    }
}

fn touches(pad: &Pad, track: &Track) -> bool {
    let reach = track.width / 2.0 + TOUCH_MM;
    let near = pad.bounds.grown(reach);
    near.meets(&track.line.bounds())
        && pad
            .shapes_on(track.layer)
            .iter()
            .any(|shape| shape.distance_to(&track.line) <= reach)
}
