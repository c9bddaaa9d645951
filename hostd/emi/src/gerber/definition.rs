//! Definitions of apertures: standard ones and those of macros (4.3 to 4.5).

use super::aperture::{self, Aperture, Copper};
use super::format::{Digits, decimal};
use super::macros;
use super::plot::Plotter;
use crate::geometry::{Point, Shape};
use crate::open::OpenError;

/// Most numbers of an aperture.
const NUMBERS_MAX: usize = 200;

impl<'a> Plotter<'a> {
    /// `%ADD10C,0.5*%`
    pub(super) fn define(&mut self, rest: &'a [u8], place: usize) -> Result<(), OpenError> {
        let number = rest
            .strip_prefix(b"D")
            .and_then(|text| Digits::read(text, 0));
        let Some((digits, end)) = number else {
            return Err(self.refuse(place, "an aperture needs a number, such as `%ADD10C,0.5*%`"));
        };
        let tool = u32::try_from(digits.value).ok().filter(|tool| *tool >= 10);
        let tool = tool.ok_or_else(|| self.refuse(place, "apertures are numbered from 10"))?;
        let rest = &rest[1 + end..];
        let comma = rest.iter().position(|byte| *byte == b',');
        let (name, numbers) = match comma {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, &rest[..0]),
        };
        let words = numbers.split(|byte| matches!(byte, b'X' | b'x'));
        let words = words.filter(|word| !word.trim_ascii().is_empty());
        let numbers: Option<Vec<f64>> = words.take(NUMBERS_MAX).map(decimal).collect();
        let numbers = numbers
            .ok_or_else(|| self.refuse(place, "an aperture has a size that is no number"))?;
        let unit = self.unit(place)?;
        let copper = match self.macros.get(name.trim_ascii()) {
            Some(lines) => {
                let parts = macros::parts(lines, &numbers, unit, self.limits.nesting_max);
                let parts = parts.map_err(|(place, message)| self.refuse(place, message))?;
                // A large macro that is used again and again is work, too.
                self.edges += parts
                    .iter()
                    .map(|(shape, _)| shape.points.len())
                    .sum::<usize>();
                self.check_edges(place)?;
                aperture::of_parts(parts)
            }
            None => {
                let mut sizes: Vec<f64> = numbers.iter().map(|number| number * unit).collect();
                if let (b"P", Some(size)) = (name, sizes.first().copied()) {
                    // A count and an angle have no unit.
                    sizes.clone_from(&numbers);
                    sizes[0] = size;
                }
                aperture::standard(name, &sizes).map_err(|message| self.refuse(place, message))?
            }
        };
        self.check(&copper, place)?;
        let role = self.attributes.role;
        self.apertures.insert(tool, Aperture { copper, role });
        Ok(())
    }

    fn check(&self, copper: &Copper, place: usize) -> Result<(), OpenError> {
        let Copper::Shapes { shapes, .. } = copper else {
            return Ok(());
        };
        let most = self.limits.coordinate_mm_max;
        let is_within = |p: &Point| p.x.abs() <= most && p.y.abs() <= most;
        let is_good = |shape: &Shape| shape.radius <= most && shape.points.iter().all(is_within);
        if shapes.iter().all(is_good) {
            Ok(())
        } else {
            Err(self.refuse(place, format!("an aperture is larger than {most} mm")))
        }
    }
}
