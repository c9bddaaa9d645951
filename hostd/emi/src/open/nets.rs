//! Which net and which pin each piece of copper is of: as its attributes say, as the netlist says, as what touches it says.

use super::align::{Fit, NEAR_MM, fit};
use super::budget::Budget;
use super::error::OpenError;
use super::holes::Hole;
use super::joined;
use super::pieces::{Copper, Piece, bounds_of};
use crate::board::{LayerId, NetId, NetTable};
use crate::copper::Places;
use crate::geometry::Point;
use crate::gerber::{Label, Role, Stated};
use crate::ipc356::{Netlist, Side, TestPoint};
use crate::observer::Stop;

/// How far the middle of a hole is from that of its pad at most, where the pad is drawn off the hole, in mm.
const OFFSET_MM_MAX: f64 = 3.0;

/// Most pads around a hole: several on each layer.
const PADS_MAX: usize = 256;

/// A pin of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Pin {
    pub(super) part: String,
    pub(super) number: String,
    pub(super) function: String,
}

/// A hole with what was put down around it.
pub(super) struct Joint {
    pub(super) hole: Hole,
    /// Indices of pieces.
    pub(super) pads: Vec<usize>,
    pub(super) owner: Owner,
    /// Whether the netlist says that it is a via.
    pub(super) is_via: bool,
}

/// Whose copper is.
#[derive(Clone, Debug, Default)]
pub(super) struct Owner {
    /// `None` if nobody says.
    pub(super) net: Option<NetId>,
    pub(super) pin: Option<Pin>,
}

/// Copper, holes, and whose they are.
pub(super) struct Work {
    pub(super) pieces: Vec<Piece>,
    pub(super) labels: Vec<Label>,
    /// Of each piece.
    pub(super) owners: Vec<Owner>,
    pub(super) joints: Vec<Joint>,
    pub(super) nets: NetTable,
}

impl Work {
    pub(super) fn new(
        pieces: Vec<Piece>,
        labels: Vec<Label>,
        holes: Vec<Hole>,
        budget: &mut Budget<'_>,
    ) -> Result<Self, OpenError> {
        let mut work = Self {
            owners: Vec::new(),
            joints: Vec::new(),
            nets: NetTable::new(),
            pieces,
            labels,
        };
        work.owners = work.stated();
        work.joints = work.joints(holes, budget)?;
        Ok(work)
    }

    /// What attributes say.
    fn stated(&mut self) -> Vec<Owner> {
        let labels = std::mem::take(&mut self.labels);
        let is_name = |label: &Label| matches!(&label.net, Stated::Named(name) if !name.is_empty());
        let has_names = labels.iter().any(is_name);
        let of_label = |label: &Label, work: &mut Self| Owner {
            net: match &label.net {
                // Where nets are named, a pin that has no name is on none.
                Stated::No if has_names && !label.part.is_empty() => Some(work.nets.named("")),
                Stated::No => None,
                Stated::Named(name) => Some(work.nets.named(name)),
            },
            pin: (!label.part.is_empty()).then(|| Pin {
                part: label.part.clone(),
                number: label.pin.clone(),
                function: label.function.clone(),
            }),
        };
        let owners: Vec<Owner> = labels.iter().map(|label| of_label(label, self)).collect();
        self.labels = labels;
        let of_piece = |piece: &Piece| owners.get(piece.label).cloned().unwrap_or_default();
        self.pieces.iter().map(of_piece).collect()
    }

    /// The flashes that stand around each hole.
    fn joints(&self, holes: Vec<Hole>, budget: &mut Budget<'_>) -> Result<Vec<Joint>, OpenError> {
        let flashes = self.flashes(&budget.stop());
        let mut joints: Vec<Joint> = Vec::with_capacity(holes.len());
        for hole in holes {
            let of_span = |(_, index): &(Point, &usize)| hole.span.has(self.pieces[**index].layer);
            budget.spend(flashes.crowd(hole.at, NEAR_MM))?;
            let near = flashes.within(hole.at, NEAR_MM).filter(of_span);
            let mut pads: Vec<usize> = near.map(|(_, index)| *index).take(PADS_MAX).collect();
            if pads.is_empty() {
                budget.spend(flashes.crowd(hole.at, OFFSET_MM_MAX))?;
                let around = flashes.within(hole.at, OFFSET_MM_MAX).filter(of_span);
                let over = around.filter(|(_, index)| self.covers(**index, hole.at));
                pads = over.map(|(_, index)| *index).take(PADS_MAX).collect();
            }
            pads.sort_by_key(|index| (self.pieces[*index].layer, *index));
            joints.push(Joint {
                owner: self.owner_of(&pads),
                hole,
                pads,
                is_via: false,
            });
        }
        Ok(joints)
    }

    fn owner_of(&self, pads: &[usize]) -> Owner {
        let owners = || pads.iter().map(|index| &self.owners[*index]);
        Owner {
            net: owners().find_map(|owner| owner.net),
            pin: owners().find_map(|owner| owner.pin.clone()),
        }
    }

    fn flashes(&self, stop: Stop<'_>) -> Places<usize> {
        let flash = |(index, piece): (usize, &Piece)| match &piece.copper {
            Copper::Flash { at, .. } => Some((*at, index)),
            _ => None,
        };
        Places::new(self.pieces.iter().enumerate().filter_map(flash), stop)
    }

    fn covers(&self, index: usize, point: Point) -> bool {
        let piece = &self.pieces[index];
        let is_pad = piece.role != Role::Conductor;
        is_pad
            && piece
                .copper
                .shapes()
                .iter()
                .any(|shape| shape.distance(point) <= 0.0)
    }

