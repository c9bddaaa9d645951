//! Filled zones. The holes of a fill are bridged into its outline; up to KiCad 5, and later where the file does not say otherwise,
//! the outline is drawn with a pen.

use super::{FILLS_WITHOUT_PEN, Reader, fields};
use crate::board::Fill;
use crate::geometry::Shape;
use crate::open::OpenError;
use crate::sexp::Expr;

impl Reader<'_> {
    pub(super) fn zone(&mut self, item: Expr<'_>) -> Result<(), OpenError> {
        if item.find("keepout").is_some() {
            return Ok(());
        }
        let net = self.net(item)?;
        let pen = self
            .measure(item, "min_thickness")?
            .unwrap_or_default()
            .max(0.0);
        let is_drawn = match item.value("filled_areas_thickness").as_deref() {
            Some(word) => word != "no",
            None => self.board.version < FILLS_WITHOUT_PEN,
        };
        let radius = if is_drawn { pen / 2.0 } else { 0.0 };
        let of_zone = self.layers_of(item);
        // A zone may be filled and have nothing left.
        let is_filled = item
            .find("fill")
            .is_some_and(|fill| fill.rest().any(|word| word.raw() == Some("yes")));
        let mut has_copper = false;
        for piece in item.all("filled_polygon") {
            let layer = self.layer(piece).or_else(|| of_zone.top());
            let (Some(layer), Some(pts)) = (layer, piece.find("pts")) else {
                continue;
            };
            let points = fields::points(pts, self.limits, &mut self.watch)?;
            self.count(piece, points.len())?;
            if points.len() < 3 {
                continue;
            }
            has_copper = true;
            let shape = Shape::polygon(points, radius);
            let (bounds, area) = (shape.bounds(), shape.area());
            self.board.fills.push(Fill {
                shape,
                bounds,
                area,
                layer,
                net,
                source_line: self.lines.of(piece),
            });
        }
        if !is_filled && !has_copper && !of_zone.is_empty() {
            self.unfilled += 1;
            self.board.unfilled = self.board.unfilled.with(of_zone);
        }
        Ok(())
    }
}
