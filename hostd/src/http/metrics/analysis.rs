//! Analyses of boards: how many there are, how long they wait, and how they end.

use analysis::Figures;

use super::{head, line, put};

/// Its part of the page.
#[must_use]
pub fn render(figures: &Figures) -> String {
    let mut page = String::new();
    for (name, help, value) in [
        (
            "hostd_emi_projects",
            "Projects of boards of all organisations, as of the last minute.",
            figures.projects,
        ),
        (
            "hostd_emi_boards",
            "Boards of all organisations, as of the last minute.",
            figures.boards,
        ),
        (
            "hostd_emi_bytes",
            "Size of boards and results, as of the last minute.",
            figures.bytes,
        ),
        ("hostd_emi_runs_waiting", "Runs that wait.", figures.waiting),
        (
            "hostd_emi_runs_running",
            "Runs that are under way, each in a process of its own.",
            figures.running,
        ),
    ] {
        head(&mut page, name, "gauge", help);
        put(&mut page, format_args!("{name} {value}\n"));
    }
    let name = "hostd_emi_wait_seconds";
    head(
        &mut page,
        name,
        "summary",
        "Time that runs waited to begin.",
    );
    let waited_s = std::time::Duration::from_millis(figures.wait_ms).as_secs_f64();
    let count = figures.waits;
    put(
        &mut page,
        format_args!("{name}_sum {waited_s}\n{name}_count {count}\n"),
    );
    let name = "hostd_emi_runs_total";
    head(&mut page, name, "counter", "Runs that have ended, by how.");
    for ((kind, status), count) in &figures.ended {
        let labels = format!("kind=\"{kind}\",status=\"{status}\"");
        line(&mut page, name, &labels, *count);
    }
    let name = "hostd_emi_refused_total";
    head(
        &mut page,
        name,
        "counter",
        "Requests that were refused, by why.",
    );
    for (reason, count) in &figures.refused {
        line(&mut page, name, &format!("reason=\"{reason}\""), *count);
    }
    page
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn names_and_labels() {
        let page = render(&Figures {
            boards: 3,
            waiting: 2,
            waits: 4,
            wait_ms: 2_500,
            ended: BTreeMap::from([(("ingest", "timed_out"), 1)]),
            refused: BTreeMap::from([("quota", 7)]),
            ..Figures::default()
        });
        for expected in [
            "hostd_emi_boards 3",
            "hostd_emi_runs_waiting 2",
            "hostd_emi_wait_seconds_sum 2.5",
            "hostd_emi_wait_seconds_count 4",
            "hostd_emi_runs_total{kind=\"ingest\",status=\"timed_out\"} 1",
            "hostd_emi_refused_total{reason=\"quota\"} 7",
        ] {
            assert!(page.lines().any(|l| l == expected), "{expected}\n{page}");
        }
    }
}