    /// Whether some copper is on a net by name.
    fn has_names(&self) -> bool {
        let mut nets = self.owners.iter().filter_map(|owner| owner.net);
        nets.any(|net| !self.nets.all()[net].name.is_empty())
    }

    /// Finds out whose all copper is.
    pub(super) fn resolve(
        &mut self,
        netlist: Option<Netlist>,
        budget: &mut Budget<'_>,
        notes: &mut Vec<String>,
    ) -> Result<(), OpenError> {
        if let Some(netlist) = netlist {
            self.take_netlist(netlist, budget, notes)?;
        }
        if !self.has_names() {
            return Err(OpenError::whole(
                "neither the Gerbers (X2 attributes `%TO.N`) nor a netlist (IPC-D-356) name nets: export with netlist attributes, or add an IPC-D-356 netlist to the zip",
            ));
        }
        joined::spread(self, budget, notes)
    }

    /// Takes in what a netlist says about points, where attributes say nothing.
    fn take_netlist(
        &mut self,
        mut netlist: Netlist,
        budget: &mut Budget<'_>,
        notes: &mut Vec<String>,
    ) -> Result<(), OpenError> {
        self.align(&mut netlist, budget, notes)?;
        let joints = Places::new(
            self.joints
                .iter()
                .enumerate()
                .map(|(index, joint)| (joint.hole.at, index)),
            &budget.stop(),
        );
        let flashes = self.flashes(&budget.stop());
        let bottom = self
            .pieces
            .iter()
            .map(|piece| piece.layer)
            .max()
            .unwrap_or_default();
        let mut missed = 0;
        for point in &netlist.points {
            let net = self.nets.named(&point.net);
            let owner = Owner {
                net: Some(net),
                pin: pin_of(point),
            };
            budget.spend(joints.crowd(point.at, NEAR_MM) + flashes.crowd(point.at, NEAR_MM))?;
            let near: Vec<usize> = joints
                .within(point.at, NEAR_MM)
                .map(|(_, index)| *index)
                .collect();
            // A pad on one side may have a via in it.
            let is_at_hole = point.side == Side::Both || point.drill > 0.0;
            if let Some(index) = near.first().filter(|_| is_at_hole) {
                let joint = &mut self.joints[*index];
                joint.is_via |= point.is_via;
                joint.owner.take(&owner);
                for pad in joint.pads.clone() {
                    self.owners[pad].take(&owner);
                }
                continue;
            }
            let pads = self.pads_of(point, &flashes, bottom, !near.is_empty());
            missed += usize::from(pads.is_empty());
            for pad in pads {
                self.owners[pad].take(&owner);
            }
        }
        if missed > 0 {
            notes.push(format!(
                "{missed} points of the netlist are on no pad of the Gerbers"
            ));
        }
        Ok(())
    }

    /// Moves a netlist that has another zero.
    fn align(
        &self,
        netlist: &mut Netlist,
        budget: &mut Budget<'_>,
        notes: &mut Vec<String>,
    ) -> Result<(), OpenError> {
        let points: Vec<Point> = netlist.points.iter().map(|point| point.at).collect();
        let middles: Vec<Point> = self.flash_middles();
        match fit(&points, &middles, budget)? {
            Fit::Moved(by) => {
                notes.push(format!(
                    "the netlist has another zero than the Gerbers; it was moved by {:.3} mm, {:.3} mm",
                    by.x,
                    0.0 - by.y
                ));
                netlist
                    .points
                    .iter_mut()
                    .for_each(|point| point.at = point.at + by);
            }
            Fit::Nowhere => notes.push(
                "the points of the netlist are on no pads of the Gerbers; are they of one board?"
                    .to_owned(),
            ),
            Fit::Same => {}
        }
        Ok(())
    }

    /// The flashes of a point that is no hole. Of those with a hole in them it is the largest: the ring of a via is smaller.
    fn pads_of(
        &self,
        point: &TestPoint,
        flashes: &Places<usize>,
        bottom: LayerId,
        has_hole: bool,
    ) -> Vec<usize> {
        let is_side = |index: &usize| match point.side {
            Side::Top => self.pieces[*index].layer == 0,
            Side::Other => self.pieces[*index].layer == bottom,
            Side::Both => true,
        };
        let near = flashes.within(point.at, NEAR_MM).map(|(_, index)| *index);
        let pads = near.filter(is_side);
        if !has_hole {
            return pads.collect();
        }
        let size = |index: &usize| bounds_of(&self.pieces[*index].copper.shapes()).area();
        pads.max_by(|a, b| size(a).total_cmp(&size(b)))
            .into_iter()
            .collect()
    }

    pub(super) fn flash_middles(&self) -> Vec<Point> {
        middles(&self.pieces)
    }
}

impl Owner {
    /// Takes what is not known yet from another.
    fn take(&mut self, other: &Self) {
        if self.net.is_none() {
            self.net = other.net;
        }
        if self.pin.is_none() {
            self.pin.clone_from(&other.pin);
        }
    }
}

fn pin_of(point: &TestPoint) -> Option<Pin> {
    (!point.part.is_empty()).then(|| Pin {
        part: point.part.clone(),
        number: point.pin.clone(),
        function: String::new(),
    })
}

/// The middles of all copper that was put down.
pub(super) fn middles(pieces: &[Piece]) -> Vec<Point> {
    let middle = |piece: &Piece| match &piece.copper {
        Copper::Flash { at, .. } => Some(*at),
        _ => None,
    };
    pieces.iter().filter_map(middle).collect()
}
