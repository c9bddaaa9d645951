//! A part of a plan: runs by name, with all that they need.

use std::collections::BTreeSet;

use pipeline::plan::{Plan, Role, Run};

/// Nothing has the name that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("find a build, bench or run named {name}; there are {known}")]
pub struct UnknownRun {
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: String,
}

/// Leaves of a plan the runs with one of these ids, or of a build or bench with one of them, and what those need.
///
/// # Errors
/// Nothing has one of the ids.
pub fn select(plan: &mut Plan, ids: &[String]) -> Result<(), UnknownRun> {
    let mut wanted = BTreeSet::new();
    for id in ids {
        let is_meant = |run: &&Run| run.id == *id || run.of == *id;
        let before = wanted.len();
        wanted.extend(plan.runs.iter().filter(is_meant).map(|run| run.id.clone()));
        if wanted.len() == before && !plan.runs.iter().any(|run| is_meant(&run)) {
            let known: Vec<&str> = plan.runs.iter().map(|run| run.id.as_str()).collect();
            return Err(UnknownRun {
                name: id.clone(),
                known: known.join(", "),
            });
        }
    }
    // Each run stands behind what it needs.
    for run in plan.runs.iter().rev() {
        if wanted.contains(&run.id) {
            wanted.extend(run.needs.iter().cloned());
            if let Role::Bench {
                build: Some(build), ..
            } = &run.role
            {
                wanted.insert(build.clone());
            }
        }
    }
    plan.runs.retain(|run| wanted.contains(&run.id));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_along() {
        let text = "version: 1\nbuilds:\n  - { id: lib, steps: [{ run: make }] }\n  - { id: fw, needs: [lib], steps: [{ run: make }], packs: [{ id: a }, { id: b }] }\n  - { id: docs, steps: [{ run: make }] }\n";
        let caps = pipeline::Caps::default();
        let whole = pipeline::expand(&pipeline::parse(text, &caps).unwrap(), &caps);
        let selected = |ids: &[&str]| {
            let mut plan = whole.clone();
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            select(&mut plan, &ids).map(|()| {
                let ids = plan.runs.into_iter().map(|run| run.id);
                ids.collect::<Vec<_>>().join(" ")
            })
        };
        assert_eq!(selected(&["fw.b"]).unwrap(), "lib fw.b");
        assert_eq!(selected(&["fw"]).unwrap(), "lib fw.a fw.b");
        assert_eq!(selected(&["docs", "lib"]).unwrap(), "lib docs");
        let unknown = selected(&["fw.c"]).unwrap_err();
        assert_eq!(unknown.known, "lib, docs, fw.a, fw.b");
    }
}
