//! Macros: apertures put together from primitives with parameters (4.5).

use super::aperture::{rectangle, regular};
use super::expression::{Variables, evaluate};
use crate::geometry::{Point, Shape};

/// Most corners of an outline (4.5.1.6 allows 5000).
const OUTLINE_MAX: usize = 10_000;

/// Ends of an outline that are nearer than this are one, in mm: what rounding leaves.
const CLOSED_MM: f64 = 1e-6;

/// Most rings of a moiré.
const RINGS_MAX: f64 = 20.0;

/// The lines of a macro, with their places.
pub(super) type Lines<'a> = Vec<(usize, &'a [u8])>;

/// A part of a macro's copper, and whether it is dark.
pub(super) type Part = (Shape, bool);

/// The copper of a macro with parameters; sizes are in units of `unit` millimetres. A refusal has its place.
pub(super) fn parts(
    lines: &Lines<'_>,
    parameters: &[f64],
    unit: f64,
    depth: usize,
) -> Result<Vec<Part>, (usize, &'static str)> {
    let mut variables = Variables::new();
    variables.extend((1..).zip(parameters.iter().copied()));
    let mut parts = Vec::new();
    for (offset, line) in lines {
        let line = line.trim_ascii();
        let refuse = |message| (*offset, message);
        // A comment, as primitive 0.
        if line.first() == Some(&b'0') {
            continue;
        }
        if line.first() == Some(&b'$') {
            let (index, value) = assignment(line, &variables, depth)
                .ok_or_else(|| refuse("this is no assignment, such as `$3=$1x2`"))?;
            variables.insert(index, value);
            continue;
        }
        let numbers: Option<Vec<f64>> = line
            .split(|byte| *byte == b',')
            .map(|word| evaluate(word, &variables, depth))
            .collect();
        let numbers = numbers.ok_or_else(|| refuse("a macro has something that is no number"))?;
        let primitive = Primitive {
            numbers: &numbers,
            unit,
        };
        parts.extend(primitive.parts().map_err(refuse)?);
    }
    Ok(parts)
}

fn assignment(line: &[u8], variables: &Variables, depth: usize) -> Option<(u32, f64)> {
    let equals = line.iter().position(|byte| *byte == b'=')?;
    let index = std::str::from_utf8(&line[1..equals]).ok()?.trim();
    let value = evaluate(&line[equals + 1..], variables, depth)?;
    Some((index.parse().ok()?, value))
}

/// A primitive: its code and what follows.
struct Primitive<'a> {
    numbers: &'a [f64],
    unit: f64,
}

impl Primitive<'_> {
    fn parts(&self) -> Result<Vec<Part>, &'static str> {
        let is_dark = || Ok::<bool, &'static str>(self.at(1)? != 0.0);
        #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
        let code = self.numbers[0] as i64;
        Ok(match code {
            1 => {
                let disc = Shape::disc(self.point(3)?, self.length(2)? / 2.0);
                vec![(turned(disc, self.maybe(5)), is_dark()?)]
            }
            2 | 20 => {
                let line = line(self.point(3)?, self.point(5)?, self.length(2)?);
                vec![(turned(line, self.at(7)?), is_dark()?)]
            }
            21 => {
                let shape = rectangle(self.point(4)?, self.length(2)?, self.length(3)?);
                vec![(turned(shape, self.at(6)?), is_dark()?)]
            }
            22 => {
                let (width, height) = (self.length(2)?, self.length(3)?);
                let center = self.point(4)? + Point::new(width / 2.0, height / 2.0);
                let shape = rectangle(center, width, height);
                vec![(turned(shape, self.at(6)?), is_dark()?)]
            }
            4 => vec![(self.outline()?, is_dark()?)],
            5 => {
                let corners = (3..=12).find(|count| Ok(f64::from(*count)) == self.at(2));
                let corners = corners.ok_or("a polygon has 3 to 12 corners")?;
                let shape = regular(self.point(3)?, self.length(5)?, corners, 0.0);
                vec![(turned(shape, self.at(6)?), is_dark()?)]
            }
            6 => self.moire()?,
            7 => self.thermal()?,
            _ => return Err("a macro has a primitive that does not exist"),
        })
    }

    fn at(&self, index: usize) -> Result<f64, &'static str> {
        let number = self.numbers.get(index).copied();
        number.ok_or("a primitive of a macro has too few numbers")
    }

    fn maybe(&self, index: usize) -> f64 {
        self.numbers.get(index).copied().unwrap_or_default()
    }

    fn length(&self, index: usize) -> Result<f64, &'static str> {
        match self.at(index)? * self.unit {
            length if length >= 0.0 => Ok(length),
            _ => Err("a macro has a size below 0"),
        }
    }

    fn point(&self, index: usize) -> Result<Point, &'static str> {
        Ok(Point::new(self.at(index)?, self.at(index + 1)?) * self.unit)
    }

    fn outline(&self) -> Result<Shape, &'static str> {
        #[expect(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
        let count = self.at(2)?.max(0.0) as usize;
        if !(2..=OUTLINE_MAX).contains(&count) {
            return Err("an outline of a macro has 3 to 10000 corners");
        }
        // The count is that of the sides: the last point should repeat the first. Where it does not, the outline is closed by
        // one side more, as other readers do.
        let points: Result<Vec<Point>, _> =
            (0..=count).map(|index| self.point(3 + 2 * index)).collect();
        let mut points = points?;
        if points
            .first()
            .zip(points.last())
            .is_some_and(|(first, last)| first.distance(*last) <= CLOSED_MM)
        {
            points.pop();
        }
        let degrees = self.at(5 + 2 * count)?;
        Ok(turned(Shape::polygon(points, 0.0), degrees))
    }

    /// Rings and a cross.
    fn moire(&self) -> Result<Vec<Part>, &'static str> {
        let (center, turn) = (self.point(1)?, self.at(9)?);
        let (thickness, gap) = (self.length(4)?, self.length(5)?);
        let mut outer = self.length(3)? / 2.0;
        let mut parts = Vec::new();
        let mut left = self.at(6)?.min(RINGS_MAX);
        while left >= 1.0 && outer > 0.0 {
            let band = Shape::band(center, outer - thickness, outer);
            parts.push((turned(band, turn), true));
            outer -= thickness + gap;
            left -= 1.0;
        }
        let (width, length) = (self.length(7)?, self.length(8)?);
        for (x, y) in [(length, width), (width, length)] {
            parts.push((turned(rectangle(center, x, y), turn), true));
        }
        Ok(parts)
    }

    /// A ring with four gaps. Nothing else of a macro is taken away by the gaps.
    fn thermal(&self) -> Result<Vec<Part>, &'static str> {
        let (center, turn) = (self.point(1)?, self.at(6)?);
        let (outer, inner) = (self.length(3)? / 2.0, self.length(4)? / 2.0);
        let half = self.length(5)? / 2.0;
        if inner >= outer || half * std::f64::consts::SQRT_2 >= outer {
            return Ok(Vec::new());
        }
        let quarter = |index: u32| {
            let from = (half / outer).asin();
            let to = std::f64::consts::FRAC_PI_2 - from;
            let arc = |radius: f64, from: f64, to: f64| {
                (0..=16).map(move |i| {
                    let (sin, cos) = (from + (to - from) * f64::from(i) / 16.0).sin_cos();
                    Point::new(cos, sin) * radius
                })
            };
            let mut ring: Vec<Point> = arc(outer, from, to).collect();
            let bend = half / inner;
            if bend < std::f64::consts::FRAC_1_SQRT_2 {
                let (from, to) = (bend.asin(), std::f64::consts::FRAC_PI_2 - bend.asin());
                ring.extend(arc(inner, to, from));
            } else {
                ring.push(Point::new(half, half));
            }
            // `rotated` turns the other way where y is up; all four quarters are there all the same.
            let corners = ring
                .into_iter()
                .map(|p| center + p.rotated(90.0 * f64::from(index)));
            (turned(Shape::polygon(corners.collect(), 0.0), turn), true)
        };
        Ok((0..4).map(quarter).collect())
    }
}

