//! Dense linear equations: elimination with partial pivoting, for real and for complex numbers.

use std::ops::{Div, Mul, Sub, SubAssign};

use super::Complex;

/// Columns that are eliminated at once: their rows stay in the nearest cache, and each number below is loaded once for all.
const BLOCK: usize = 8;

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
    eliminate(matrix, count, 0..count, sides, stop) && {
        substitute(matrix, count, count, sides);
        true
    }
}

/// As [`solve`], and also solves the first `lead` equations alone, as if there were no other unknowns: these solutions are
/// returned, for little more than the time of one elimination. `None` where [`solve`] says `false`. No pivot is looked for
/// beyond the first `lead` rows for the first `lead` unknowns, so these should be solvable on their own.
pub(crate) fn solve_with_lead<N: Number>(
    matrix: &mut [N],
    count: usize,
    lead: usize,
    sides: &mut [Vec<N>],
    stop: &dyn Fn() -> bool,
) -> Option<Vec<Vec<N>>> {
    if !eliminate(matrix, count, 0..lead, sides, stop) {
        return None;
    }
    let mut of_lead: Vec<Vec<N>> = sides.iter().map(|side| side[..lead].to_vec()).collect();
    substitute(matrix, count, lead, &mut of_lead);
    if !eliminate(matrix, count, lead..count, sides, stop) {
        return None;
    }
    substitute(matrix, count, count, sides);
    Some(of_lead)
}

