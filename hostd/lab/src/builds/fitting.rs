//! Which files are for the chip that a device is wired to.

use std::collections::HashMap;

use flash::Meaning;

/// Names that are looked up among all chips; more are compared as they are written.
const LOOKED_UP_MAX: usize = 256;

/// Compares what packs are for with what a device is wired to.
#[derive(Debug)]
pub(super) struct Fitting {
    /// None = nobody said.
    target: Option<Meaning>,
    known: HashMap<String, bool>,
}

impl Fitting {
    pub(super) fn new(target: Option<&str>) -> Self {
        Self {
            target: target.map(Meaning::of),
            known: HashMap::new(),
        }
    }

    /// Whether a pack for these chips is for the device. If one of the two says nothing, it may be.
    pub(super) fn fits(&mut self, targets: &[String]) -> bool {
        targets.is_empty() || targets.iter().any(|target| self.may_be(target))
    }

    fn may_be(&mut self, name: &str) -> bool {
        let Some(target) = &self.target else {
            return true;
        };
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        if self.known.len() >= LOOKED_UP_MAX {
            return target.is(name);
        }
        let includes = target.includes(name);
        self.known.insert(name.to_owned(), includes);
        includes
    }
}
