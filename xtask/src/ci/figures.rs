//! The figures that are kept in a document, and how those of a run compare with them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::times::Spent;

/// Where figures are kept: in tables of a section of a document.
pub(super) const DOCUMENT: &str = "docs/performance.md";
const SECTION: &str = "## Checks";

/// Columns of such a table behind the first, which is the word of a [`Kind`].
const COLUMNS: [&str; 2] = ["wall s", "processor s"];

/// The last column, which a table may have.
const BOUND: &str = "bound";

/// Stands for what is not known.
pub(super) const UNKNOWN: &str = "-";

/// A warning is given for what takes more than this part of what is kept, and this much more: the time of what is short
/// depends most on what else the machine does.
const PART_MAX: f64 = 1.2;
const MORE_MIN_SECONDS: f64 = 2.0;

/// What a figure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Part,
    Crate,
    Test,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Part, Self::Crate, Self::Test];

    /// The word for it, which heads the first column.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Part => "part",
            Self::Crate => "crate",
            Self::Test => "test",
        }
    }
}

/// What is kept of one thing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figure {
    /// Seconds.
    pub(super) wall: Option<f64>,
    /// Seconds.
    pub(super) processor: Option<f64>,
    /// What keeps it from being faster, in words.
    pub(super) bound: Option<String>,
}

/// All that is kept.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Figures(BTreeMap<(Kind, String), Figure>);

impl Figures {
    /// Reads the document of the workspace.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let text = fs::read_to_string(root.join(DOCUMENT));
        let text = text.with_context(|| format!("failed to read {DOCUMENT}"))?;
        Self::parse(&text).with_context(|| format!("{DOCUMENT}, section {SECTION}"))
    }

    pub(super) fn parse(document: &str) -> Result<Self> {
        let mut lines = document.lines();
        if !lines.any(|line| line == SECTION) {
            bail!("there is no such section");
        }
        let mut figures = BTreeMap::new();
        let mut table = None;
        for line in lines.take_while(|line| !line.starts_with("## ")) {
            let Some(cells) = cells(line) else {
                table = None;
                continue;
            };
            match &table {
                None => table = Some(header(&cells)),
                // The line below the header, or a table about something else.
                Some(_) if cells.iter().all(|cell| cell.starts_with("--")) => {}
                Some(None) => {}
                Some(Some(kind)) => {
                    let (name, figure) = row(&cells).with_context(|| format!("`{line}`"))?;
                    if figures.insert((*kind, name.clone()), figure).is_some() {
                        bail!("`{name}` is there twice");
                    }
                }
            }
        }
        Ok(Self(figures))
    }

    /// What is kept of a thing; unknown figures if there is no row for it.
    pub(super) fn of(&self, kind: Kind, name: &str) -> Figure {
        let found = self.0.get(&(kind, name.to_owned()));
        found.cloned().unwrap_or_default()
    }

    /// Says of each thing that took much longer than what is kept by how much, and which part has no row.
    pub(super) fn warnings(&self, kind: Kind, spent: &BTreeMap<String, Spent>) -> Vec<String> {
        let mut warnings = Vec::new();
        for (name, spent) in spent {
            let kept = self.0.get(&(kind, name.clone()));
            let word = kind.word();
            let Some(kept) = kept else {
                if kind == Kind::Part {
                    warnings.push(format!("{DOCUMENT} has no row for the {word} {name}"));
                }
                continue;
            };
            let figures = [
                ("wall", Some(spent.wall), kept.wall),
                ("processor", spent.processor, kept.processor),
            ];
            for (time, measured, kept) in figures {
                if let Some(beyond) = beyond(measured, kept) {
                    warnings.push(format!("the {word} {name} took {beyond} in {time} time"));
                }
            }
        }
        warnings
    }
}

/// The cells of a table's row, or None if the line is none.
fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(row.split('|').map(str::trim).collect())
}

/// What the table is about, if it is one of figures.
fn header(cells: &[&str]) -> Option<Kind> {
    let (first, columns) = cells.split_first()?;
    let kind = Kind::ALL.into_iter().find(|kind| kind.word() == *first)?;
    let are_all = columns == COLUMNS || columns == [&COLUMNS[..], &[BOUND]].concat();
    are_all.then_some(kind)
}

fn row(cells: &[&str]) -> Result<(String, Figure)> {
    let [name, wall, processor, bound @ ..] = cells else {
        bail!("a row has a name and two figures");
    };
    let bound = bound.first().filter(|bound| **bound != UNKNOWN);
    let figure = Figure {
        wall: seconds(wall)?,
        processor: seconds(processor)?,
        bound: bound.map(|bound| (*bound).to_owned()),
    };
    Ok((name.trim_matches('`').to_owned(), figure))
}

