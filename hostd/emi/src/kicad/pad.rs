//! Pads of all shapes. A pad's angle is absolute; its place turns with its footprint.

use super::{Reader, fields};
use crate::board::{Forms, Hole, LayerSet, Pad, Pin};
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
        let size = self.pair(item, "size")?.unwrap_or_default();
        let offset = match item.find("drill") {
            Some(drill) => self.pair(drill, "offset")?.unwrap_or_default(),
            None => Point::default(),
        };
        let placing = Placing { at, degrees };
        let shape = item.word(3).unwrap_or_default();
        let shapes = placing.of(self.pad_shapes(item, shape, half(size))?, offset);
        let layers = if hole == Hole::Bare && is_covered(item, size) {
            LayerSet::NONE
        } else {
            self.layers_of(item)
        };
        let elsewhere = self.padstack(item, layers, size, placing)?;
        let bounds = Bounds::around(
            shapes
                .iter()
                .chain(elsewhere.iter().flat_map(|(_, shapes)| shapes))
                .map(Shape::bounds),
        );
        self.count(item, shapes.iter().map(|shape| shape.points.len()).sum())?;
        self.board.pads.push(Pad {
            number: item
                .children()
                .nth(1)
                .and_then(Expr::text)
                .unwrap_or_default()
                .into_owned(),
            function: item.value("pinfunction").unwrap_or_default().into_owned(),
            pin: Pin::of_kicad(&item.value("pintype").unwrap_or_default()),
            at: at + offset.rotated(degrees),
            shapes,
            elsewhere,
            bounds,
            layers,
            hole,
            net,
            footprint,
            source_line: self.lines.of(item),
        });
        Ok(())
    }

    /// The copper on layers where a pad has another form, as its stack says from KiCad 9 on: `Inner` is all layers within.
    fn padstack(
        &mut self,
        item: Expr<'_>,
        layers: LayerSet,
        size: Point,
        placing: Placing,
    ) -> Result<Forms, OpenError> {
        let mut forms = Forms::new();
        let mut named = LayerSet::NONE;
        for of in item
            .find("padstack")
            .into_iter()
            .flat_map(|stack| stack.all("layer"))
        {
            let set = match of.word(1) {
                Some("Inner") => self.board.all_layers().without(self.layers.outer()),
                name => name
                    .and_then(|name| self.layers.id(name))
                    .map_or(LayerSet::NONE, LayerSet::only),
            };
            let set = set.common(layers).without(named);
            if set.is_empty() {
                continue;
            }
            named = named.with(set);
            let size = self.pair(of, "size")?.unwrap_or(size);
            let offset = self.pair(of, "offset")?.unwrap_or_default();
            let shape = of.value("shape").unwrap_or_default();
            let shapes = placing.of(self.pad_shapes(of, &shape, half(size))?, offset);
            self.count(item, shapes.iter().map(|shape| shape.points.len()).sum())?;
            forms.push((set, shapes));
        }
        Ok(forms)
    }

    /// The copper about the pad's own origin, not turned.
    fn pad_shapes(
        &mut self,
        item: Expr<'_>,
        shape: &str,
        half: Point,
    ) -> Result<Vec<Shape>, OpenError> {
        Ok(match shape {
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
            shapes.extend(self.drawn(drawing)?.into_shapes());
        }
        Ok(shapes)
    }
}

/// Where a pad is, and how it is turned.
#[derive(Clone, Copy)]
struct Placing {
    at: Point,
    degrees: f64,
}

impl Placing {
    /// Copper about the pad's own origin, where it is on the board.
    fn of(self, mut shapes: Vec<Shape>, offset: Point) -> Vec<Shape> {
        let points = shapes.iter_mut().flat_map(|shape| &mut shape.points);
        points.for_each(|point| *point = self.at + (*point + offset).rotated(self.degrees));
        shapes
    }
}

/// Half of a size, both ways.
fn half(size: Point) -> Point {
    Point::new(size.x.abs() / 2.0, size.y.abs() / 2.0)
}

/// Whether the hole of a pad, `(drill D)` or `(drill oval W H)`, is as large as the pad, so that nothing is left of its copper.
fn is_covered(item: Expr<'_>, size: Point) -> bool {
    let Some(drill) = item.find("drill") else {
        return false;
    };
    let words = drill.rest().filter_map(Expr::raw);
    let mut sizes = words.filter_map(|word| word.parse::<f64>().ok());
    let Some(width) = sizes.next() else {
        return false;
    };
    let height = sizes.next().unwrap_or(width);
    size.x.abs() <= width && size.y.abs() <= height
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
