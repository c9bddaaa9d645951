//! Dense linear equations: elimination with partial pivoting, for real and for complex numbers.

use std::ops::{Div, Mul, Sub, SubAssign};

use super::Complex;

/// A number that equations can be solved in.
pub(crate) trait Number:
    Copy + Sub<Output = Self> + SubAssign + Mul<Output = Self> + Div<Output = Self>
{
    /// A measure of size by which pivots are chosen.
    fn size(self) -> f64;
}

impl Number for f64 {
    fn size(self) -> f64 {
        self.abs()
    }
}

impl Number for Complex {
    fn size(self) -> f64 {
        self.norm()
    }
}

/// Solves `matrix · x = sides` in place for several right-hand sides.
///
/// `matrix` has `count` rows of `count` numbers; each side has `count` numbers and becomes its solution. `false` if the
/// matrix is singular, holds a number that is not finite, or `stop` says so; it is asked for every column.
pub(crate) fn solve<N: Number>(
    matrix: &mut [N],
    count: usize,
    sides: &mut [Vec<N>],
    stop: &dyn Fn() -> bool,
) -> bool {
    for column in 0..count {
        if stop() {
            return false;
        }
        let Some(pivot) = pivot(matrix, count, column) else {
            return false;
        };
        if pivot != column {
            for k in 0..count {
                matrix.swap(pivot * count + k, column * count + k);
            }
            for side in &mut *sides {
                side.swap(pivot, column);
            }
        }
        eliminate(matrix, count, column, sides);
    }
    for side in sides {
        for row in (0..count).rev() {
            let coefficients = &matrix[row * count..(row + 1) * count];
            let mut sum = side[row];
            for k in row + 1..count {
                sum -= coefficients[k] * side[k];
            }
            side[row] = sum / coefficients[row];
        }
    }
    true
}

/// The row at or below the diagonal with the largest number in `column`.
fn pivot<N: Number>(matrix: &[N], count: usize, column: usize) -> Option<usize> {
    let mut best = (0.0, None);
    for row in column..count {
        let size = matrix[row * count + column].size();
        if size > best.0 && size.is_finite() {
            best = (size, Some(row));
        }
    }
    best.1
}

fn eliminate<N: Number>(matrix: &mut [N], count: usize, column: usize, sides: &mut [Vec<N>]) {
    let (above, below) = matrix.split_at_mut((column + 1) * count);
    let source = &above[column * count + column..];
    for (index, row) in below.chunks_exact_mut(count).enumerate() {
        let factor = row[column] / source[0];
        if factor.size() == 0.0 {
            continue;
        }
        for (target, value) in row[column + 1..].iter_mut().zip(&source[1..]) {
            *target -= factor * *value;
        }
        for side in &mut *sides {
            let value = side[column];
            side[column + 1 + index] -= factor * value;
        }
    }
}
