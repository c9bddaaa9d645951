//! The board's edge: sides in any order, joined to chains and rings.

use std::collections::HashMap;

use super::{Dot, POINTS_MAX};

/// Sides joined where they meet. A chain whose last point is its first is a ring. Of boards with absurdly many sides, the first
/// ones.
pub(super) fn chains(sides: impl Iterator<Item = (Dot, Dot)>) -> Vec<Vec<Dot>> {
    let sides: Vec<(Dot, Dot)> = sides.filter(|(a, b)| a != b).take(POINTS_MAX / 4).collect();
    let mut at: HashMap<Dot, Vec<usize>> = HashMap::new();
    for (index, (a, b)) in sides.iter().enumerate().rev() {
        at.entry(*a).or_default().push(index);
        at.entry(*b).or_default().push(index);
    }
    let mut is_used = vec![false; sides.len()];
    let mut chains = Vec::new();
    // Open chains from their ends first, then what is left, which are rings.
    let ends = |side: &(Dot, Dot)| [side.0, side.1].into_iter().find(|end| at[end].len() == 1);
    let starts: Vec<Dot> = sides
        .iter()
        .filter_map(ends)
        .chain(sides.iter().map(|side| side.0))
        .collect();
    let mut left = at.clone();
    for start in starts {
        let mut chain = vec![start];
        let mut end = start;
        while let Some(index) = left.get_mut(&end).and_then(Vec::pop) {
            if std::mem::replace(&mut is_used[index], true) {
                continue;
            }
            let (a, b) = sides[index];
            end = if a == end { b } else { a };
            chain.push(end);
        }
        if 1 < chain.len() {
            chains.push(chain);
        }
    }
    chains
}

#[cfg(test)]
mod tests {
    use super::chains;

    #[test]
    fn sides_in_any_order_are_rings_and_chains() {
        let square = [(0, 0), (9, 0), (9, 9), (0, 9)];
        let side = |index: usize| (square[index], square[(index + 1) % 4]);
        let turned = |(a, b)| (b, a);
        let sides = [
            side(2),
            turned(side(0)),
            ((20, 0), (30, 0)),
            side(3),
            side(1),
            ((40, 0), (30, 0)),
        ];
        let chains = chains(sides.into_iter());
        assert_eq!(chains.len(), 2);
        assert_eq!(chains[0].len(), 3, "{:?}", chains[0]);
        assert_eq!((chains[1].len(), chains[1].first()), (5, chains[1].last()));
    }
}
