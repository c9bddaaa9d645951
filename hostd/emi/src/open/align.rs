//! Drill files and netlists may have another zero than the Gerbers. By how much they are apart is found by votes: the
//! distance that puts most of their points on copper that was put down.

use std::collections::HashMap;

use super::budget::Budget;
use super::error::OpenError;
use crate::copper::Places;
use crate::geometry::Point;

/// How near a point is to the middle of copper that it belongs to, in mm.
pub(super) const NEAR_MM: f64 = 0.02;

/// Points that vote.
const VOTERS_MAX: usize = 40;

/// The part of points that must fit.
const FIT_MIN: f64 = 0.5;

/// How points lie to copper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fit {
    /// As they are.
    Same,
    /// They fit when moved by that much.
    Moved(Point),
    /// They fit nowhere.
    Nowhere,
}

/// Finds how `points` fit `middles`, those of all copper that was put down.
pub(super) fn fit(
    points: &[Point],
    middles: &[Point],
    budget: &mut Budget<'_>,
) -> Result<Fit, OpenError> {
    if points.is_empty() {
        return Ok(Fit::Same);
    }
    let places = Places::new(middles.iter().map(|middle| (*middle, ())), &budget.stop());
    let fits = |by: Point, budget: &mut Budget<'_>| {
        let mut hits = 0;
        for point in points.iter().map(|point| *point + by) {
            budget.spend(places.crowd(point, NEAR_MM))?;
            hits += usize::from(places.within(point, NEAR_MM).next().is_some());
        }
        Ok::<f64, OpenError>(hits as f64 / points.len() as f64)
    };
    let same = fits(Point::default(), budget)?;
    if same >= FIT_MIN || middles.is_empty() {
        return Ok(Fit::Same);
    }
    if let Some(by) = vote(points, middles, budget)?
        && fits(by, budget)? >= FIT_MIN.max(2.0 * same)
    {
        return Ok(Fit::Moved(by));
    }
    Ok(if same > 0.0 { Fit::Same } else { Fit::Nowhere })
}

/// The most frequent way from a point to a middle.
fn vote(
    points: &[Point],
    middles: &[Point],
    budget: &mut Budget<'_>,
) -> Result<Option<Point>, OpenError> {
    // More than this is no board whose zero is worth the time.
    const MIDDLES_MAX: usize = 200_000;
    if middles.len() > MIDDLES_MAX {
        return Ok(None);
    }
    let step = points.len().div_ceil(VOTERS_MAX);
    let mut votes: HashMap<(i64, i64), (u32, Point)> = HashMap::new();
    for point in points.iter().step_by(step) {
        budget.spend(middles.len())?;
        for middle in middles {
            let by = *middle - *point;
            #[expect(clippy::cast_possible_truncation, reason = "coordinates are bounded")]
            let cell = |value: f64| (value / NEAR_MM).round() as i64;
            let vote = votes.entry((cell(by.x), cell(by.y))).or_insert((0, by));
            vote.0 += 1;
        }
        // Bounded: only ways that were seen before can win.
        if votes.len() > 2_000_000 {
            votes.retain(|_, (count, _)| *count > 1);
        }
    }
    let best = votes
        .into_iter()
        .max_by(|x, y| x.1.0.cmp(&y.1.0).then(y.0.cmp(&x.0)));
    let best = best.filter(|(_, (count, _))| *count > 1);
    Ok(best.map(|(_, (_, by))| by))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(points: &[Point], middles: &[Point]) -> Fit {
        let limits = crate::limits::Limits::default();
        super::fit(points, middles, &mut Budget::new(0, &limits, &())).unwrap()
    }

    #[test]
    fn points_are_moved_to_where_most_of_them_fit() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut point = || Point::new(random.f64() * 50.0, random.f64() * 50.0);
        let middles: Vec<Point> = (0..200).map(|_| point()).collect();
        let by = Point::new(-94.3, 119.3);
        let points: Vec<Point> = middles.iter().step_by(2).map(|p| *p - by).collect();
        assert_eq!(fit(&middles, &middles), Fit::Same);
        let Fit::Moved(found) = fit(&points, &middles) else {
            panic!("they fit");
        };
        assert!(found.distance(by) < NEAR_MM);
        let elsewhere: Vec<Point> = (0..30).map(|_| point()).collect();
        assert_eq!(fit(&elsewhere, &middles), Fit::Nowhere);
        assert_eq!(fit(&[], &middles), Fit::Same);
    }
}
