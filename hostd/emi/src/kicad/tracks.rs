//! Tracks, arcs and vias.

use super::{Reader, fields};
use crate::board::{LayerSet, Track, Via};
use crate::geometry::Segment;
use crate::open::OpenError;
use crate::sexp::Expr;

impl Reader<'_> {
    pub(super) fn track(&mut self, item: Expr<'_>) -> Result<(), OpenError> {
        let net = self.net(item)?;
        let Some(layer) = self.layer(item) else {
            return Ok(());
        };
        let width = self.measure(item, "width")?.unwrap_or_default().max(0.0);
        let points = if item.head() == "arc" {
            fields::arc(item, self.limits)?
        } else {
            vec![self.point(item, "start")?, self.point(item, "end")?]
        };
        let source_line = self.lines.of(item);
        for pair in points.windows(2) {
            self.count(item, 1)?;
            let line = Segment::new(pair[0], pair[1]);
            self.board.tracks.push(Track {
                line,
                width,
                layer,
                net,
                source_line,
            });
        }
        Ok(())
    }

    pub(super) fn via(&mut self, item: Expr<'_>) -> Result<(), OpenError> {
        let net = self.net(item)?;
        self.count(item, 0)?;
        let named = self.layers_of(item);
        let span = match (named.top(), named.bottom()) {
            (Some(top), Some(bottom)) if top != bottom => LayerSet::span(top, bottom),
            _ => self.board.all_layers(),
        };
        let mut size = self.measure(item, "size")?.unwrap_or_default().max(0.0);
        // Of a via with several sizes, from KiCad 9 on, the largest.
        let stack = item.find("padstack").into_iter();
        for of in stack.flat_map(|stack| stack.all("layer")) {
            size = size.max(self.measure(of, "size")?.unwrap_or_default());
        }
        let drill = self.measure(item, "drill")?.unwrap_or(size / 2.0).max(0.0);
        let at = self.point(item, "at")?;
        self.board.vias.push(Via {
            at,
            size,
            drill,
            span,
            net,
            source_line: self.lines.of(item),
        });
        Ok(())
    }
}
