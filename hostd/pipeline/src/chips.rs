//! Which chips a pipeline flashes, and where: whether they are known, only somebody who flashes can tell.

use std::collections::{BTreeMap, BTreeSet};

use crate::expand::{self, Whole};
use crate::path::Path;
use crate::plan::{Action, Flash, Role};
use crate::problem::{Code, Finding, Report};
use crate::{Pipeline, yaml};

impl Pipeline {
    /// Every `flash` whose chip `why` has a reason against: a sentence. `text` is what the pipeline was read from. A chip that
    /// nothing flashes may have any name.
    ///
    /// # Errors
    /// There are such places.
    pub fn check_chips(
        &self,
        text: &str,
        why: impl Fn(&str) -> Option<String>,
    ) -> Result<(), Box<Report>> {
        let mut findings = Vec::new();
        let mut asked = BTreeMap::new();
        for (path, is_own, chip) in self.chips() {
            let known = asked.entry(chip);
            let sentence = known.or_insert_with_key(|chip| why(chip)).clone();
            let Some(sentence) = sentence else {
                continue;
            };
            findings.push(match is_own {
                true => Finding::new(path.key("target"), Code::UnknownChip, sentence),
                false => {
                    let message = format!(
                        "{sentence}; it comes from the `targets` of the artifact's pack: correct them, or give the step a `target`"
                    );
                    Finding::new(path, Code::UnknownChip, message)
                }
            });
        }
        if findings.is_empty() {
            return Ok(());
        }
        // It was read before, so there is a document.
        let root = yaml::read(text).ok();
        Err(Box::new(Report::new(text, root.as_ref(), &findings)))
    }

    /// Actions that flash, whether they name a chip themselves, and which it is: each once, however many runs have it.
    fn chips(&self) -> Vec<(Path, bool, String)> {
        let benches = self.definition.benches.iter().enumerate();
        let lists = benches.flat_map(|(at, bench)| {
            let path = Path::default().key("benches").index(at);
            [
                (path.key("steps"), &bench.steps[..]),
                (path.key("always"), &bench.always[..]),
            ]
        });
        let steps = lists.flat_map(|(path, steps)| {
            let steps = steps.iter().enumerate();
            steps.filter_map(move |(at, step)| Some((path.index(at), step.flash.as_ref()?)))
        });
        let flashes: Vec<_> = steps
            .map(|(path, flash)| (path.to_string(), path, flash.target.is_some()))
            .collect();
        let mut found = BTreeSet::new();
        expand::runs(&self.definition, Whole::All, &mut |run| {
            let always = match &run.role {
                Role::Bench { always, .. } => &always[..],
                Role::Build { .. } => &[],
            };
            for step in run.steps.iter().chain(always) {
                let Action::Flash(Flash {
                    target: Some(chip), ..
                }) = &step.action
                else {
                    continue;
                };
                if let Some(place) = flashes.iter().position(|(at, ..)| *at == step.at) {
                    found.insert((place, chip.clone()));
                }
            }
        });
        let chips = found.into_iter().map(|(place, chip)| {
            let (_, path, is_own) = &flashes[place];
            (path.key("flash"), *is_own, chip)
        });
        chips.collect()
    }
}
