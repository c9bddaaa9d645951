//! A grid of segments: which are near a point or a line. Cells are as small as leaves every segment in few of them, so that
//! size is bounded by the number of segments, whatever their lengths.

use crate::geometry::{Bounds, Point, Segment};
use crate::observer::{STOP_EVERY, Stop};

/// Smallest cells in mm.
const CELL_MM_MIN: f64 = 0.25;

/// Most cells.
const CELLS_MAX: f64 = 1_000_000.0;

/// In how many cells a segment is on average at most: long segments in few cells share each with too many others.
const CELLS_PER_SEGMENT: f64 = 64.0;

/// Most entries of cells, if that is more than a few for each segment.
const ENTRIES_MAX: f64 = 8_000_000.0;

/// Segments with their indices, by place.
pub(crate) struct SegmentGrid {
    segments: Vec<Segment>,
    origin: Point,
    cell: f64,
    columns: usize,
    rows: usize,
    /// Where the list of each cell begins in `entries`.
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl SegmentGrid {
    /// If `stop` says so, it is left empty.
    pub(crate) fn new(segments: Vec<Segment>, stop: Stop<'_>) -> Self {
        let bounds = Bounds::of(segments.iter().flat_map(|s| [s.a, s.b]));
        let (width, height) = if bounds.is_empty() {
            (0.0, 0.0)
        } else {
            (bounds.width(), bounds.height())
        };
        let length: f64 = segments.iter().map(Segment::length).sum();
        let room = 4.0 * segments.len() as f64 + 1024.0;
        let cells_max = room.min(CELLS_MAX);
        let entries = (CELLS_PER_SEGMENT * segments.len() as f64)
            .min(ENTRIES_MAX)
            .max(room);
        let cell = CELL_MM_MIN
            .max(length / entries)
            .max((width * height / cells_max).sqrt())
            .max(width.max(height) / cells_max);
        let mut grid = Self {
            segments,
            origin: if bounds.is_empty() {
                Point::default()
            } else {
                bounds.min
            },
            cell,
            columns: 0,
            rows: 0,
            starts: Vec::new(),
            entries: Vec::new(),
        };
        (grid.columns, grid.rows) = (whole(width / cell) + 1, whole(height / cell) + 1);
        if grid.fill(stop).is_none() {
            grid.segments.clear();
            (grid.columns, grid.rows) = (1, 1);
            (grid.starts, grid.entries) = (vec![0, 0], Vec::new());
        }
        grid
    }

    /// Lists the segments of each cell; `None` if it was stopped.
    fn fill(&mut self, stop: Stop<'_>) -> Option<()> {
        let mut counts = vec![0_u32; self.columns * self.rows + 1];
        for (index, segment) in self.segments.iter().enumerate() {
            go_on(index, stop)?;
            self.cells(segment, 0.0, |cell| counts[cell + 1] += 1);
        }
        for cell in 1..counts.len() {
            counts[cell] += counts[cell - 1];
        }
        let mut entries = vec![0; counts.last().copied().unwrap_or_default() as usize];
        let mut next = counts.clone();
        for (index, segment) in (0_u32..).zip(&self.segments) {
            go_on(index as usize, stop)?;
            self.cells(segment, 0.0, |cell| {
                entries[next[cell] as usize] = index;
                next[cell] += 1;
            });
        }
        (self.starts, self.entries) = (counts, entries);
        Some(())
    }

    /// Calls `visit` with every cell within `radius` of `segment`, and a few more.
    fn cells(&self, segment: &Segment, radius: f64, mut visit: impl FnMut(usize)) {
        let bounds = segment.bounds().grown(radius);
        let Some((first, last)) = self.rows_of(bounds.min.y, bounds.max.y) else {
            return;
        };
        let (dx, dy) = (segment.b.x - segment.a.x, segment.b.y - segment.a.y);
        for row in first..=last {
            let top = self.origin.y + row as f64 * self.cell - radius;
            let bottom = top + self.cell + 2.0 * radius;
            let (mut left, mut right) = (bounds.min.x, bounds.max.x);
            if dy.abs() > self.cell {
                // Only the part of the segment that is in this row.
                let at = |y: f64| segment.a.x + dx * ((y - segment.a.y) / dy).clamp(0.0, 1.0);
                let (x, y) = (at(top), at(bottom));
                (left, right) = (x.min(y) - radius, x.max(y) + radius);
            }
            // Rounding must not lose a cell.
            let slack = 1e-9 * (1.0 + left.abs().max(right.abs()));
            if let Some((from, to)) = self.columns_of(left - slack, right + slack) {
                (from..=to).for_each(|column| visit(row * self.columns + column));
            }
        }
    }

    fn rows_of(&self, low: f64, high: f64) -> Option<(usize, usize)> {
        clip(
            (low - self.origin.y) / self.cell,
            (high - self.origin.y) / self.cell,
            self.rows,
        )
    }

    fn columns_of(&self, low: f64, high: f64) -> Option<(usize, usize)> {
        clip(
            (low - self.origin.x) / self.cell,
            (high - self.origin.x) / self.cell,
            self.columns,
        )
    }

    fn entries_of(&self, cell: usize) -> &[u32] {
        &self.entries[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// The side of a cell in mm.
    pub(crate) fn cell(&self) -> f64 {
        self.cell
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub(crate) fn segment(&self, index: usize) -> &Segment {
        &self.segments[index]
    }

    /// The indices of all segments within `radius` of `segment`, and of a few more, in order, each once.
    pub(crate) fn along(&self, segment: &Segment, radius: f64, found: &mut Vec<usize>) {
        found.clear();
        self.cells(segment, radius, |cell| {
            found.extend(self.entries_of(cell).iter().map(|index| *index as usize));
        });
        found.sort_unstable();
        found.dedup();
    }

    /// The segments within `radius` of `point`, and a few more.
    pub(crate) fn around(&self, point: Point, radius: f64) -> Vec<Segment> {
        let mut found = Vec::new();
        self.along(&Segment::new(point, point), radius, &mut found);
        found
            .into_iter()
            .map(|index| self.segments[index])
            .collect()
    }

    /// Calls `visit` with the index of each segment within `radius` of `segment`, and of a few more, in no order, some of them more
    /// than once.
    pub(crate) fn each_near(&self, segment: &Segment, radius: f64, mut visit: impl FnMut(usize)) {
        self.cells(segment, radius, |cell| {
            let entries = self.entries_of(cell).iter();
            entries.for_each(|index| visit(*index as usize));
        });
    }

    /// How many segments [`along`](Self::along) looks at, or more.
    pub(crate) fn crowd(&self, segment: &Segment, radius: f64) -> usize {
        let mut count = 0;
        self.cells(segment, radius, |cell| {
            count += 1 + self.entries_of(cell).len()
        });
        count
    }

    /// The nearest segment within `within` of `point`, and its distance. Of segments equally near, the first.
    pub(crate) fn nearest(&self, point: Point, within: f64) -> Option<(usize, f64)> {
        if self.segments.is_empty() {
            return None;
        }
        let mut best: Option<(usize, f64)> = None;
        let mut radius = self.cell;
        loop {
            let reach = radius.min(within);
            let mut found = Vec::new();
            self.along(&Segment::new(point, point), reach, &mut found);
            for index in found {
                let distance = self.segments[index].distance(point);
                if distance <= reach && best.is_none_or(|(_, least)| distance < least) {
                    best = Some((index, distance));
                }
            }
            if best.is_some() || within <= radius {
                return best;
            }
            radius *= 2.0;
        }
    }
}

/// Asks now and then, at the first of several things.
fn go_on(index: usize, stop: Stop<'_>) -> Option<()> {
    let asks = index.is_multiple_of(STOP_EVERY);
    (!(asks && stop())).then_some(())
}

/// A number as an index; 0 if it is below.
#[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
pub(crate) fn whole(value: f64) -> usize {
    value.floor().max(0.0) as usize
}

/// How many whole steps fit into a length. One that lacks only what rounding may take is whole.
pub(crate) fn steps(length: f64, step: f64) -> usize {
    whole(length / step + 1e-6)
}

/// The indices below `count` from one number to another.
fn clip(low: f64, high: f64, count: usize) -> Option<(usize, usize)> {
    (0.0 <= high && low < count as f64).then(|| (whole(low), whole(high).min(count - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(random: &mut fastrand::Rng, size: f64) -> Point {
        Point::new(random.f64() * size, random.f64() * size)
    }

    #[test]
    fn what_is_near_is_what_measuring_everything_finds() {
        let mut random = fastrand::Rng::with_seed(7);
        for size in [3.0, 40.0, 900.0] {
            let mut segments = Vec::new();
            for _ in 0..200 {
                let a = point(&mut random, size);
                let b = if random.bool() {
                    point(&mut random, size)
                } else {
                    a + point(&mut random, 1.0)
                };
                segments.push(Segment::new(a, b));
            }
            let grid = SegmentGrid::new(segments.clone(), &|| false);
            let mut found = Vec::new();
            for _ in 0..300 {
                let line = Segment::new(point(&mut random, size), point(&mut random, size));
                let radius = random.f64() * size / 10.0;
                grid.along(&line, radius, &mut found);
                for (index, segment) in segments.iter().enumerate() {
                    assert!(segment.distance_to(&line) > radius || found.contains(&index));
                }
                let near = grid.nearest(line.a, f64::INFINITY).unwrap().1;
                let least = segments
                    .iter()
                    .map(|s| s.distance(line.a))
                    .fold(f64::INFINITY, f64::min);
                assert_eq!(near, least);
                assert_eq!(grid.nearest(line.a, radius).is_some(), least <= radius);
            }
        }
    }

    #[test]
    fn its_size_is_bounded_by_the_number_of_segments() {
        let long = |i: u32| {
            Segment::new(
                Point::new(-2000.0, f64::from(i)),
                Point::new(2000.0, 2000.0),
            )
        };
        let grid = SegmentGrid::new((0..1000).map(long).collect(), &|| false);
        assert!(grid.entries.len() < 300_000, "{}", grid.entries.len());
        assert!(
            SegmentGrid::new(Vec::new(), &|| false)
                .nearest(Point::default(), 1.0)
                .is_none()
        );
    }
}
