//! `cargo xtask bench loop`: seconds from a one-line change to its test's result, which is what a
//! developer waits for all day. Each row changes the code of a private function, runs the command
//! that a developer would type, and puts the file back.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::args::nearest;
use crate::metadata::Metadata;
use crate::progress;
use crate::tool::Tool;

/// How often each row is measured, unless the command line says otherwise.
const RUNS: usize = 3;

/// A change, and the tests that judge it.
struct Row {
    name: &'static str,
    /// Relative to the root.
    file: &'static str,
    /// The package whose tests run; that of the file if none is named.
    package: Option<&'static str>,
    filter: Option<&'static str>,
}

const ROWS: &[Row] = &[
    Row {
        name: "handler",
        file: "handlers/cloud/src/command.rs",
        package: None,
        filter: None,
    },
    Row {
        name: "store",
        file: "hostd/store/src/devices.rs",
        package: None,
        filter: Some("tests::tables"),
    },
    Row {
        name: "pod-sim",
        file: "hostd/pod-sim/src/rails.rs",
        package: None,
        filter: Some("rails"),
    },
    Row {
        name: "gateway",
        file: "hostd/src/http/gateway.rs",
        package: None,
        filter: Some("http::"),
    },
    Row {
        name: "end-to-end",
        file: "hostd/src/http/gateway.rs",
        package: Some("tests"),
        filter: Some("http::request_ids"),
    },
];

/// Measures the rows named in `words`, or all; a number in `words` sets the number of runs.
pub(super) fn run(words: &[String]) -> Result<()> {
    let metadata = Metadata::load()?;
    let (rows, runs) = selected(words)?;
    let mut table = format!("| change in | command | seconds, median of {runs} | from, to |\n");
    table.push_str("|---|---|---|---|\n");
    for row in rows {
        let file = row.file;
        let command = row.command(&metadata)?;
        progress::step(&format!("{}: once without a change", row.name));
        progress::detail(&format!(
            "then with changes of {file}; after an interruption, put it back with git"
        ));
        test(&command)?;
        let mut times = Vec::new();
        for number in 0..runs {
            let _change = Change::make(metadata.root.join(file), number)?;
            let start = Instant::now();
            test(&command)?;
            times.push(start.elapsed());
        }
        times.sort();
        let seconds = |time: Duration| format!("{:.1}", time.as_secs_f64());
        writeln!(
            table,
            "| `{file}` | `cargo xtask {}` | {} | {}, {} |",
            command.join(" "),
            seconds(times[runs / 2]),
            seconds(times[0]),
            seconds(times[runs - 1]),
        )?;
    }
    progress::text(&table);
    Ok(())
}

fn selected(words: &[String]) -> Result<(Vec<&'static Row>, usize)> {
    let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
    let (mut rows, mut runs) = (Vec::new(), RUNS);
    for word in words {
        match (word.parse(), ROWS.iter().find(|row| row.name == word)) {
            (Ok(0), _) => bail!("every row has to be measured at least once"),
            (Ok(count), _) => runs = count,
            (_, Some(row)) => rows.push(row),
            _ => bail!("there is no row `{word}`{}", nearest(word, &names)),
        }
    }
    if rows.is_empty() {
        rows.extend(ROWS);
    }
    Ok((rows, runs))
}

impl Row {
    /// The words after `cargo xtask`.
    fn command(&self, metadata: &Metadata) -> Result<Vec<String>> {
        let package = match self.package {
            Some(package) => package,
            None => &metadata.owner(Path::new(self.file))?.name,
        };
        let words = ["test", package].into_iter().chain(self.filter);
        Ok(words.map(str::to_owned).collect())
    }
}

/// Runs it as a developer would: in a process of its own, which finds out afresh what must be
/// built.
fn test(command: &[String]) -> Result<()> {
    let xtask = std::env::current_exe().context("failed to find xtask itself")?;
    Tool::new(xtask).args(command).run()
}

/// A changed file, which is put back when this is dropped.
struct Change {
    path: PathBuf,
    original: String,
}

impl Change {
    fn make(path: PathBuf, number: usize) -> Result<Self> {
        let original = fs::read_to_string(&path)
            .with_context(|| format!("failed to read {}", path.display()))?;
        let changed = changed(&original, number)
            .with_context(|| format!("{} has no private function to change", path.display()))?;
        let change = Self { path, original };
        fs::write(&change.path, changed)
            .with_context(|| format!("failed to change {}", change.path.display()))?;
        Ok(change)
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        if let Err(error) = fs::write(&self.path, &self.original) {
            progress::detail(&format!(
                "{} stays changed ({error}); put it back with git",
                self.path.display()
            ));
        }
    }
}

/// The source with one more statement at the start of its first private function: a statement that
/// no optimisation removes and that differs with `number`.
fn changed(source: &str, number: usize) -> Option<String> {
    let function = source.find("\nfn ")?;
    let body = function + source[function..].find("{\n")? + 2;
    let (before, after) = source.split_at(body);
    Some(format!(
        "{before}    let _ = std::hint::black_box({number}_usize);\n{after}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_file_that_can_be_changed_and_a_package_to_test() {
        let metadata = Metadata::load().unwrap();
        for row in ROWS {
            let source = fs::read_to_string(metadata.root.join(row.file)).unwrap();
            assert!(changed(&source, 1).is_some(), "{}", row.file);
            let command = row.command(&metadata).unwrap();
            metadata.member(&command[1]).unwrap();
        }
    }

    #[test]
    fn one_statement_is_added_to_a_private_function() {
        let source = "pub fn a() {\n}\n\nfn b(\n    c: u8,\n) -> u8 {\n    c\n}\n";
        let expected = source.replace(
            "-> u8 {\n",
            "-> u8 {\n    let _ = std::hint::black_box(7_usize);\n",
        );
        assert_eq!(changed(source, 7), Some(expected));
        assert_eq!(changed("pub fn a() {\n}\n", 7), None);
    }

    #[test]
    fn a_changed_file_is_put_back() {
        let path = std::env::temp_dir().join(format!("xtask-change-{}.rs", std::process::id()));
        fs::write(&path, "\nfn a() {\n}\n").unwrap();
        let change = Change::make(path.clone(), 1).unwrap();
        assert!(fs::read_to_string(&path).unwrap().contains("black_box"));
        drop(change);
        assert_eq!(fs::read_to_string(&path).unwrap(), "\nfn a() {\n}\n");
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn rows_and_a_count_are_picked_by_words() {
        let pick = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            selected(&words).map(|(rows, runs)| (rows.len(), runs))
        };
        assert_eq!(pick("").unwrap(), (ROWS.len(), RUNS));
        assert_eq!(pick("store 5 handler").unwrap(), (2, 5));
        assert!(pick("0").is_err());
        let error = pick("stoer").unwrap_err().to_string();
        assert!(error.contains("did you mean `store`?"), "{error}");
    }
}
