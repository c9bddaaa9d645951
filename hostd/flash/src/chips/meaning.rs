//! What the name of a target can mean, to be compared with other names: a device is wired to a `target/stm32f0x.cfg`,
//! and a file is for an stm32f030f4.

use std::collections::HashSet;

use super::Catalog;

/// The chips that a name can mean.
pub struct Meaning {
    asked: String,
    catalog: Catalog,
    chips: HashSet<String>,
}

impl Meaning {
    /// What a chip or an OpenOCD configuration can mean: nothing but itself if it is not known.
    #[must_use]
    pub fn of(asked: &str) -> Self {
        let catalog = Catalog::load();
        Self {
            asked: asked.trim().to_owned(),
            chips: names(&catalog, asked),
            catalog,
        }
    }

    /// Whether `other` can mean one of these chips, too.
    #[must_use]
    pub fn includes(&self, other: &str) -> bool {
        self.is(other) || !names(&self.catalog, other).is_disjoint(&self.chips)
    }

    /// Whether `other` is the same name.
    #[must_use]
    pub fn is(&self, other: &str) -> bool {
        self.asked.eq_ignore_ascii_case(other.trim())
    }
}

impl std::fmt::Debug for Meaning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Meaning").field(&self.asked).finish()
    }
}

fn names(catalog: &Catalog, asked: &str) -> HashSet<String> {
    let found = catalog.find(asked).unwrap_or_default().into_iter();
    found.map(|candidate| candidate.chip.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::Meaning;

    #[test]
    fn names_that_can_mean_the_same_chip_go_together() {
        for (wired, other, expected) in [
            ("STM32F030R8", "stm32f030r8", true),
            ("target/stm32f0x.cfg", "stm32f030f4", true),
            ("stm32f030f4", "stm32f0x", true),
            ("STM32F030R8", "stm32f030f4", false),
            ("target/stm32f0x.cfg", "stm32g431kb", false),
            ("a-chip-of-ours", "A-Chip-Of-Ours", true),
            ("a-chip-of-ours", "stm32f030f4", false),
        ] {
            let includes = Meaning::of(wired).includes(other);
            assert_eq!(includes, expected, "{wired} {other}");
        }
    }
}
