//! Regions: what is within contours (4.10). Each contour is an object of its own.

use super::plot::Plotter;
use super::{Form, Object};
use crate::geometry::Point;
use crate::open::OpenError;

/// A region that is being drawn.
#[derive(Default)]
pub(super) struct Region {
    /// The contour's points, y down.
    ring: Vec<Point>,
}

impl Plotter<'_> {
    pub(super) fn begin_region(&mut self, place: usize) -> Result<(), OpenError> {
        if self.region.is_some() {
            return Err(self.refuse(place, "a region begins within a region"));
        }
        self.region = Some(Region::default());
        Ok(())
    }

    pub(super) fn end_region(&mut self, place: usize) -> Result<(), OpenError> {
        if self.region.is_none() {
            return Err(self.refuse(place, "a region ends that did not begin"));
        }
        self.end_contour(place)?;
        self.region = None;
        Ok(())
    }

    /// Adds what leads from where it is to the last point.
    pub(super) fn side(&mut self, points: &[Point], place: usize) -> Result<(), OpenError> {
        let edges_max = self.limits.edges_max;
        let Some(region) = &mut self.region else {
            return Ok(());
        };
        let down = |p: &Point| Point::new(p.x, 0.0 - p.y);
        if region.ring.is_empty() {
            region.ring.extend(points.first().map(down));
        }
        region.ring.extend(points.iter().skip(1).map(down));
        if self.edges + region.ring.len() > edges_max {
            let message = format!("the layer's polygons have more than {edges_max} sides");
            return Err(self.refuse(place, message));
        }
        Ok(())
    }

    /// Ends a contour, if one was begun.
    pub(super) fn end_contour(&mut self, place: usize) -> Result<(), OpenError> {
        let Some(region) = &mut self.region else {
            return Ok(());
        };
        let mut ring = std::mem::take(&mut region.ring);
        ring.dedup();
        if ring.len() > 1 && ring.first() == ring.last() {
            ring.pop();
        }
        if ring.len() < 3 {
            return Ok(());
        }
        let object = Object {
            form: Form::Region { ring },
            is_clear: self.is_clear,
            role: self.attributes.role,
            label: self.attributes.label(),
        };
        self.push(object, place)
    }
}
