//! The board's outline: drawings on Edge.Cuts, also those of footprints.

use super::{Reader, fields};
use crate::geometry::{Point, Segment, bezier, circle};
use crate::open::OpenError;
use crate::sexp::Expr;

impl Reader<'_> {
    /// Takes in a drawing if it is part of the outline, or copper.
    pub(super) fn drawing(
        &mut self,
        item: Expr<'_>,
        place: &dyn Fn(Point) -> Point,
    ) -> Result<(), OpenError> {
        if item.value("layer").as_deref() != Some("Edge.Cuts") {
            return self.copper(item, place);
        }
        let (points, is_closed) = self.path(item)?;
        self.count(item, points.len())?;
        let points: Vec<Point> = points.into_iter().map(place).collect();
        let sides = points.windows(2).map(|pair| Segment::new(pair[0], pair[1]));
        self.board.outline.extend(sides);
        if let (true, Some(first), Some(last)) = (is_closed, points.first(), points.last()) {
            self.board.outline.push(Segment::new(*last, *first));
        }
        Ok(())
    }

    /// The points of a drawing, and whether the last is joined with the first.
    pub(super) fn path(&mut self, item: Expr<'_>) -> Result<(Vec<Point>, bool), OpenError> {
        let kind = item.head().get(3..).unwrap_or_default();
        Ok(match kind {
            "line" => (
                vec![self.point(item, "start")?, self.point(item, "end")?],
                false,
            ),
            "rect" => {
                let (a, b) = (self.point(item, "start")?, self.point(item, "end")?);
                (vec![a, Point::new(b.x, a.y), b, Point::new(a.x, b.y)], true)
            }
            "arc" => (fields::arc(item, self.limits)?, false),
            "circle" => {
                let center = self.point(item, "center")?;
                (
                    circle(center, center.distance(self.point(item, "end")?)),
                    false,
                )
            }
            "poly" => match item.find("pts") {
                Some(pts) => (fields::points(pts, self.limits, &mut self.watch)?, true),
                None => (Vec::new(), false),
            },
            "curve" => match item.find("pts") {
                Some(pts) => {
                    let points = fields::points(pts, self.limits, &mut self.watch)?;
                    match <[Point; 4]>::try_from(points) {
                        Ok(controls) => (bezier(controls), false),
                        Err(points) => (points, false),
                    }
                }
                None => (Vec::new(), false),
            },
            _ => (Vec::new(), false),
        })
    }
}
