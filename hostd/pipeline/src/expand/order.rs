//! Builds and benches in an order in which each stands behind what it needs.

use std::collections::BTreeSet;

use crate::definition::{Bench, Build, Definition};
use crate::scalars::Id;

/// A build or bench with its place in its list.
#[derive(Clone, Copy)]
pub(super) enum Part<'d> {
    Build(usize, &'d Build),
    Bench(usize, &'d Bench),
}

impl<'d> Part<'d> {
    fn id(self) -> &'d str {
        match self {
            Self::Build(_, build) => &build.id,
            Self::Bench(_, bench) => &bench.id,
        }
    }

    fn needs(self) -> impl Iterator<Item = &'d Id> {
        let (needs, source) = match self {
            Self::Build(_, build) => (&build.needs, None),
            Self::Bench(_, bench) => (&bench.needs, bench.for_each.as_ref()),
        };
        needs.iter().chain(source)
    }
}

/// As they are written as far as that can be. Those in a circle, which has been told, come last.
pub(super) fn parts(definition: &Definition) -> Vec<Part<'_>> {
    let builds = definition.builds.iter().enumerate();
    let builds = builds.map(|(index, build)| Part::Build(index, build));
    let benches = definition.benches.iter().enumerate();
    let benches = benches.map(|(index, bench)| Part::Bench(index, bench));
    let mut left: Vec<Part<'_>> = builds.chain(benches).collect();
    let known: BTreeSet<&str> = left.iter().map(|part| part.id()).collect();
    let mut ready = BTreeSet::new();
    let mut done = Vec::with_capacity(left.len());
    loop {
        let (met, waiting): (Vec<Part<'_>>, Vec<_>) = left.into_iter().partition(|part| {
            let is_met = |need: &Id| ready.contains(&**need) || !known.contains(&**need);
            part.needs().all(is_met)
        });
        if met.is_empty() {
            done.extend(waiting);
            return done;
        }
        ready.extend(met.iter().map(|part| part.id()));
        done.extend(met);
        left = waiting;
    }
}
