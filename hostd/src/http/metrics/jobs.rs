//! Jobs: how many there are, how long they wait, and how their attempts end.

use std::collections::BTreeMap;

use dispatch::{Figures, WAIT_BUCKETS_S, Waits};

use super::{head, line, put};

/// Its part of the page.
#[must_use]
pub fn render(figures: &Figures) -> String {
    let mut page = String::new();
    let states = ("hostd_jobs", "gauge", "Unfinished jobs.");
    labelled(&mut page, states, "state", &figures.states);
    let name = "hostd_jobs_attempts_running";
    head(
        &mut page,
        name,
        "gauge",
        "Attempts that run; a build has a jail of its own.",
    );
    line(&mut page, name, "kind=\"bench\"", figures.running_benches);
    line(&mut page, name, "kind=\"build\"", figures.running_builds);
    render_waits(&mut page, &figures.waits);
    let ended = (
        "hostd_jobs_attempts_total",
        "counter",
        "Attempts that have ended, by how.",
    );
    labelled(&mut page, ended, "ending", &figures.attempts);
    let refused = (
        "hostd_jobs_refused_total",
        "counter",
        "Jobs that were not taken, by why.",
    );
    labelled(&mut page, refused, "reason", &figures.refusals);
    for (name, kind, help, value) in [
        (
            "hostd_jobs_runs_waiting",
            "gauge",
            "Runs of unfinished jobs that have no place yet.",
            figures.runs_waiting,
        ),
        (
            "hostd_jobs_log_bytes_total",
            "counter",
            "Output of attempts that have ended.",
            figures.log_bytes,
        ),
        (
            "hostd_jobs_bytes",
            "gauge",
            "Size of what jobs keep: sources, logs, artifacts.",
            figures.stored_bytes,
        ),
        (
            "hostd_jobs_memory_bytes",
            "gauge",
            "Memory that jobs take while they are read, wait and run.",
            figures.memory_bytes,
        ),
        (
            "hostd_jobs_devices_quarantined",
            "gauge",
            "Devices that no job gets until somebody admits them.",
            figures.quarantined,
        ),
        (
            "hostd_jobs_unreadable",
            "gauge",
            "Jobs whose records could not be read at the start.",
            figures.unreadable,
        ),
    ] {
        head(&mut page, name, kind, help);
        put(&mut page, format_args!("{name} {value}\n"));
    }
    page
}

fn labelled(
    page: &mut String,
    (name, kind, help): (&str, &str, &str),
    label: &str,
    values: &BTreeMap<&'static str, u64>,
) {
    head(page, name, kind, help);
    for (word, value) in values {
        line(page, name, &format!("{label}=\"{word}\""), *value);
    }
}

fn render_waits(page: &mut String, waits: &Waits) {
    let name = "hostd_jobs_wait_seconds";
    let help = "Time from submission to the first place.";
    head(page, name, "histogram", help);
    let bucket = format!("{name}_bucket");
    let mut total = 0;
    for (bound, count) in WAIT_BUCKETS_S.iter().zip(waits.within) {
        total += count;
        line(page, &bucket, &format!("le=\"{bound}\""), total);
    }
    line(page, &bucket, "le=\"+Inf\"", waits.count);
    let milliseconds = std::time::Duration::from_millis(waits.sum_ms);
    let (sum_s, count) = (milliseconds.as_secs_f64(), waits.count);
    put(
        page,
        format_args!("{name}_sum {sum_s}\n{name}_count {count}\n"),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_labels_and_a_cumulative_histogram() {
        let mut waits = Waits {
            count: 4,
            sum_ms: 2_500,
            ..Waits::default()
        };
        (waits.within[0], waits.within[1]) = (1, 2);
        let page = render(&Figures {
            states: BTreeMap::from([("queued", 3)]),
            attempts: BTreeMap::from([("infra.org_quota", 1)]),
            refusals: BTreeMap::from([("quota", 7)]),
            running_builds: 2,
            quarantined: 1,
            waits,
            ..Figures::default()
        });
        for expected in [
            "hostd_jobs{state=\"queued\"} 3",
            "hostd_jobs_attempts_running{kind=\"build\"} 2",
            "hostd_jobs_attempts_total{ending=\"infra.org_quota\"} 1",
            "hostd_jobs_refused_total{reason=\"quota\"} 7",
            "hostd_jobs_wait_seconds_bucket{le=\"1\"} 1",
            "hostd_jobs_wait_seconds_bucket{le=\"15\"} 3",
            "hostd_jobs_wait_seconds_bucket{le=\"+Inf\"} 4",
            "hostd_jobs_wait_seconds_sum 2.5",
            "hostd_jobs_wait_seconds_count 4",
            "hostd_jobs_devices_quarantined 1",
        ] {
            assert!(page.lines().any(|l| l == expected), "{expected}\n{page}");
        }
    }
}
