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
    /// Copper layers as makers usually build a board of that thickness, of assumed materials: between an even number of layers,
    /// sheets of prepreg and cores take turns, and outside is prepreg. Cores share what is left, and are no thinner than prepreg.
    pub(crate) fn usual(count: usize, thickness: f64) -> Self {
        let spaces = count.saturating_sub(1);
        let insulation = (thickness - ASSUMED_COPPER * count as f64).max(thickness / 2.0);
        let even = insulation / spaces.max(1) as f64;
        let (prepreg, core) = match count {
            4.. if count.is_multiple_of(2) => {
                let prepreg = if count == 4 {
                    PREPREG_OF_FOUR_MM
                } else {
                    PREPREG_MM
                };
                let prepreg = prepreg.min(even);
                let (sheets, cores) = (count / 2, count / 2 - 1);
                let core = (insulation - prepreg * sheets as f64) / cores as f64;
                (prepreg, core)
            }
            _ => (even, even),
        };
        let gap = |index: usize| Gap {
            thickness: if index.is_multiple_of(2) {
                prepreg
            } else {
                core
            },
            epsilon_r: ASSUMED_EPSILON_R,
        };
        Self {
            copper: vec![ASSUMED_COPPER; count],
            gaps: (0..spaces).map(gap).collect(),
            is_declared: false,
        }
    }

    /// What [`usual`](Self::usual) has assumed, for people: `4 copper layers of 0.035 mm, 0.2 / 1.06 / 0.2 mm apart (prepreg and
    /// cores in turn), εr 4.3`.
    pub(crate) fn as_assumed(&self) -> String {
        let count = self.copper.len();
        let layers = if count == 1 { "layer" } else { "layers" };
        let round = |mm: f64| (mm * 1e3).round() / 1e3;
        let gaps: Vec<String> = self
            .gaps
            .iter()
            .map(|gap| round(gap.thickness).to_string())
            .collect();
        let apart = match gaps.as_slice() {
            [] => String::new(),
            [one] => format!(", {one} mm apart"),
            _ if count.is_multiple_of(2) => {
                format!(
                    ", {} mm apart (prepreg and cores in turn)",
                    gaps.join(" / ")
                )
            }
            _ => format!(", {} mm apart", gaps.join(" / ")),
        };
        format!("{count} copper {layers} of {ASSUMED_COPPER} mm{apart}, εr {ASSUMED_EPSILON_R}")
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

/// Prepreg between the outer layers of a board of four whose file does not say, in mm: makers have 0.1 to 0.2.
const PREPREG_OF_FOUR_MM: f64 = 0.2;

/// Prepreg of a board of six layers and more whose file does not say, in mm.
const PREPREG_MM: f64 = 0.1;

/// Of copper whose file does not say, in mm: one ounce a square foot.
pub(crate) const ASSUMED_COPPER: f64 = 0.035;

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(count: usize, thickness: f64) -> Vec<f64> {
        let stackup = Stackup::usual(count, thickness);
        // Unless copper alone would take more than half of it, or there is nothing between it.
        let is_thick = 1 < count && 2.0 * ASSUMED_COPPER * count as f64 <= thickness;
        let off = (stackup.thickness() - thickness).abs();
        assert!(!is_thick || off < 1e-9, "{count} {thickness}");
        stackup.gaps.iter().map(|gap| gap.thickness).collect()
    }

    #[test]
    fn boards_that_do_not_say_are_built_as_usual() {
        let four = gaps(4, 1.6);
        assert_eq!((four[0], four[2]), (0.2, 0.2));
        assert!((1.0..=1.2).contains(&four[1]), "{four:?}");
        let six = gaps(6, 1.6);
        assert_eq!((six[0], six[2], six[4]), (0.1, 0.1, 0.1));
        assert!((0.5..0.6).contains(&six[1]) && six[1] == six[3], "{six:?}");
        let eight = gaps(8, 1.6);
        assert!(
            eight[0] == 0.1 && (0.25..0.35).contains(&eight[1]),
            "{eight:?}"
        );
        // Nothing is thinner than what makers have while there is room, and nothing is below 0.
        for count in 1..=32 {
            for thickness in [0.2, 0.4, 0.8, 1.6, 3.2] {
                let gaps = gaps(count, thickness);
                assert!(
                    gaps.iter().all(|gap| 0.0 < *gap),
                    "{count} {thickness} {gaps:?}"
                );
                assert!(
                    gaps.iter()
                        .skip(1)
                        .step_by(2)
                        .all(|core| gaps[0] <= core + 1e-9)
                );
            }
        }
        let text = Stackup::usual(4, 1.6).as_assumed();
        assert_eq!(
            text,
            "4 copper layers of 0.035 mm, 0.2 / 1.06 / 0.2 mm apart (prepreg and cores in turn), εr 4.3"
        );
    }
}
