//! Things by height: which of them a horizontal line may meet. Each is in few rows, whatever its height.

use super::grid::whole;
use crate::observer::{STOP_EVERY, Stop};

/// Smallest height of a row in mm.
const HEIGHT_MM_MIN: f64 = 0.5;

/// Things that reach from one height to another.
pub(crate) struct Rows<T> {
    top: f64,
    height: f64,
    rows: Vec<Vec<T>>,
}

impl<T: Copy> Rows<T> {
    /// Things with their lowest and highest coordinate. If `stop` says so, it is left half empty.
    pub(crate) fn new(things: &[(f64, f64, T)], stop: Stop<'_>) -> Self {
        let top = things
            .iter()
            .map(|(low, ..)| *low)
            .fold(f64::INFINITY, f64::min);
        let bottom = things
            .iter()
            .map(|(_, high, _)| *high)
            .fold(f64::NEG_INFINITY, f64::max);
        if bottom < top {
            return Self {
                top: 0.0,
                height: 1.0,
                rows: Vec::new(),
            };
        }
        let sum: f64 = things.iter().map(|(low, high, _)| high - low).sum();
        let room = 2.0 * things.len() as f64 + 64.0;
        let height = HEIGHT_MM_MIN.max(sum / room).max((bottom - top) / room);
        let mut rows = vec![Vec::new(); whole((bottom - top) / height) + 1];
        let last = rows.len() - 1;
        for (index, (low, high, thing)) in things.iter().enumerate() {
            if index.is_multiple_of(STOP_EVERY) && stop() {
                break;
            }
            let row = |y: f64| whole((y - top) / height).min(last);
            rows[row(*low)..=row(*high)]
                .iter_mut()
                .for_each(|row| row.push(*thing));
        }
        Self { top, height, rows }
    }

    /// What may be at a height.
    pub(crate) fn at(&self, y: f64) -> &[T] {
        if y < self.top {
            return &[];
        }
        self.rows
            .get(whole((y - self.top) / self.height))
            .map_or(&[], Vec::as_slice)
    }

    /// What may be between two heights, some of it more than once.
    pub(crate) fn between(&self, low: f64, high: f64) -> impl Iterator<Item = T> + '_ {
        let row = |y: f64| whole((y - self.top) / self.height);
        let to = if high < self.top {
            0
        } else {
            (row(high) + 1).min(self.rows.len())
        };
        self.rows[row(low).min(to)..to].iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_a_height_is_found_and_size_is_bounded() {
        let mut random = fastrand::Rng::with_seed(9);
        let things: Vec<(f64, f64, usize)> = (0..500)
            .map(|index| {
                let low = random.f64() * 300.0 - 150.0;
                (
                    low,
                    low + random.f64() * if index % 9 == 0 { 200.0 } else { 2.0 },
                    index,
                )
            })
            .collect();
        let rows = Rows::new(&things, &|| false);
        for _ in 0..500 {
            let y = random.f64() * 400.0 - 200.0;
            let z = y + random.f64() * 30.0;
            let between: Vec<usize> = rows.between(y, z).collect();
            for (low, high, index) in &things {
                assert!(!(*low <= y && y <= *high) || rows.at(y).contains(index));
                assert!(*high < y || z < *low || between.contains(index));
            }
        }
        let tall: Vec<(f64, f64, usize)> =
            (0..1000).map(|index| (-2000.0, 2000.0, index)).collect();
        assert!(
            Rows::new(&tall, &|| false)
                .rows
                .iter()
                .map(Vec::len)
                .sum::<usize>()
                <= 4000
        );
        assert!(Rows::<u8>::new(&[], &|| false).at(0.0).is_empty());
        assert_eq!(
            Rows::<u8>::new(&[], &|| false).between(-1.0, 1.0).count(),
            0
        );
    }
}