/// A number of seconds, such as `1,480` or `0.5`; None for the sign that it is not known.
fn seconds(cell: &str) -> Result<Option<f64>> {
    if cell == UNKNOWN {
        return Ok(None);
    }
    let number = cell.replace(',', "").parse::<f64>().ok();
    match number.filter(|seconds| seconds.is_finite() && *seconds >= 0.0) {
        Some(seconds) => Ok(Some(seconds)),
        None => bail!("`{cell}` is no number of seconds; what is not measured is `{UNKNOWN}`"),
    }
}

/// How much more was measured than is kept, if that is much.
fn beyond(measured: Option<Duration>, kept: Option<f64>) -> Option<String> {
    let (measured, kept) = (measured?.as_secs_f64(), kept?);
    if measured <= kept * PART_MAX || measured < kept + MORE_MIN_SECONDS {
        return None;
    }
    let percent = match kept > 0.0 {
        true => format!(", {:.0} % of", measured / kept * 100.0),
        false => " in place of".to_owned(),
    };
    Some(format!(
        "{measured:.1} s{percent} the {kept} s kept in {DOCUMENT},"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# Fast\n\n## Start\n\n| part | wall s | processor s |\n|---|---|---|\n| fmt | 9 | 9 |\n\n\
        ## Checks\n\nWords.\n\n| part | wall s | processor s | bound |\n|---|---:|---:|---|\n\
        | fmt | 1.5 | 2 | - |\n| test | 1,480 | - | timers |\n| usb | - | - | - |\n\n\
        | test | wall s | processor s |\n|---|---|---|\n| `tests::contract rows` | 60 | 30 |\n\n\
        | machine | wall s | processor s |\n|---|---|---|\n| quick | very | x |\n\n## After\n\n\
        | part | wall s | processor s |\n|---|---|---|\n| doc | 1 | 1 |\n";

    fn spent(name: &str, wall: f64, processor: Option<f64>) -> BTreeMap<String, Spent> {
        let spent = Spent {
            wall: Duration::from_secs_f64(wall),
            processor: processor.map(Duration::from_secs_f64),
        };
        BTreeMap::from([(name.to_owned(), spent)])
    }

    #[test]
    fn tables_of_the_section_are_read_and_no_others() {
        let figures = Figures::parse(TABLE).unwrap();
        assert_eq!(figures.0.len(), 4);
        let fmt = figures.of(Kind::Part, "fmt");
        assert_eq!(
            (fmt.wall, fmt.processor, fmt.bound),
            (Some(1.5), Some(2.0), None)
        );
        let test = figures.of(Kind::Part, "test");
        assert_eq!((test.wall, test.processor), (Some(1480.0), None));
        assert_eq!(test.bound.as_deref(), Some("timers"));
        let rows = figures.of(Kind::Test, "tests::contract rows");
        assert_eq!(rows.wall, Some(60.0));
        assert_eq!(figures.of(Kind::Part, "doc"), Figure::default());
    }

    #[test]
    fn broken_tables_are_errors_that_say_where() {
        for (from, to, said) in [
            ("## Checks", "## Check", "no such section"),
            ("1,480", "fast", "`fast` is no number of seconds"),
            ("1,480", "-3", "`-3` is no number"),
            ("| fmt | 1.5 | 2 | - |", "| fmt |", "`| fmt |`"),
            ("| usb |", "| fmt |", "`fmt` is there twice"),
        ] {
            let error = Figures::parse(&TABLE.replace(from, to)).unwrap_err();
            assert!(format!("{error:#}").contains(said), "{error:#}");
        }
    }

    #[test]
    fn what_takes_a_fifth_longer_is_warned_of() {
        let figures = Figures::parse(TABLE).unwrap();
        let warnings = |kind, spent| figures.warnings(kind, &spent);
        assert!(warnings(Kind::Part, spent("test", 1776.0, Some(1e6))).is_empty());
        assert_eq!(
            warnings(Kind::Part, spent("test", 1850.0, None)),
            [
                "the part test took 1850.0 s, 125 % of the 1480 s kept in docs/performance.md, in wall time"
            ]
        );
        let both = warnings(Kind::Test, spent("tests::contract rows", 90.0, Some(45.5)));
        assert_eq!(both.len(), 2, "{both:?}");
        assert!(both[1].contains("152 % of the 30 s") && both[1].ends_with("in processor time"));
        // What is short, not measured, or nothing that figures are kept of.
        assert!(warnings(Kind::Part, spent("fmt", 3.4, Some(3.9))).is_empty());
        assert!(warnings(Kind::Part, spent("usb", 900.0, Some(900.0))).is_empty());
        assert!(warnings(Kind::Crate, spent("emi (lib)", 900.0, Some(900.0))).is_empty());
        let unknown = warnings(Kind::Part, spent("chess", 1.0, None));
        assert_eq!(
            unknown,
            ["docs/performance.md has no row for the part chess"]
        );
    }

    #[test]
    fn the_document_has_such_a_section() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let figures = Figures::read(&root).unwrap();
        assert!(
            figures
                .0
                .keys()
                .any(|(kind, name)| (*kind, &**name) == (Kind::Part, "test"))
        );
    }
}
