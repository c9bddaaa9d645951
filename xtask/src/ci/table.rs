//! Seconds in columns, for people.

use std::collections::BTreeMap;
use std::time::Duration;

use super::figures::{Figures, Kind, UNKNOWN};
use crate::times::Spent;

/// The columns before the name.
const COLUMNS: [&str; 4] = ["wall", "kept", "processor", "kept"];

/// By which time things are sorted, the longest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Wall,
    Processor,
}

/// A table of at most `rows_max` things, beside what is kept of them.
pub(super) fn lines(
    kind: Kind,
    spent: &BTreeMap<String, Spent>,
    kept: &Figures,
    by: By,
    rows_max: usize,
) -> Vec<String> {
    let mut order: Vec<_> = spent.iter().collect();
    // Where processor time is not known, wall time is the next best.
    let time = |spent: &Spent| match by {
        By::Wall => spent.wall,
        By::Processor => spent.processor.unwrap_or(spent.wall),
    };
    order.sort_by(|(a, x), (b, y)| time(y).cmp(&time(x)).then(a.cmp(b)));
    order.truncate(rows_max);
    let mut rows = vec![(COLUMNS.map(str::to_owned), kind.word().to_owned())];
    for (name, spent) in order {
        let figure = kept.of(kind, name);
        let bound = figure.bound.as_deref();
        let bound = bound.map_or_else(String::new, |bound| format!(" (bound: {bound})"));
        let cells = [
            measured(Some(spent.wall)),
            seconds(figure.wall),
            measured(spent.processor),
            seconds(figure.processor),
        ];
        rows.push((cells, format!("{name}{bound}")));
    }
    aligned(&rows)
}

fn aligned(rows: &[([String; 4], String)]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|(cells, _)| cells[column].len()).max();
    let widths = [0, 1, 2, 3].map(|column| width(column).unwrap_or(0));
    let line = |(cells, name): &([String; 4], String)| {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            line.push_str(&format!("{cell:>width$}  "));
        }
        line + name
    };
    rows.iter().map(line).collect()
}

fn measured(time: Option<Duration>) -> String {
    seconds(time.map(|time| time.as_secs_f64()))
}

fn seconds(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| UNKNOWN.to_owned(), |seconds| format!("{seconds:.1}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(all: &[(&str, u64, Option<u64>)]) -> BTreeMap<String, Spent> {
        let one = |(name, wall, processor): &(&str, u64, Option<u64>)| {
            let spent = Spent {
                wall: Duration::from_millis(*wall),
                processor: processor.map(Duration::from_millis),
            };
            ((*name).to_owned(), spent)
        };
        all.iter().map(one).collect()
    }

    #[test]
    fn the_longest_comes_first_and_the_rest_is_cut() {
        let spent = spent(&[
            ("fmt", 1_000, Some(3_000)),
            ("test", 1_480_000, Some(2_000)),
            ("usb", 60_000, None),
            ("doc", 10, Some(10)),
        ]);
        let none = Figures::default();
        let lines = |by| lines(Kind::Part, &spent, &none, by, 3);
        assert_eq!(
            lines(By::Wall),
            [
                "  wall  kept  processor  kept  part",
                "1480.0     -        2.0     -  test",
                "  60.0     -          -     -  usb",
                "   1.0     -        3.0     -  fmt",
            ]
        );
        let names: Vec<_> = lines(By::Processor)
            .iter()
            .filter_map(|line| line.split_whitespace().last().map(str::to_owned))
            .collect();
        assert_eq!(names, ["part", "usb", "fmt", "test"]);
    }

    #[test]
    fn what_is_kept_stands_beside_it() {
        let kept = "## Checks\n| part | wall s | processor s | bound |\n|---|---|---|---|\n| test | 1480 | 2.5 | timers |\n";
        let kept = Figures::parse(kept).unwrap();
        let spent = spent(&[("test", 1_000, Some(20))]);
        let lines = lines(Kind::Part, &spent, &kept, By::Wall, 10);
        assert_eq!(
            lines[1],
            " 1.0  1480.0        0.0   2.5  test (bound: timers)"
        );
    }
}
