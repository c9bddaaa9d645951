//! Heights and materials of the layers.

use super::LayerId;

/// Thicknesses and permittivities, from the top.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stackup {
    /// Thickness of each copper layer in mm.
    pub copper: Vec<f64>,
    /// What is below each copper layer but the last.
    pub gaps: Vec<Gap>,
    /// Whether the file has all of it; otherwise something was assumed.
    pub is_declared: bool,
}

/// The insulation between two copper layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// In mm.
    pub thickness: f64,
    /// Relative permittivity across it.
    pub epsilon_r: f64,
}

/// Solder mask.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mask {
    /// In mm.
    pub thickness: f64,
    /// Relative permittivity.
    pub epsilon_r: f64,
}

impl Stackup {
    /// Copper layers evenly spaced in a board of that thickness, of assumed materials.
    pub(crate) fn even(count: usize, thickness: f64) -> Self {
        let spaces = count.saturating_sub(1);
        let insulation = (thickness - ASSUMED_COPPER * count as f64).max(thickness / 2.0);
        let gap = Gap {
            thickness: insulation / spaces.max(1) as f64,
            epsilon_r: ASSUMED_EPSILON_R,
        };
        Self {
            copper: vec![ASSUMED_COPPER; count],
            gaps: vec![gap; spaces],
            is_declared: false,
        }
    }

    /// The insulation between two layers in mm, with the copper between them if they are no neighbours.
    pub fn distance(&self, a: LayerId, b: LayerId) -> f64 {
        let (low, high) = (a.min(b), a.max(b));
        let gaps: f64 = self
            .gaps
            .iter()
            .take(high)
            .skip(low)
            .map(|gap| gap.thickness)
            .sum();
        let copper: f64 = self.copper.iter().take(high).skip(low + 1).sum();
        gaps + copper
    }

    /// The permittivity between two layers: of sheets on top of each other.
    pub fn epsilon_between(&self, a: LayerId, b: LayerId) -> f64 {
        let (low, high) = (a.min(b), a.max(b));
        let sheets = self.gaps.iter().take(high).skip(low);
        let (thickness, per_epsilon) = sheets.fold((0.0, 0.0), |(t, s), gap| {
            (t + gap.thickness, s + gap.thickness / gap.epsilon_r)
        });
        if per_epsilon > 0.0 {
            thickness / per_epsilon
        } else {
            self.epsilon()
        }
    }

    /// The permittivity of the insulation as a whole, weighed by thickness.
    pub fn epsilon(&self) -> f64 {
        let thickness: f64 = self.gaps.iter().map(|gap| gap.thickness).sum();
        let weighed: f64 = self
            .gaps
            .iter()
            .map(|gap| gap.thickness * gap.epsilon_r)
            .sum();
        if thickness > 0.0 {
            weighed / thickness
        } else {
            ASSUMED_EPSILON_R
        }
    }

    /// From the outside of the first copper layer to the outside of the last, in mm.
    pub fn thickness(&self) -> f64 {
        self.copper.iter().sum::<f64>() + self.gaps.iter().map(|gap| gap.thickness).sum::<f64>()
    }
}

/// Of FR-4 at some hundred MHz, where the file has nothing else.
pub(crate) const ASSUMED_EPSILON_R: f64 = 4.3;

/// Of solder mask, where the file has nothing else.
pub(crate) const ASSUMED_MASK_EPSILON_R: f64 = 3.3;

/// Of a board whose file does not say, in mm.
pub(crate) const ASSUMED_THICKNESS: f64 = 1.6;

/// Of copper whose file does not say, in mm: one ounce a square foot.
pub(crate) const ASSUMED_COPPER: f64 = 0.035;
