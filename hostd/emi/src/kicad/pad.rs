//! Pads of all shapes. A pad's angle is absolute; its place turns with its footprint.

use super::{Reader, fields};
use crate::board::{Hole, Pad};
use crate::geometry::{Bounds, Point, Shape};
use crate::open::OpenError;
use crate::sexp::Expr;

/// How round a rectangle is whose file does not say: the radius as a part of the shorter side.
const ROUND_RECT_RATIO: f64 = 0.25;

impl Reader<'_> {
    pub(super) fn pad(
        &mut self,
        item: Expr<'_>,
        footprint: usize,
        place: &dyn Fn(Point) -> Point,
    ) -> Result<(), OpenError> {
        let hole = match item.word(2).unwrap_or_default() {
            "thru_hole" => Hole::Plated,
            "np_thru_hole" => Hole::Bare,
            _ => Hole::None,
        };
        let at = place(self.point(item, "at")?);
        let degrees = item
            .find("at")
            .map_or(Ok(0.0), |list| fields::angle(list, 3))?;
        let net = self.net(item)?;
        let layers = self.layers_of(item);
        let size = item
            .find("size")
            .map_or(Ok(Point::default()), |list| fields::xy(list, self.limits))?;
        let offset = item.find("drill").and_then(|drill| drill.find("offset"));
        let offset = offset.map_or(Ok(Point::default()), |list| fields::xy(list, self.limits))?;
        let half = Point::new(size.x.abs() / 2.0, size.y.abs() / 2.0);
        let mut shapes = self.pad_shapes(item, half)?;
        for shape in &mut shapes {
            for point in &mut shape.points {
                *point = at + (*point + offset).rotated(degrees);
            }
        }
        self.count(item, shapes.iter().map(|shape| shape.points.len()).sum())?;
        // A bare hole that is as large as its pad has no copper.
        let has_copper = hole != Hole::Bare
            || item.find("drill").is_none_or(|drill| {
                drill
                    .word(1)
                    .and_then(|word| word.parse::<f64>().ok())
                    .is_none_or(|d| d < size.x.min(size.y))
            });
        let layers = if has_copper {
            layers
        } else {
            crate::board::LayerSet::NONE
        };
        let bounds = Bounds::around(shapes.iter().map(Shape::bounds));
        self.board.pads.push(Pad {
            number: item
                .children()
                .nth(1)
                .and_then(Expr::text)
                .unwrap_or_default()
                .into_owned(),
            function: item.value("pinfunction").unwrap_or_default().into_owned(),
            at: at + offset.rotated(degrees),
            shapes,
            bounds,
            layers,
            hole,
            net,
            footprint,
            source_line: self.lines.of(item),
        });
        Ok(())
    }

    /// The copper about the pad's own origin, not turned.
    fn pad_shapes(&mut self, item: Expr<'_>, half: Point) -> Result<Vec<Shape>, OpenError> {
        Ok(match item.word(3).unwrap_or_default() {
            "circle" => vec![Shape::disc(Point::default(), half.x)],
            "oval" => vec![oval(half)],
            "roundrect" => {
                let ratio = self
                    .measure(item, "roundrect_rratio")?
                    .unwrap_or(ROUND_RECT_RATIO);
                let radius = (2.0 * half.x.min(half.y)) * ratio.clamp(0.0, 0.5);
                let inner = Point::new(half.x - radius, half.y - radius);
                let mut shape = Shape::polygon(self.corners(item, inner, half)?, radius);
                if inner.x.min(inner.y) <= 1e-9 {
                    shape = oval(half);
                }
                vec![shape]
            }
            "trapezoid" => vec![Shape::polygon(self.trapezoid(item, half)?, 0.0)],
            "custom" => self.custom(item, half)?,
            _ => vec![Shape::polygon(rectangle(half), 0.0)],
        })
    }

    /// The corners of a rectangle, some of which may be cut off.
    fn corners(&self, item: Expr<'_>, inner: Point, half: Point) -> Result<Vec<Point>, OpenError> {
        let Some(list) = item.find("chamfer") else {
            return Ok(rectangle(inner));
        };
        let ratio = self
            .measure(item, "chamfer_ratio")?
            .unwrap_or_default()
            .clamp(0.0, 0.5);
        let cut = (2.0 * half.x.min(half.y) * ratio).min(inner.x.min(inner.y) * 2.0);
        let is_cut = |name: &str| list.rest().any(|word| word.raw() == Some(name));
        let (x, y) = (inner.x, inner.y);
        let corners = [
            (
                "top_left",
                Point::new(-x, -y),
                Point::new(0.0, cut),
                Point::new(cut, 0.0),
            ),
            (
                "top_right",
                Point::new(x, -y),
                Point::new(-cut, 0.0),
                Point::new(0.0, cut),
            ),
            (
                "bottom_right",
                Point::new(x, y),
                Point::new(0.0, -cut),
                Point::new(-cut, 0.0),
            ),
            (
                "bottom_left",
                Point::new(-x, y),
                Point::new(cut, 0.0),
                Point::new(0.0, -cut),
            ),
        ];
        let mut points = Vec::with_capacity(8);
        for (name, corner, first, second) in corners {
            if is_cut(name) {
                points.extend([corner + first, corner + second]);
            } else {
                points.push(corner);
            }
        }
        Ok(points)
    }

    fn trapezoid(&self, item: Expr<'_>, half: Point) -> Result<Vec<Point>, OpenError> {
        // The file has the difference of the heights first.
        let delta = item.find("rect_delta");
        let delta = delta.map_or(Ok(Point::default()), |list| fields::xy(list, self.limits))?;
        let (dy, dx) = (delta.x / 2.0, delta.y / 2.0);
        Ok(vec![
            Point::new(-half.x - dy, half.y + dx),
            Point::new(half.x + dy, half.y - dx),
            Point::new(half.x - dy, -half.y + dx),
            Point::new(-half.x + dy, -half.y - dx),
        ])
    }

    /// The anchor and the drawings of a pad of any shape.
    fn custom(&mut self, item: Expr<'_>, half: Point) -> Result<Vec<Shape>, OpenError> {
        let anchor = item
            .find("options")
            .and_then(|options| options.value("anchor"));
        let mut shapes = match anchor.as_deref() {
            Some("rect") => vec![Shape::polygon(rectangle(half), 0.0)],
            _ => vec![Shape::disc(Point::default(), half.x)],
        };
        for drawing in item.find("primitives").into_iter().flat_map(Expr::rest) {
            let width = self.measure(drawing, "width")?.unwrap_or_default().max(0.0);
            if drawing.head() == "gr_circle" {
                let center = self.point(drawing, "center")?;
                let radius = center.distance(self.point(drawing, "end")?);
                shapes.push(Shape::disc(center, radius + width / 2.0));
                continue;
            }
            let (points, is_closed) = self.path(drawing)?;
            if is_closed && points.len() > 2 {
                shapes.push(Shape::polygon(points, width / 2.0));
            } else {
                let strokes = points
                    .windows(2)
                    .map(|pair| Shape::stroke(pair[0], pair[1], width));
                shapes.extend(strokes);
            }
        }
        Ok(shapes)
    }
}

fn rectangle(half: Point) -> Vec<Point> {
    let (x, y) = (half.x, half.y);
    vec![
        Point::new(-x, -y),
        Point::new(x, -y),
        Point::new(x, y),
        Point::new(-x, y),
    ]
}

fn oval(half: Point) -> Shape {
    let radius = half.x.min(half.y);
    let end = Point::new(half.x - radius, half.y - radius);
    if end.length() < 1e-9 {
        return Shape::disc(Point::default(), radius);
    }
    Shape {
        points: vec![end * -1.0, end],
        radius,
    }
}
