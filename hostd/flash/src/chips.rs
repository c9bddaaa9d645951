//! Which chips there are, and which of them a name can mean.

mod meaning;
mod openocd;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use probe_rs::config::{Chip, ChipFamily, MemoryRegion, Registry};
use probe_rs::{CoreType, Target};

pub use meaning::Meaning;

use crate::error::FlashError;

/// How many names an error suggests.
const NEAREST_MAX: usize = 3;
const AMBIGUOUS_MAX: usize = 8;
/// Names less similar than this are not worth suggesting.
const LIKENESS_MIN: f64 = 0.75;

/// Added to the manufacturer's time for a page or a sector. That time is the chip's alone; polling for the
/// end goes through a pod and maybe a network, and a busy machine polls late.
const ANSWER_SLACK_MS: u32 = 5_000;

/// All chips that can be programmed.
pub(crate) struct Catalog {
    registry: Registry,
}

/// A chip that a name can mean.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) family: &'a ChipFamily,
    pub(crate) chip: &'a Chip,
}

impl<'a> Candidate<'a> {
    /// The chip's own name and those of its packages.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        let packages = self.chip.package_variants().map(String::as_str);
        packages.chain([self.chip.name.as_str()])
    }

    pub(crate) fn core_type(&self) -> Option<CoreType> {
        self.chip.cores.first().map(|core| core.core_type)
    }

    /// Size of the boot flash, in bytes.
    pub(crate) fn flash_bytes(&self) -> u64 {
        boot_flash(&self.chip.memory_map).map_or(0, |range| range.end - range.start)
    }

    fn ram_bytes(&self) -> u64 {
        let regions = self.chip.memory_map.iter();
        let ranges = regions.filter_map(MemoryRegion::as_ram_region);
        ranges.map(|ram| ram.range.end - ram.range.start).sum()
    }
}

/// The contiguous flash from which programs start.
pub(crate) fn boot_flash(map: &[MemoryRegion]) -> Option<std::ops::Range<u64>> {
    let mut flashes: Vec<_> = map
        .iter()
        .filter_map(MemoryRegion::as_nvm_region)
        .filter(|flash| !flash.is_alias)
        .collect();
    flashes.sort_by_key(|flash| (!flash.is_boot_memory(), flash.range.start));
    let first = flashes.first()?.range.clone();
    flashes.sort_by_key(|flash| flash.range.start);
    Some(flashes.iter().fold(first, |whole, flash| {
        if flash.range.start == whole.end {
            whole.start..flash.range.end
        } else {
            whole
        }
    }))
}

/// Whether `name` is the beginning of `pattern`, the name of a chip in which a lower-case x stands
/// for anything.
fn begins(pattern: &str, name: &str) -> bool {
    let mut letters = pattern.bytes();
    name.bytes().all(|wanted| {
        let letter = letters.next();
        letter.is_some_and(|letter| letter == b'x' || letter.eq_ignore_ascii_case(&wanted))
    })
}

impl Catalog {
    pub(crate) fn load() -> Self {
        let registry = Registry::from_builtin_families();
        Self { registry }
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn families(&self) -> &[ChipFamily] {
        self.registry.families()
    }

    /// Everything that the library needs to program a chip.
    pub(crate) fn target(&self, candidate: Candidate<'_>) -> Result<Target, FlashError> {
        let chip = candidate.chip;
        let name = chip.package_variants().next().unwrap_or(&chip.name);
        let target = self.registry.get_target_by_name(name);
        let mut target = target.map_err(|error| FlashError::Attach {
            chip: chip.name.clone(),
            source: error.into(),
        })?;
        target.name.clone_from(&chip.name);
        for algorithm in &mut target.flash_algorithms {
            let times = &mut algorithm.flash_properties;
            for time_ms in [
                &mut times.program_page_timeout,
                &mut times.erase_sector_timeout,
            ] {
                *time_ms = time_ms.saturating_add(ANSWER_SLACK_MS);
            }
        }
        Ok(target)
    }

    /// What a name can mean: at least one chip.
    ///
    /// # Errors
    /// [`FlashError::UnsupportedChip`].
    pub(crate) fn find(&self, asked: &str) -> Result<Vec<Candidate<'_>>, FlashError> {
        let asked = asked.trim();
        // A whole name takes precedence over a configuration, and a configuration over the beginnings of
        // names.
        let mut candidates = self.named(asked, |name| name.len() == asked.len());
        if let (true, Some(families)) = (candidates.is_empty(), openocd::families(asked)) {
            candidates = self.all_of(families);
        }
        if candidates.is_empty() {
            candidates = self.named(asked, |_| true);
        }
        if candidates.is_empty() {
            let chips = self.chips().map(|candidate| candidate.chip.name.as_str());
            let nearest = nearest(asked, chips);
            let asked = asked.to_owned();
            return Err(FlashError::UnsupportedChip { asked, nearest });
        }
        Ok(candidates)
    }

