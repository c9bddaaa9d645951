//! How cases went, in the words of the contract.

use std::collections::BTreeMap;

use dispatch::{CaseHistory, History, Looked, Seen, Went};

use crate::host::bindings::hostd::host::jobs as w;
use base::clock;

/// `name` is what a device is called, if it is still there.
pub(super) fn to_wit(found: History, name: impl Fn(&str) -> Option<String>) -> w::History {
    let mut devices = BTreeMap::new();
    for seen in found.cases.iter().flat_map(|case| &case.seen) {
        if let Some(device) = &seen.device
            && !devices.contains_key(device)
        {
            devices.insert(device.clone(), name(device));
        }
    }
    let named = devices.into_iter();
    w::History {
        jobs: found.jobs.into_iter().map(job).collect(),
        cases: found.cases.into_iter().map(case).collect(),
        all: count(found.all),
        is_cut: found.is_cut,
        devices: named.filter_map(|(id, name)| Some((id, name?))).collect(),
    }
}

fn job(looked: Looked) -> w::CaseJob {
    w::CaseJob {
        id: looked.id,
        name: looked.name,
        ref_: looked.r#ref,
        commit: looked.commit,
        created_at: clock::text(looked.created_ms),
    }
}

fn case(case: CaseHistory) -> w::CaseHistory {
    w::CaseHistory {
        run: case.run,
        name: case.case,
        runs: case.seen.into_iter().map(run).collect(),
        flaky_rate: case.flaky_rate,
        first_bad: case.first_bad.map(count),
    }
}

fn run(seen: Seen) -> w::CaseRun {
    w::CaseRun {
        job: count(seen.job),
        device: seen.device,
        went: match seen.went {
            Went::Passed => w::Went::Passed,
            Went::Failed => w::Went::Failed,
            Went::Broken => w::Went::Broken,
            Went::Skipped => w::Went::Skipped,
        },
    }
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