/// Eliminates the unknowns `range` from all rows below, with pivots from the rows `range`. The factors stay where the
/// eliminated numbers were.
fn eliminate<N: Number>(
    matrix: &mut [N],
    count: usize,
    range: std::ops::Range<usize>,
    sides: &mut [Vec<N>],
    stop: &dyn Fn() -> bool,
) -> bool {
    for start in range.clone().step_by(BLOCK) {
        let end = range.end.min(start + BLOCK);
        for column in start..end {
            if stop() {
                return false;
            }
            let Some(pivot) = pivot(matrix, count, column, range.end) else {
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
            eliminate_column(matrix, count, column, end, sides);
        }
        eliminate_block(matrix, count, start, end);
    }
    true
}

/// The row at or below the diagonal, and before `end`, with the largest number in `column`.
fn pivot<N: Number>(matrix: &[N], count: usize, column: usize, end: usize) -> Option<usize> {
    let mut best = (0.0, None);
    for row in column..end {
        let size = matrix[row * count + column].size();
        if size > best.0 && size.is_finite() {
            best = (size, Some(row));
        }
    }
    best.1
}

/// Subtracts the row `column` from those below as far as column `end`, and from the sides.
fn eliminate_column<N: Number>(
    matrix: &mut [N],
    count: usize,
    column: usize,
    end: usize,
    sides: &mut [Vec<N>],
) {
    let (above, below) = matrix.split_at_mut((column + 1) * count);
    let source = &above[column * count + column..column * count + end];
    for (index, row) in below.chunks_exact_mut(count).enumerate() {
        let row = &mut row[column..end];
        let factor = row[0] / source[0];
        row[0] = factor;
        for (target, value) in row[1..].iter_mut().zip(&source[1..]) {
            *target -= factor * *value;
        }
        for side in &mut *sides {
            let value = side[column];
            side[column + 1 + index] -= factor * value;
        }
    }
}

/// Does to the columns from `end` on what [`eliminate_column`] did before them for the rows from `start` to `end`.
fn eliminate_block<N: Number>(matrix: &mut [N], count: usize, start: usize, end: usize) {
    let (above, below) = matrix.split_at_mut(end * count);
    let block = &mut above[start * count..];
    for row in 1..end - start {
        let (sources, targets) = block.split_at_mut(row * count);
        let (factors, target) = targets[..count].split_at_mut(end);
        for (source, factor) in sources.chunks_exact(count).zip(&factors[start..]) {
            subtract(target, [&source[end..]], [*factor]);
        }
    }
    let sources: Vec<&[N]> = block.chunks_exact(count).map(|row| &row[end..]).collect();
    for row in below.chunks_exact_mut(count) {
        let (factors, target) = row.split_at_mut(end);
        let factors = &factors[start..];
        if let (&[s0, s1, s2, s3, s4, s5, s6, s7], &[f0, f1, f2, f3, f4, f5, f6, f7]) =
            (sources.as_slice(), factors)
        {
            subtract(
                target,
                [s0, s1, s2, s3, s4, s5, s6, s7],
                [f0, f1, f2, f3, f4, f5, f6, f7],
            );
        } else {
            for (source, factor) in sources.iter().zip(factors) {
                subtract(target, [source], [*factor]);
            }
        }
    }
}

/// Subtracts `sources`, times their `factors`, from `target`, all of one length.
fn subtract<N: Number, const COUNT: usize>(
    target: &mut [N],
    sources: [&[N]; COUNT],
    factors: [N; COUNT],
) {
    let length = target.len();
    let sources = sources.map(|source| &source[..length]);
    for (k, target) in target.iter_mut().enumerate() {
        let mut rest = *target;
        for (source, factor) in sources.iter().zip(factors) {
            rest -= factor * source[k];
        }
        *target = rest;
    }
}

/// Solves the first `count` equations, of rows `stride` apart, after their elimination.
fn substitute<N: Number>(matrix: &[N], stride: usize, count: usize, sides: &mut [Vec<N>]) {
    for side in sides {
        for row in (0..count).rev() {
            let coefficients = &matrix[row * stride..row * stride + count];
            let mut sum = side[row];
            for k in row + 1..count {
                sum -= coefficients[k] * side[k];
            }
            side[row] = sum / coefficients[row];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GO_ON: &dyn Fn() -> bool = &|| false;

    fn random(numbers: &mut fastrand::Rng, count: usize) -> Vec<f64> {
        (0..count).map(|_| numbers.f64() - 0.5).collect()
    }

    fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
        let row = |row: &[f64]| row.iter().zip(vector).map(|(a, x)| a * x).sum();
        matrix.chunks_exact(vector.len()).map(row).collect()
    }

    #[track_caller]
    fn same(found: &[f64], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn solutions_solve_their_equations_whatever_the_count() {
        let mut numbers = fastrand::Rng::with_seed(1);
        for count in 1..3 * BLOCK + 2 {
            let matrix = random(&mut numbers, count * count);
            let expected = [random(&mut numbers, count), random(&mut numbers, count)];
            let mut sides = expected.each_ref().map(|x| times(&matrix, x));
            assert!(solve(&mut matrix.clone(), count, &mut sides, GO_ON));
            same(&sides[0], &expected[0]);
            same(&sides[1], &expected[1]);
        }
    }

    #[test]
    fn a_lead_has_the_solutions_that_it_has_alone() {
        let mut numbers = fastrand::Rng::with_seed(2);
        for (count, lead) in [(40, 17), (33, 16), (20, 1), (20, 20), (9, 0)] {
            let matrix = random(&mut numbers, count * count);
            let side = random(&mut numbers, count);
            let mut whole = [side.clone()];
            assert!(solve(&mut matrix.clone(), count, &mut whole, GO_ON));
            let mut alone = [side[..lead].to_vec()];
            let rows = matrix.chunks_exact(count).take(lead);
            let mut part: Vec<f64> = rows.flat_map(|row| &row[..lead]).copied().collect();
            assert!(solve(&mut part, lead, &mut alone, GO_ON));
            let mut sides = [side];
            let found = solve_with_lead(&mut matrix.clone(), count, lead, &mut sides, GO_ON);
            same(&found.expect("it is not singular")[0], &alone[0]);
            same(&sides[0], &whole[0]);
        }
    }

    #[test]
    fn what_has_no_solution_is_found_out() {
        assert!(
            solve::<f64>(&mut [], 0, &mut [vec![]], GO_ON),
            "nothing to solve"
        );
        let mut twice = vec![1.0, 2.0, 2.0, 4.0];
        assert!(!solve(&mut twice, 2, &mut [vec![1.0, 1.0]], GO_ON));
        let mut endless = vec![f64::INFINITY];
        assert!(!solve(&mut endless, 1, &mut [vec![1.0]], GO_ON));
        assert!(!solve(&mut [1.0], 1, &mut [vec![1.0]], &|| true));
    }
}