    fn chips(&self) -> impl Iterator<Item = Candidate<'_>> {
        let families = self.registry.families().iter();
        let chips = families.flat_map(|family| {
            family
                .variants
                .iter()
                .map(move |chip| Candidate { family, chip })
        });
        // Chips without flash are placeholders for any manufacturer's cores; families other than
        // these have no SWD.
        chips.filter(|candidate| {
            candidate.core_type().is_some_and(|core| core.is_cortex_m())
                && boot_flash(&candidate.chip.memory_map).is_some()
        })
    }

    fn all_of(&self, families: &[&str]) -> Vec<Candidate<'_>> {
        let is_one = |candidate: &Candidate<'_>| families.contains(&candidate.family.name.as_str());
        self.chips().filter(is_one).collect()
    }

    /// Chips with a suitable name that begins with `asked`.
    fn named(&self, asked: &str, is_suitable: impl Fn(&str) -> bool) -> Vec<Candidate<'_>> {
        let is_one = |candidate: &Candidate<'_>| {
            let mut names = candidate.names();
            names.any(|name| is_suitable(name) && begins(name, asked))
        };
        match asked {
            "" => Vec::new(),
            _ => self.chips().filter(is_one).collect(),
        }
    }
}

/// The names that are most similar, best first.
fn nearest<'n>(asked: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let wanted = openocd::plain(asked).to_ascii_lowercase();
    let likeness = |name: &str| strsim::jaro_winkler(&wanted, &name.to_ascii_lowercase());
    let ranked = names.map(|name| (likeness(name), name));
    let mut ranked: Vec<(f64, &str)> = ranked
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    let names = ranked.into_iter().take(NEAREST_MAX);
    names.map(|(_, name)| name.to_owned()).collect()
}

/// The names of all chips and of their packages. The catalog itself is large and takes long to read, so that it is not kept.
struct Names {
    chips: Vec<String>,
    packages: Vec<String>,
}

impl Names {
    fn load() -> Self {
        let catalog = Catalog::load();
        let chips = catalog.chips();
        let packages = chips.flat_map(|chip| chip.chip.package_variants());
        Self {
            packages: packages.cloned().collect(),
            chips: catalog.chips().map(|chip| chip.chip.name.clone()).collect(),
        }
    }

    fn has(&self, asked: &str) -> bool {
        let mut names = self.chips.iter().chain(&self.packages);
        !asked.is_empty()
            && (openocd::families(asked).is_some() || names.any(|name| begins(name, asked)))
    }
}

/// The one chip that is meant, among those that the target can be. `is_known` says that the target has
/// revealed more than the type of its core.
///
/// # Errors
/// [`FlashError::AmbiguousChip`] if they differ and nothing tells which one it is.
pub(crate) fn choose<'a>(
    asked: &str,
    mut admitted: Vec<Candidate<'a>>,
    flash_bytes: Option<u64>,
    is_known: bool,
) -> Result<Candidate<'a>, FlashError> {
    if let Some(bytes) = flash_bytes
        && admitted.iter().any(|chip| chip.flash_bytes() == bytes)
    {
        admitted.retain(|chip| chip.flash_bytes() == bytes);
    }
    // The remaining chips differ only in what flashing does not touch; all of them have at least the
    // least memory.
    admitted.sort_by_key(Candidate::ram_bytes);
    match admitted.first() {
        Some(first) if is_known || admitted.len() == 1 => Ok(*first),
        _ => Err(FlashError::AmbiguousChip {
            asked: asked.to_owned(),
            names: admitted
                .iter()
                .take(AMBIGUOUS_MAX)
                .map(|candidate| candidate.chip.name.clone())
                .collect(),
        }),
    }
}

/// Why a name means no chip that can be programmed, in a sentence with the most similar names; none if it means one.
/// It costs milliseconds at most, but for the first time.
#[must_use]
pub fn chip_refusal(asked: &str) -> Option<String> {
    static NAMES: LazyLock<Names> = LazyLock::new(Names::load);
    let asked = asked.trim();
    if NAMES.has(asked) {
        return None;
    }
    let nearest = nearest(asked, NAMES.chips.iter().map(String::as_str));
    let asked = asked.to_owned();
    Some(FlashError::UnsupportedChip { asked, nearest }.to_string())
}

/// Checks that a name means a chip that can be programmed, before anything is touched.
///
/// # Errors
/// [`FlashError::UnsupportedChip`], with the most similar names.
pub fn check_chip(asked: &str) -> Result<(), FlashError> {
    Catalog::load().find(asked).map(drop)
}