/// A line with square ends that stop at its points.
fn line(a: Point, b: Point, width: f64) -> Shape {
    let length = a.distance(b);
    if length <= 0.0 {
        return Shape::polygon(Vec::new(), 0.0);
    }
    let along = (b - a) * (width / (2.0 * length));
    let across = Point::new(-along.y, along.x);
    Shape::polygon(vec![a - across, b - across, b + across, a + across], 0.0)
}

/// Turned about the origin, counter-clockwise where y is up.
fn turned(mut shape: Shape, degrees: f64) -> Shape {
    for point in &mut shape.points {
        *point = point.rotated(-degrees);
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(text: &str, parameters: &[f64]) -> f64 {
        let lines = text.split('*').map(|line| (0, line.as_bytes())).collect();
        let parts = parts(&lines, parameters, 1.0, 8).unwrap();
        let sign = |is_dark: bool| if is_dark { 1.0 } else { -1.0 };
        parts
            .iter()
            .map(|(shape, is_dark)| sign(*is_dark) * shape.area())
            .sum()
    }

    #[test]
    fn primitives_cover_the_area_that_they_should() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 0.02 * b, "{a} {b}");
        let pi = std::f64::consts::PI;
        near(area("1,1,2,3,4,0", &[]), pi);
        near(area("20,1,0.5,0,0,4,0,30", &[]), 2.0);
        near(area("21,1,$1,$2,0,0,45", &[3.0, 2.0]), 6.0);
        near(area("22,1,3,2,1,1,0", &[]), 6.0);
        near(area("4,1,4,0,0,2,0,2,2,0,2,0,0,0", &[]), 4.0);
        // Its ends differ.
        near(area("4,1,3,0,0,2,0,2,2,0,2,0", &[]), 4.0);
        near(area("5,1,4,0,0,2,0", &[]), 2.0);
        near(area("0 a comment*$2=$1x2*1,1,$2,0,0", &[1.0]), pi);
        near(area("21,1,4,4,0,0,0*21,0,2,2,0,0,0", &[]), 12.0);
        // A ring without four gaps of width 0.2.
        near(area("7,0,0,2,1,0.2,0", &[]), pi * 0.75 - 4.0 * 0.2 * 0.5);
        near(area("6,0,0,4,0.5,0.5,1,0.1,0,0", &[]), pi * (4.0 - 2.25));
    }

    #[test]
    fn refusals_have_the_place_of_the_line() {
        let refused =
            |text: &'static str| parts(&vec![(7, text.as_bytes())], &[], 1.0, 8).unwrap_err();
        assert_eq!(refused("1,1").0, 7);
        assert_eq!(
            refused("9,1").1,
            "a macro has a primitive that does not exist"
        );
        assert_eq!(refused("$1").1, "this is no assignment, such as `$3=$1x2`");
        assert_eq!(
            refused("1,1,a").1,
            "a macro has something that is no number"
        );
        assert!(refused("4,1,1e9,0,0").1.contains("no number"));
        assert!(refused("4,1,99999,0,0").1.contains("3 to 10000"));
    }
}
