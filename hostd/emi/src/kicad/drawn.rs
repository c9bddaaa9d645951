//! Copper that is drawn: lines, arcs, curves, rectangles, circles and polygons, on copper layers or within pads. On the board they
//! have nets from KiCad 7 on.

use super::Reader;
use crate::board::{Fill, LayerId, NetId, Track};
use crate::geometry::{Point, Segment, Shape};
use crate::open::OpenError;
use crate::sexp::Expr;

/// A drawing with what it is drawn with.
pub(super) struct Drawn {
    points: Vec<Point>,
    /// Whether the last point is joined with the first.
    is_closed: bool,
    /// Whether what is within is copper, too.
    is_filled: bool,
    /// Of the pen.
    width: f64,
    /// Middle and radius, of a circle.
    circle: Option<(Point, f64)>,
}

impl Drawn {
    /// As copper about its own origin.
    pub(super) fn into_shapes(self) -> Vec<Shape> {
        let half = self.width / 2.0;
        if !self.is_filled && half <= 0.0 {
            return Vec::new();
        }
        match self.circle {
            Some((center, radius)) if self.is_filled || radius <= half => {
                return vec![Shape::disc(center, radius + half)];
            }
            Some((center, radius)) => {
                return vec![Shape::band(center, radius - half, radius + half)];
            }
            None => {}
        }
        if self.is_filled {
            return vec![Shape::polygon(self.points, half)];
        }
        let strokes = self.lines();
        strokes
            .map(|line| Shape::stroke(line.a, line.b, self.width))
            .collect()
    }

    /// The lines that the pen draws.
    fn lines(&self) -> impl Iterator<Item = Segment> + '_ {
        let lines = self
            .points
            .windows(2)
            .map(|pair| Segment::new(pair[0], pair[1]));
        let ends = self.points.last().zip(self.points.first());
        let last = ends.map(|(last, first)| Segment::new(*last, *first));
        lines.chain(last.filter(|line| self.is_closed && line.a != line.b))
    }
}

impl Reader<'_> {
    /// What a drawing is.
    pub(super) fn drawn(&mut self, item: Expr<'_>) -> Result<Drawn, OpenError> {
        let kind = item.head().get(3..).unwrap_or_default();
        let (mut points, mut is_closed) = self.path(item)?;
        let width = self.pen(item)?;
        let circle = match kind {
            "circle" => {
                let center = self.point(item, "center")?;
                Some((center, center.distance(self.point(item, "end")?)))
            }
            _ => None,
        };
        if circle.is_some() {
            // Its last point is its first.
            points.pop();
            is_closed = true;
        }
        let is_filled = is_closed && points.len() > 2 && is_filled(item, kind, width);
        Ok(Drawn {
            points,
            is_closed,
            is_filled,
            width,
            circle,
        })
    }

    /// Takes in a drawing on copper layers.
    pub(super) fn copper(
        &mut self,
        item: Expr<'_>,
        place: &dyn Fn(Point) -> Point,
    ) -> Result<(), OpenError> {
        let layers = self.layers_of(item);
        if layers.is_empty() {
            return Ok(());
        }
        let net = self.net(item)?;
        // The net without a name is the first.
        if net == NetId::default() {
            self.netless += 1;
            return Ok(());
        }
        let mut drawn = self.drawn(item)?;
        drawn
            .points
            .iter_mut()
            .for_each(|point| *point = place(*point));
        self.hatched += usize::from(drawn.is_filled && is_hatched(item));
        for layer in layers.layers() {
            self.on_layer(item, &drawn, layer, net)?;
        }
        Ok(())
    }

    fn on_layer(
        &mut self,
        item: Expr<'_>,
        drawn: &Drawn,
        layer: LayerId,
        net: NetId,
    ) -> Result<(), OpenError> {
        let source_line = self.lines.of(item);
        if drawn.is_filled {
            self.count(item, drawn.points.len())?;
            let shape = Shape::polygon(drawn.points.clone(), drawn.width / 2.0);
            self.board.fills.push(Fill {
                bounds: shape.bounds(),
                area: shape.area(),
                shape,
                layer,
                net,
                source_line,
            });
            return Ok(());
        }
        // A pen without width draws nothing.
        for line in drawn.lines().filter(|_| 0.0 < drawn.width) {
            self.count(item, 1)?;
            self.board.tracks.push(Track {
                line,
                width: drawn.width,
                layer,
                net,
                source_line,
            });
        }
        Ok(())
    }

    /// The width of the pen: up to KiCad 6, and within pads, it stands in the drawing itself.
    fn pen(&self, item: Expr<'_>) -> Result<f64, OpenError> {
        let of = item.find("stroke").unwrap_or(item);
        Ok(self.measure(of, "width")?.unwrap_or_default().max(0.0))
    }
}

/// Whether a closed drawing is filled. Where the file does not say, polygons are, and what a pen without width has drawn.
fn is_filled(item: Expr<'_>, kind: &str, width: f64) -> bool {
    match item.value("fill").as_deref() {
        Some("none" | "no") => false,
        Some(_) => true,
        None => kind == "poly" || (kind != "curve" && width <= 0.0),
    }
}

fn is_hatched(item: Expr<'_>) -> bool {
    let fill = item.value("fill");
    fill.is_some_and(|fill| fill.ends_with("hatch"))
}
