//! Numbers and points of items. All are finite and within bounds, or the file is refused.

use crate::geometry::{Point, arc_by_angle, arc_through};
use crate::limits::Limits;
use crate::open::{OpenError, Steps, shown};
use crate::refusal::Refusal;
use crate::sexp::Expr;

/// The number at `index` of a list.
pub(super) fn number(of: Expr<'_>, index: usize, limits: &Limits) -> Result<f64, Refusal> {
    let Some(child) = of.children().nth(index) else {
        return Err(of.refuse(format!("`{}` needs a number", of.head())));
    };
    let word = child.raw().unwrap_or_default();
    let value = word.parse::<f64>().ok().filter(|value| value.is_finite());
    match value {
        Some(value) if value.abs() <= limits.coordinate_mm_max => Ok(value),
        Some(_) => Err(child.refuse(format!(
            "`{}` is beyond {} mm",
            excerpt(word),
            limits.coordinate_mm_max
        ))),
        None => Err(child.refuse(format!("`{}` is no number", excerpt(word)))),
    }
}

/// The angle at `index` of a list, in degrees; 0 if it is not there.
pub(super) fn angle(of: Expr<'_>, index: usize) -> Result<f64, Refusal> {
    match of.children().nth(index) {
        Some(child) if !child.is_list() => {
            let word = child.raw().unwrap_or_default();
            match word.parse::<f64>() {
                Ok(value) if value.is_finite() && value.abs() <= 1e6 => Ok(value),
                // `(at 0 0 unlocked)`
                _ if word.starts_with(|c: char| c.is_ascii_alphabetic())
                    && word != "nan"
                    && word != "inf" =>
                {
                    Ok(0.0)
                }
                _ => Err(child.refuse(format!("`{}` is no angle", excerpt(word)))),
            }
        }
        _ => Ok(0.0),
    }
}

/// The point of the list within, whose first word is `head`.
pub(super) fn point(item: Expr<'_>, head: &str, limits: &Limits) -> Result<Point, Refusal> {
    match item.find(head) {
        Some(list) => xy(list, limits),
        None => Err(item.refuse(format!("`{}` needs `({head} X Y)`", item.head()))),
    }
}

/// The point that a list has after its first word.
pub(super) fn xy(list: Expr<'_>, limits: &Limits) -> Result<Point, Refusal> {
    Ok(Point::new(
        number(list, 1, limits)?,
        number(list, 2, limits)?,
    ))
}

/// The points of `(pts …)`, arcs among them.
pub(super) fn points(
    pts: Expr<'_>,
    limits: &Limits,
    watch: &mut Steps<'_>,
) -> Result<Vec<Point>, OpenError> {
    let mut points: Vec<Point> = Vec::new();
    for item in pts.rest() {
        watch.step()?;
        match item.head() {
            "xy" => points.push(xy(item, limits)?),
            "arc" => points.extend(arc(item, limits)?),
            _ => {}
        }
    }
    // A repeated point has no side, and a closed ring repeats its first one.
    points.dedup();
    if points.len() > 1 && points.first() == points.last() {
        points.pop();
    }
    Ok(points)
}

/// An arc: by three points, or up to KiCad 5 by centre, start and angle.
pub(super) fn arc(item: Expr<'_>, limits: &Limits) -> Result<Vec<Point>, Refusal> {
    let (start, end) = (point(item, "start", limits)?, point(item, "end", limits)?);
    if item.find("mid").is_some() {
        return Ok(arc_through(start, point(item, "mid", limits)?, end));
    }
    let degrees = item.find("angle").map_or(Ok(0.0), |list| angle(list, 1))?;
    Ok(arc_by_angle(start, end, degrees))
}

/// What of a stranger's word goes into a message.
fn excerpt(word: &str) -> String {
    let start: String = word.chars().take(24).collect();
    shown(&start)
}
