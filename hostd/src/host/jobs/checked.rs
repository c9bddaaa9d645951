//! What a pipeline comes to, in the words of the contract.

use dispatch::{Checked, CheckedRun, Doubt, Warning, Wish};

use crate::host::bindings::hostd::host::jobs as w;

pub(super) fn to_wit(checked: Checked) -> w::Checked {
    w::Checked {
        name: checked.name,
        runs: checked.runs.into_iter().map(run).collect(),
        secrets: checked.secrets,
        warnings: checked.warnings.into_iter().map(warning).collect(),
    }
}

fn run(checked: CheckedRun) -> w::CheckedRun {
    let CheckedRun { run, device } = checked;
    w::CheckedRun {
        id: run.id,
        is_bench: run.is_bench,
        needs: run.needs,
        targets: run.targets,
        device: device.map(|Wish { name, select }| w::Wish { name, select }),
    }
}

fn warning(warning: Warning) -> w::Warning {
    w::Warning {
        doubt: match warning.doubt {
            Doubt::NoIsolation => w::Doubt::NoIsolation,
            Doubt::NoMatchingDevice => w::Doubt::NoMatchingDevice,
            Doubt::NoDeviceNow => w::Doubt::NoDeviceNow,
        },
        run: warning.run,
        message: warning.message,
    }
}
