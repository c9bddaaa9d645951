//! A board's own frame: its corner is the origin, and places are told in whole nanometres, as files tell them. Whatever is
//! computed in it comes out the same to the last digit, wherever the board lies in its file.

use super::Board;
use crate::geometry::{Bounds, Point, Shape};

/// The nearest place in whole nanometres.
fn snapped(point: Point) -> Point {
    // Adding zero turns −0 into 0, which orders of points tell apart.
    let round = |mm: f64| (mm * 1e6).round() / 1e6 + 0.0;
    Point::new(round(point.x), round(point.y))
}

impl Board {
    /// Moves every place to the nearest one in whole nanometres.
    pub(super) fn snap(&mut self) {
        self.take_away(Point::default());
    }

    /// Moves the board so that the corner of its [`bounds`](Self::bounds) with the smallest coordinates is the origin, and adds
    /// where that was to [`origin`](Self::origin).
    pub(crate) fn enter_own_frame(&mut self) {
        let bounds = self.bounds();
        let corner = if bounds.is_empty() {
            Point::default()
        } else {
            snapped(bounds.min)
        };
        self.origin = self.origin + corner;
        self.take_away(corner);
    }

    /// Takes `corner` from every place, rounds, and measures anew what depends on places.
    fn take_away(&mut self, corner: Point) {
        let place = |point: &mut Point| *point = snapped(*point - corner);
        let lines = self.tracks.iter_mut().map(|track| &mut track.line);
        for line in lines.chain(&mut self.outline) {
            place(&mut line.a);
            place(&mut line.b);
        }
        self.vias.iter_mut().for_each(|via| place(&mut via.at));
        for fill in &mut self.fills {
            fill.shape.points.iter_mut().for_each(place);
            fill.bounds = fill.shape.bounds();
            fill.area = fill.shape.area();
        }
        for footprint in &mut self.footprints {
            place(&mut footprint.at);
            footprint.bounds = Bounds::EMPTY;
        }
        for pad in &mut self.pads {
            place(&mut pad.at);
            let others = pad.elsewhere.iter_mut().flat_map(|(_, shapes)| shapes);
            let shapes = pad.shapes.iter_mut().chain(others);
            shapes.flat_map(|shape| &mut shape.points).for_each(place);
            pad.bounds = Bounds::around(pad.all_shapes().map(Shape::bounds));
            if let Some(footprint) = self.footprints.get_mut(pad.footprint) {
                footprint.bounds = Bounds::around([footprint.bounds, pad.bounds]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Track;
    use crate::geometry::Segment;

    /// A track between places that are told in nanometres, moved by as many.
    fn board(nm: [i64; 4], by: (i64, i64)) -> Board {
        #[expect(clippy::cast_precision_loss, reason = "they are small")]
        let mm = |nm: i64| nm as f64 / 1e6;
        let [ax, ay, bx, by_] = nm;
        let (a, b) = (
            Point::new(mm(ax + by.0), mm(ay + by.1)),
            Point::new(mm(bx + by.0), mm(by_ + by.1)),
        );
        let track = Track {
            line: Segment::new(a, b),
            width: 0.2,
            layer: 0,
            net: 0,
            source_line: 0,
        };
        Board {
            tracks: vec![track],
            ..Board::default()
        }
    }

    #[test]
    fn wherever_a_board_lies_its_own_places_are_the_same_to_the_last_digit() {
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..2_000 {
            let nm = [(); 4].map(|()| random.i64(-90_000_000..90_000_000));
            let by = (
                random.i64(-2_000_000_000..2_000_000_000),
                random.i64(-1_000..1_000),
            );
            let (mut plain, mut moved) = (board(nm, (0, 0)), board(nm, by));
            plain.enter_own_frame();
            moved.enter_own_frame();
            assert_eq!(plain.tracks, moved.tracks, "{nm:?} {by:?}");
            let corner = plain.bounds().min;
            assert_eq!((corner.x, corner.y), (0.0, 0.0));
            let apart = moved.origin - plain.origin;
            #[expect(clippy::cast_precision_loss, reason = "they are small")]
            let wanted = Point::new(by.0 as f64 / 1e6, by.1 as f64 / 1e6);
            assert!(apart.distance(wanted) < 1e-9, "{apart:?} {wanted:?}");
            let entered = plain.clone();
            plain.enter_own_frame();
            assert_eq!(plain, entered, "it is there already");
        }
    }
}
