//! Footprints: where they are, what they are called, and their pads.

use super::{Reader, fields};
use crate::board::{Footprint, Side};
use crate::geometry::Point;
use crate::open::OpenError;
use crate::sexp::Expr;

impl Reader<'_> {
    pub(super) fn footprint(&mut self, item: Expr<'_>) -> Result<(), OpenError> {
        self.count(item, 0)?;
        let at = self.point(item, "at")?;
        let degrees = item
            .find("at")
            .map_or(Ok(0.0), |list| fields::angle(list, 3))?;
        let side = match item.value("layer").and_then(|name| self.layers.id(&name)) {
            Some(layer) if layer > 0 => Side::Bottom,
            _ => Side::Top,
        };
        let index = self.board.footprints.len();
        self.board.footprints.push(Footprint {
            reference: named(item, "Reference", "reference"),
            value: named(item, "Value", "value"),
            library: item
                .children()
                .nth(1)
                .and_then(Expr::text)
                .unwrap_or_default()
                .into_owned(),
            is_left_out: is_left_out(item),
            side,
            at,
            ..Footprint::default()
        });
        let place = |point: Point| at + point.rotated(degrees);
        for child in item.rest() {
            match child.head() {
                "pad" => self.pad(child, index, &place)?,
                // Its places are those of the board, as they are of every filled zone.
                "zone" => self.zone(child)?,
                "fp_line" | "fp_rect" | "fp_arc" | "fp_circle" | "fp_poly" | "fp_curve" => {
                    self.drawing(child, &place)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether it says that it is not populated: an attribute from KiCad 7 on.
fn is_left_out(item: Expr<'_>) -> bool {
    let attributes = item.find("attr").into_iter().flat_map(Expr::rest);
    attributes.into_iter().any(|word| word.raw() == Some("dnp"))
}

/// A text of a footprint: a property from KiCad 8, a drawn text before.
fn named(item: Expr<'_>, property: &str, text: &str) -> String {
    let second = |list: Expr<'_>| {
        list.children()
            .nth(2)
            .and_then(Expr::text)
            .unwrap_or_default()
            .into_owned()
    };
    let of_property = item
        .all("property")
        .find(|list| list.word(1) == Some(property));
    let of_text = || item.all("fp_text").find(|list| list.word(1) == Some(text));
    of_property.or_else(of_text).map(second).unwrap_or_default()
}
